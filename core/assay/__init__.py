"""Memory for agents that has to earn belief."""

from assay.errors import AssayError
from assay.model.episode import Episode
from assay.model.finding import Action, Finding, Severity
from assay.model.labels import BeliefKind, Kind, Origin, Residence, Trust, Verdict
from assay.model.recall import Briefing, Hit, Recall
from assay.model.schema import Role, Schema, SectionSpec
from assay.store import Store

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
