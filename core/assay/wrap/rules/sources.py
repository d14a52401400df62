"""A22, A23: where every other line comes from, and what becomes of one that only untrusted episodes say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from assay.beliefs.grounding import states
from assay.beliefs.grounds import Ground
from assay.beliefs.pairs import related
from assay.model.constants import LINE_SOURCE_COVER
from assay.model.finding import Finding
from assay.model.labels import Trust
from assay.text import content_set, near, skeleton
from assay.wrap.document import Document, FactLine, Line, Note, Section
from assay.wrap.findings import found
from assay.wrap.rules.case import Window

__all__ = ["Origins", "attribute", "line_key"]


# A bullet, an ordinal or a date at the head of a line: its own, not the episode's.
_LEAD = "-*+•>#0123456789. "


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the lines of a version come from: key of a line -> full ids of its sources; and which are relayed."""

    sources: Mapping[str, tuple[str, ...]]
    relayed: frozenset[str]


def line_key(text: str) -> str:
    """Give the identity of a line: its folded text without bullet."""
    return skeleton(text).lstrip(_LEAD).strip()


def attribute(
    before: Document | None, after: Document, previous: Origins, window: Window, facts: Iterable[FactLine]
) -> tuple[Document, Origins, list[Finding]]:
    """Attribute each note and fact to the version before, to pinned facts, to episodes of the window, or to nothing."""
    work = _Attribution(before, previous, window, facts)
    sections: list[Section] = []
    for section in after.sections:
        body = [kept for line in section.body if (kept := work.judged(line, section.heading)) is not None]
        sections.append(replace(section, body=tuple(body)))
    return replace(after, sections=tuple(sections)), Origins(work.sources, frozenset(work.relayed)), work.findings


class _Attribution:
    """Collects the origin of each line of one document."""

    def __init__(self, before: Document | None, previous: Origins, window: Window, facts: Iterable[FactLine]) -> None:
        lines = [*(line for section in before.sections for line in section.body)] if before else []
        lines += facts
        self._old = {line_key(line.text): line.text for line in lines if _counts(line)}
        self._told = [(content_set(text), (key, text)) for key, text in self._old.items()]
        self._previous = previous
        self._grounds = [(ground, content_set(ground.text)) for ground in window.grounds.values()]
        self._weights = window.weights
        self.sources: dict[str, tuple[str, ...]] = {}
        self.relayed: set[str] = set()
        self.findings: list[Finding] = []

    def judged(self, line: Line, section: str) -> Line | None:
        """Give the line as it is kept; None for a fact that only untrusted episodes say."""
        if not _counts(line):
            return line
        key, shown = line_key(line.text), repr(line.text.strip()[:80])
        near_ones = (old for old, text in related(line.text, self._told) if near(line.text, text))
        earlier = key if key in self._old else next(near_ones, None)
        if earlier is not None:
            self.sources[key] = self._previous.sources.get(earlier, ())
            untrusted = earlier in self._previous.relayed
        else:
            grounds = self._sources(line.text)
            if isinstance(line, FactLine):  # a fact that stays for good is stated, value for value
                grounds = [one for one in grounds if states(one.text, line.text)]
            self.sources[key] = tuple(ground.ref for ground in grounds)
            untrusted = bool(grounds) and all(ground.trust.rank < Trust.AGENT.rank for ground in grounds)
            message = f"only untrusted episodes say {shown}" if grounds else f"no episode says {shown}"
            if isinstance(line, FactLine) and (untrusted or not grounds):
                fix = "leave it out of the pinned facts, or write what an episode of the user or the agent states"
                self.findings.append(found("durable-relayed", message, fix, section=section, line=line.line))
                return None
            if not grounds:
                self.findings.append(found("line-unsourced", message, section=section, line=line.line))
            elif untrusted:
                self.findings.append(found("line-relayed", message, section=section, line=line.line))
        if untrusted:
            self.relayed.add(key)
        return replace(line, relayed=untrusted) if isinstance(line, Note) else line

    def _sources(self, text: str) -> list[Ground]:
        """Give the episodes that hold at least half of the weight of a line."""
        wanted = {word: self._weights(word) for word in content_set(text.lstrip(_LEAD))}
        bar = LINE_SOURCE_COVER * sum(wanted.values())
        words = frozenset(wanted)
        return [one for one, held in self._grounds if bar and sum(map(wanted.__getitem__, held & words)) >= bar]


def _counts(line: Line) -> bool:
    """Tell whether a line says something of its own: no pattern line, no code fence, no heading, two words or more."""
    if isinstance(line, FactLine):
        return True
    return (
        isinstance(line, Note)
        and line.text.lstrip()[:1] not in ("#", "`", "~", "\\")
        and len(content_set(line.text)) > 1
    )
