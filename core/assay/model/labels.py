"""The closed sets of labels: what an episode is, where it came from, how far it is trusted."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["BeliefKind", "Kind", "Mark", "Origin", "Residence", "Trust", "Verdict"]


class Kind(StrEnum):
    """What kind of thing an episode records."""

    OBSERVATION = "observation"
    DECISION = "decision"
    TENSION = "tension"
    QUESTION = "question"
    OUTCOME = "outcome"
    CONTEXT = "context"


class Origin(StrEnum):
    """Who brought an episode in: set by the door it came through, never by its text."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    HOST = "host"
    OPERATOR = "operator"
    IMPORT = "import"


class Trust(StrEnum):
    """How far an episode is trusted: external < tool < agent < operator."""

    EXTERNAL = "external"
    TOOL = "tool"
    AGENT = "agent"
    OPERATOR = "operator"

    @property
    def rank(self) -> int:
        """Give the place in the order, 0 (external) to 3 (operator)."""
        return _RANK[self]


_RANK = {trust: rank for rank, trust in enumerate(Trust)}


class Verdict(StrEnum):
    """How a new write relates to what the store holds."""

    NEW = "new"
    ECHO = "echo"
    REFINES = "refines"
    CONFLICTS = "conflicts"


class BeliefKind(StrEnum):
    """What kind of statement a belief is."""

    PATTERN = "pattern"
    FACT = "fact"
    WARNING = "warning"
    PROCEDURE = "procedure"


class Residence(StrEnum):
    """Where a belief lives; moving never changes whether it is true."""

    PINNED = "pinned"
    WORKING = "working"
    CRYSTAL = "crystal"
    REST = "rest"


class Mark(StrEnum):
    """A state that the engine renders on a belief's line; a model's own marks are discarded."""

    CARRIED_FORWARD = "carried-forward"
    UNGROUNDED = "ungrounded"
    NEEDS_EVIDENCE = "needs-evidence"
    LEVEL_CAPPED = "level-capped"
    UNCORROBORATED = "uncorroborated"
    OVERLAP = "overlap"
    CONTESTED = "contested"
    SHARED_EVIDENCE = "shared-evidence"
    SELF_GROUNDED = "self-grounded"
    USER_ONLY = "user-only"
    REVOKED = "revoked"
    RELAYED = "relayed"
    CANDIDATE = "candidate"
