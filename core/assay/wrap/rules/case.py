"""What the rules are given, and what a step of the citation checks gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from assay.beliefs.grounds import Ground
from assay.beliefs.history import History
from assay.model.finding import Action, Finding
from assay.model.settings import Settings
from assay.wrap.document import PatternLine

__all__ = ["Case", "IdState", "Pair", "Resolution", "Step", "Window"]


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
    weights: Callable[[str], float]
    shown: Mapping[str, str]
    settings: Settings
    first: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """One citation: an episode, and what the composer says that it shows."""

    ground: Ground
    explanation: str = field(repr=False)


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
    def claim(self) -> str:
        """Give what the line asserts: its text, or the words of its name."""
        return self.line.text or " ".join(self.line.name.replace("_", " ").replace("-", " ").replace(".", " ").split())

    @property
    def raising(self) -> bool:
        """Tell whether the line asks for more than is held."""
        return self.line.level > self.held

    def finding(self, rule: str, action: Action, message: str, fix: str = "", *, fixable: bool = True) -> Finding:
        """Build a finding on this line; a report is never fixable."""
        return Finding(
            rule,
            action,
            message,
            fix,
            self.section,
            self.line.line,
            self.line.label[:80],
            fixable and action is not Action.REPORT,
        )


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
