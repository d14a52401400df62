"""The nodes of a continuity document: plain frozen data, no parsing."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from assay.model.finding import Finding
from assay.model.labels import Mark
from assay.model.schema import Role
from assay.text import skeleton

__all__ = ["Citation", "Document", "FactLine", "Line", "Move", "MoveVerb", "Note", "Parsed", "PatternLine", "Section"]

_key = lru_cache(maxsize=2_048)(skeleton)


@dataclass(frozen=True, slots=True)
class Citation:
    """One evidence tag: the ids as written, and what the composer says that they show."""

    ids: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class PatternLine:
    """A line of a graduating section that claims a level.

    Attributes:
        name: One word, or "" for a line that is known by its text.
        level: The level as written: a request.
        verified: The date as written, informative only.
        provenance: Ids that say where the line came from; they grant nothing.
        contradicts: Names the line contradicts, () for `[no-contradicts]`, None when it takes no stance.
        line: Line number in the text as handed in.
    """

    name: str
    text: str
    level: int
    verified: str = ""
    citations: tuple[Citation, ...] = ()
    provenance: tuple[str, ...] = ()
    contradicts: tuple[str, ...] | None = None
    marks: tuple[Mark, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def label(self) -> str:
        """Give the name, or the text of a line without one."""
        return self.name or self.text

    @property
    def key(self) -> str:
        """Give the identity: two spellings that look alike have one key."""
        return _key(self.label)


@dataclass(frozen=True, slots=True)
class FactLine:
    """A bullet of the durable section."""

    text: str
    cues: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        """Give the identity: the folded text without cues."""
        return _key(self.text)


@dataclass(frozen=True, slots=True)
class Note:
    """Any other line, as it stands; an empty one separates paragraphs.

    Attributes:
        relayed: Whether every source of the line is untrusted.
    """

    text: str
    relayed: bool = False
    line: int = field(default=0, compare=False)


Line = PatternLine | FactLine | Note


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines below it."""

    heading: str
    role: Role
    body: tuple[Line, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def patterns(self) -> tuple[PatternLine, ...]:
        """Give the lines that claim a level."""
        return tuple(line for line in self.body if isinstance(line, PatternLine))

    @property
    def facts(self) -> tuple[FactLine, ...]:
        """Give the facts of a durable section."""
        return tuple(line for line in self.body if isinstance(line, FactLine))


@dataclass(frozen=True, slots=True)
class Document:
    """A continuity document: a title, and sections in order."""

    sections: tuple[Section, ...]
    title: str = ""
    preamble: tuple[Note, ...] = ()

    def with_role(self, role: Role) -> tuple[Section, ...]:
        """Give the sections that have a role, in order."""
        return tuple(section for section in self.sections if section.role is role)

    @property
    def patterns(self) -> tuple[PatternLine, ...]:
        """Give every line that claims a level, in order."""
        return tuple(line for section in self.with_role(Role.GRADUATING) for line in section.patterns)


class MoveVerb(StrEnum):
    """What a marker in the text asks the engine to do."""

    SUPERSEDES = "supersedes"
    RETIRE = "retire"
    RENAME = "rename"
    MERGE = "merge"
    CRYSTALLIZE = "crystallize"
    REWARM = "rewarm"
    DROP_DURABLE = "drop-durable"


@dataclass(frozen=True, slots=True)
class Move:
    """A marker such as `[rename: OLD to NEW]`, taken out of the text.

    Attributes:
        subjects: What is acted on: names, or the old ref of a succession, or the fact.
        target: The new name or the new ref, "" for verbs without one.
    """

    verb: MoveVerb
    subjects: tuple[str, ...]
    target: str = ""
    reason: str = ""
    text: str = ""
    section: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one text yields: the tree, the moves it asks for, and what was wrong or put right."""

    document: Document
    moves: tuple[Move, ...] = ()
    findings: tuple[Finding, ...] = ()
