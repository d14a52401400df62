"""What the steps of a wrap give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from assay.model.belief import Belief, Evidence
from assay.model.episode import Episode
from assay.model.finding import Finding
from assay.model.schema import Schema
from assay.model.settings import Settings

__all__ = ["BeliefChange", "Composer", "Usage", "WrapDiff", "WrapPackage", "WrapResult", "WrapStatus"]

Composer = Callable[[str], str]


class WrapStatus(StrEnum):
    """How a wrap ended."""

    COMMITTED = "committed"
    REFUSED = "refused"
    DRY_RUN = "dry_run"
    EMPTY = "empty"
    BUSY = "busy"
    NO_AUTHORITY = "no_authority"
    NOT_DUE = "not_due"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the composer's calls, in the store's counter."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class WrapPackage:
    """What a composer needs to rewrite the continuity.

    Attributes:
        prompt: The whole package as text for a model; episode text in it is fenced as data.
        token: Presented again when the text is saved.
        wrap: Number of the wrap.
        episodes: The frozen window; only these may be cited.
        refs: Full id of an episode -> the short form that the prompt shows.
        continuity: The present document, "" before the first wrap.
        beliefs: What the document and the long-term tier hold, with levels.
        remaining: Unwrapped episodes that did not fit in this window.
        evidence: What was verified for these beliefs before, oldest first; `witnesses` are the episodes of it.
        weights: Weight of each content word of the beliefs, 0 to 1: how rare it is in the store.
        settings: The settings that the text will be judged by.
    """

    prompt: str = field(repr=False)
    token: str = field(repr=False)
    wrap: int
    date: date
    episodes: tuple[Episode, ...] = field(repr=False)
    refs: Mapping[str, str] = field(repr=False)
    continuity: str = field(repr=False)
    schema: Schema = field(repr=False)
    beliefs: tuple[Belief, ...] = field(repr=False)
    target_tokens: int
    remaining: int
    evidence: tuple[Evidence, ...] = field(default=(), repr=False)
    witnesses: tuple[Episode, ...] = field(default=(), repr=False)
    weights: Mapping[str, float] = field(default_factory=dict[str, float], repr=False)
    settings: Settings = field(default_factory=Settings, repr=False)

    @property
    def episode_count(self) -> int:
        """Count the episodes of the window."""
        return len(self.episodes)


@dataclass(frozen=True, slots=True)
class BeliefChange:
    """What a save did to one belief.

    Attributes:
        change: One of added, raised, lowered, held, kept, rewritten, carried, moved, dropped.
        asked: The level written in the text.
        evidence: Full ids of the episodes that were counted.
        rules: Ids of the findings that decided.
    """

    name: str
    change: str
    before: int
    after: int
    asked: int
    evidence: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrapDiff:
    """What a save changes: per belief, and lines added and removed per section."""

    beliefs: tuple[BeliefChange, ...] = ()
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], repr=False)
    removed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], repr=False)


@dataclass(frozen=True, slots=True)
class WrapResult:
    """How a wrap, or one of its steps, ended.

    Attributes:
        findings: Everything that the checks found, by line.
        raised: Names of the beliefs whose level rose.
        wrap: Number of the wrap, or None when none was open.
        version: Version of the continuity after it, or None when nothing was committed.
        continuity: The document as committed (or as it would be, in a dry run).
        remaining: Unwrapped episodes that are left.
        message: What to do next, in a sentence.
    """

    status: WrapStatus
    findings: tuple[Finding, ...] = ()
    raised: tuple[str, ...] = ()
    diff: WrapDiff = field(default_factory=WrapDiff, repr=False)
    wrap: int | None = None
    version: int | None = None
    continuity: str = field(default="", repr=False)
    episodes_compressed: int = 0
    remaining: int = 0
    usage: Usage = field(default_factory=Usage)
    message: str = ""

    def __rich__(self) -> str:
        """Give what `rich` prints: the status, what rose, and each finding."""
        return str(self).replace("[", r"\[")

    def __str__(self) -> str:
        """Give the status, what rose, and a line for each finding."""
        lines = [f"{self.status.value} raised={list(self.raised)}"]
        lines += [f"{finding.action.value} {finding.rule}: {finding.message}" for finding in self.findings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"
