"""Memory for agents that has to earn belief."""

from typing import TYPE_CHECKING, Any

from assay.errors import (
    AssayError,
    Busy,
    Closed,
    Conflict,
    Damaged,
    ForeignDatabase,
    InvalidInput,
    MissingExtraError,
    MissingUser,
    NewerSchema,
    NotAuthorised,
    NotFound,
    OutcomeUnknown,
    ReadOnly,
    StorageFailure,
    TooLarge,
)
from assay.model.episode import Episode
from assay.model.labels import BeliefKind, Kind, Origin, Residence, Trust, Verdict
from assay.store import Store

if TYPE_CHECKING:
    from assay.audit.proofs.signing import Signer
    from assay.model.belief import Belief, Evidence
    from assay.model.explanation import Erasure, Explanation
    from assay.model.finding import Action, Finding, Severity
    from assay.model.recall import Briefing, Hit, Recall
    from assay.model.schema import Role, Schema, SectionSpec
    from assay.model.status import Breach, Checkpoint, Status, Verification
    from assay.model.wrap import BeliefChange, Usage, WrapDiff, WrapPackage, WrapResult, WrapStatus
    from assay.wrap.composer import OfflineComposer

__all__ = [
    "Action",
    "AssayError",
    "Belief",
    "BeliefChange",
    "BeliefKind",
    "Breach",
    "Briefing",
    "Busy",
    "Checkpoint",
    "Closed",
    "Conflict",
    "Damaged",
    "Episode",
    "Erasure",
    "Evidence",
    "Explanation",
    "Finding",
    "ForeignDatabase",
    "Hit",
    "InvalidInput",
    "Kind",
    "MissingExtraError",
    "MissingUser",
    "NewerSchema",
    "NotAuthorised",
    "NotFound",
    "OfflineComposer",
    "Origin",
    "OutcomeUnknown",
    "ReadOnly",
    "Recall",
    "Residence",
    "Role",
    "Schema",
    "SectionSpec",
    "Severity",
    "Signer",
    "Status",
    "StorageFailure",
    "Store",
    "TooLarge",
    "Trust",
    "Usage",
    "Verdict",
    "Verification",
    "WrapDiff",
    "WrapPackage",
    "WrapResult",
    "WrapStatus",
]

# Loaded when asked for: a process that only records does without them.
_LATER = {
    "audit.proofs.signing": "Signer",
    "model.belief": "Belief Evidence",
    "model.explanation": "Erasure Explanation",
    "model.finding": "Action Finding Severity",
    "model.recall": "Briefing Hit Recall",
    "model.schema": "Role Schema SectionSpec",
    "model.status": "Breach Checkpoint Status Verification",
    "model.wrap": "BeliefChange Usage WrapDiff WrapPackage WrapResult WrapStatus",
    "wrap.composer": "OfflineComposer",
}


def __getattr__(name: str) -> Any:
    """Load the public names that recording needs none of."""
    from importlib import import_module

    for module, names in _LATER.items():
        if name in names.split():
            return getattr(import_module(f"assay.{module}"), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")
