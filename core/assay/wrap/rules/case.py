"""What the rules are given, and what a step of the citation checks gives back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from assay.beliefs.grounding import Weights
from assay.beliefs.grounds import Ground
from assay.beliefs.history import History
from assay.model.finding import Finding
from assay.model.settings import Settings
from assay.wrap.document import PatternLine
from assay.wrap.findings import found

__all__ = ["Case", "IdState", "Pair", "Resolution", "Step", "Window", "spelled"]


class IdState(StrEnum):
    """What an id that a text cites names."""

    WINDOW = "window"
    STALE = "stale"
    SUPERSEDED = "superseded"
    ERASED = "erased"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Resolution:
    """The state of one cited id, and the full id when it is in the window."""

    state: IdState
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """The frozen facts that every line of one save is judged by.

    Attributes:
        grounds: The citable episodes by full id.
        ids: Every id that the text cites, as written.
        weights: Weight of a content word, 0 to 1.
        shown: Full id -> the ref that the package printed.
        first: Whether the store has never committed a citation.
    """

    date: date
    grounds: Mapping[str, Ground]
    ids: Mapping[str, Resolution]
    weights: Weights
    shown: Mapping[str, str]
    settings: Settings
    first: bool = False

    def recent(self, history: History | None) -> bool:
        """Tell whether a belief was verified within the days that a level is carried."""
        days, verified = self.settings.carry_days, history.verified if history else None
        return days is not None and verified is not None and (self.date - verified).days <= days


@dataclass(frozen=True, slots=True)
class Pair:
    """One citation: an episode, and what the composer says that it shows."""

    ground: Ground
    explanation: str = field(repr=False)


def spelled(name: str) -> str:
    """Give the words of a name."""
    return " ".join(re.split(r"[_.-]+", name)).strip()


@dataclass(frozen=True, slots=True)
class Case:
    """One line before the rules: what it says, where, and what the belief has behind it."""

    line: PatternLine
    section: str
    history: History | None = None

    @property
    def held(self) -> int:
        """Give the level in the store's own columns; 1 for what is new."""
        return self.history.belief.level if self.history else 1

    @property
    def past(self) -> tuple[Ground, ...]:
        """Give the evidence so far that still counts."""
        return self.history.counted if self.history else ()

    @property
    def claim(self) -> str:
        """Give what the line asserts: its text, or the words of its name."""
        return self.line.text or spelled(self.line.name)

    @property
    def raising(self) -> bool:
        """Tell whether the line asks for more than is held."""
        return self.line.level > self.held

    def found(self, rule: str, message: str, fix: str = "") -> Finding:
        """Build a finding on this line."""
        return found(rule, message, fix, section=self.section, line=self.line.line, subject=self.line.label)


@dataclass(frozen=True, slots=True)
class Step:
    """What one check leaves.

    Attributes:
        pairs: The citations that passed it.
        dropped: Full ids of those that did not.
        failed: Id of the rule that voids the whole citation, or "".
    """

    pairs: tuple[Pair, ...]
    dropped: tuple[str, ...] = ()
    failed: str = ""
    findings: tuple[Finding, ...] = ()

    @classmethod
    def kept(cls, pairs: Sequence[Pair], good: Sequence[Pair], otherwise: Callable[[], Finding]) -> Step:
        """Go on with the good citations; with none, the finding voids the line."""
        dropped = tuple(pair.ground.ref for pair in pairs if pair not in good)
        return cls(tuple(good), dropped) if good else cls.void(otherwise(), dropped)

    @classmethod
    def void(cls, finding: Finding, dropped: tuple[str, ...] = ()) -> Step:
        """Void the whole citation."""
        return cls((), dropped, finding.rule, (finding,))
