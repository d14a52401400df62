"""The baton: the operator's permission to consolidate, held by one session, without expiry."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import NotAuthorised
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.session_rows import another_live
from assay.storage.transaction import Transaction

__all__ = ["Refusal", "authorised", "claim", "holder"]

_SETTING = "baton"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a session may not wrap.

    Attributes:
        reason: `no-baton`, or `other-holder`.
    """

    reason: str
    message: str
    fix: str


def claim(database: Database, session: str, *, take: bool = False) -> None:
    """Give a session the baton; once more for the holder changes nothing.

    Raises:
        NotAuthorised: Another session holds it and `take` is not set.
    """

    def write(tx: Transaction) -> None:
        held = holder(tx)
        if held == session:
            return
        if held is not None and not take:
            raise NotAuthorised(f"the session {held!r} holds the baton: take it over with take=True")
        tx.entry("authority", actor="host", data={"session": session, "from": held})
        tx.put_setting(_SETTING, {"session": session, "since": tx.now})

    database.mutate(write)


def holder(reader: Reader) -> str | None:
    """Give the session that holds the baton, or None."""
    value = reader.setting(_SETTING)
    return None if not value else str(value["session"])


def authorised(reader: Reader, session: str) -> Refusal | None:
    """Tell whether a session may prepare and save wraps now; None when it may, else why not."""
    if not reader.settings.requires_baton:
        return None
    held = holder(reader)
    if held == session:
        return None
    if held is None and _sole(reader, session):
        return None
    command = f"assay baton claim --session {session}"
    if held is None:
        return Refusal("no-baton", "wraps need the baton and no session holds it", f"the operator runs: {command}")
    return Refusal("other-holder", f"the session {held!r} holds the baton", f"the operator runs: {command} --take")


def _sole(reader: Reader, session: str) -> bool:
    """Tell whether the operator lets the only session that is at work do without the baton (D13)."""
    settings = reader.settings
    return settings.allow_sole_live and settings.policy != "strict" and not another_live(reader, session)
