"""The port: how a framework's hooks reach a memory, without ever breaking a run."""

from assay.errors import MissingExtraError, MissingUser
from assay.model.wrap import WrapResult, WrapStatus
from assay.session.aio import AsyncSession
from assay.session.faults import OutOfOrder
from assay.session.guarding import guard
from assay.session.keys import SessionKey
from assay.session.messages import arguments_of, field_of, question_in
from assay.session.policy import AnyComposer, Event, Placement, RecordPolicy, SessionOptions, WrapPolicy
from assay.session.relay import Relay
from assay.session.router import StoreRouter, Target
from assay.session.session import Session
from assay.session.sessions import Sessions
from assay.session.talk import Talk
from assay.session.tools import RECALL, REMEMBER, recall_tool, remember_tool

__all__ = [
    "RECALL",
    "REMEMBER",
    "AnyComposer",
    "AsyncSession",
    "Event",
    "MissingExtraError",
    "MissingUser",
    "OutOfOrder",
    "Placement",
    "RecordPolicy",
    "Relay",
    "Session",
    "SessionKey",
    "SessionOptions",
    "Sessions",
    "StoreRouter",
    "Talk",
    "Target",
    "WrapPolicy",
    "WrapResult",
    "WrapStatus",
    "arguments_of",
    "field_of",
    "guard",
    "question_in",
    "recall_tool",
    "remember_tool",
]
