"""Memory for agents that has to earn belief."""

from typing import TYPE_CHECKING, Any

from assay.errors import AssayError
from assay.model.episode import Episode
from assay.model.labels import BeliefKind, Kind, Origin, Residence, Trust, Verdict
from assay.store import Store

if TYPE_CHECKING:
    from assay.model.finding import Action, Finding, Severity
    from assay.model.recall import Briefing, Hit, Recall
    from assay.model.schema import Role, Schema, SectionSpec

__all__ = [
    "Action",
    "AssayError",
    "BeliefKind",
    "Briefing",
    "Episode",
    "Finding",
    "Hit",
    "Kind",
    "Origin",
    "Recall",
    "Residence",
    "Role",
    "Schema",
    "SectionSpec",
    "Severity",
    "Store",
    "Trust",
    "Verdict",
]

# Loaded when asked for: a process that only records does without them.
_LATER = {"finding": "Action Finding Severity", "recall": "Briefing Hit Recall", "schema": "Role Schema SectionSpec"}


def __getattr__(name: str) -> Any:
    """Load the public names that recording needs none of."""
    from importlib import import_module

    for module, names in _LATER.items():
        if name in names.split():
            return getattr(import_module(f"assay.model.{module}"), name)
    raise AttributeError(f"module 'assay' has no attribute {name!r}")
