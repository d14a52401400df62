"""A22, A23: where every other line comes from, and what becomes of one that only untrusted episodes say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.beliefs.grounds import Ground
from assay.model.constants import LINE_SOURCE_COVER
from assay.model.finding import Action, Finding
from assay.model.labels import Trust
from assay.model.schema import Role
from assay.text import content_set, near, skeleton
from assay.wrap.document import Document, FactLine, Line, Note, Section

__all__ = ["Origins", "attribute", "line_key"]


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the lines of a version come from: key of a line -> full ids of its sources; and which are relayed."""

    sources: Mapping[str, tuple[str, ...]]
    relayed: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Known:
    previous: Origins
    lines: Mapping[str, str]
    grounds: Sequence[tuple[Ground, frozenset[str]]]
    weights: Callable[[str], float]


def line_key(text: str) -> str:
    """Give the identity of a line: its folded text without bullet."""
    return skeleton(text).lstrip("-*+•>#0123456789. ").strip()


def attribute(
    before: Document | None,
    after: Document,
    previous: Origins,
    grounds: Sequence[Ground],
    weights: Callable[[str], float],
) -> tuple[Document, Origins, list[Finding]]:
    """Attribute each note and fact to the version before, to episodes of the window, or to nothing."""
    old = (
        {line_key(_text(line)): _text(line) for section in before.sections for line in section.body if _counts(line)}
        if before
        else {}
    )
    known = _Known(previous, old, [(ground, content_set(ground.text)) for ground in grounds], weights)
    sources: dict[str, tuple[str, ...]] = {}
    relayed: set[str] = set()
    findings: list[Finding] = []
    sections: list[Section] = []
    for section in after.sections:
        body: list[Line] = []
        for line in section.body:
            kept = _attributed(line, section, known, sources, relayed, findings) if _counts(line) else line
            if kept is not None:
                body.append(kept)
        sections.append(replace(section, body=tuple(body)))
    return replace(after, sections=tuple(sections)), Origins(sources, frozenset(relayed)), findings


def _attributed(
    line: Line,
    section: Section,
    known: _Known,
    sources: dict[str, tuple[str, ...]],
    relayed: set[str],
    findings: list[Finding],
) -> Line | None:
    text = _text(line)
    key = line_key(text)
    earlier = (
        key if key in known.lines else next((one for one, other in known.lines.items() if near(text, other)), None)
    )
    if earlier is not None:
        sources[key] = known.previous.sources.get(earlier, ())
        untrusted = earlier in known.previous.relayed
    else:
        found = _sources(text, known)
        sources[key] = tuple(ground.ref for ground in found)
        untrusted = bool(found) and all(ground.trust.rank < Trust.AGENT.rank for ground in found)
        if not found:
            findings.append(
                Finding(
                    "line-unsourced",
                    Action.REPORT,
                    f"no episode says {text.strip()[:80]!r}",
                    section=section.heading,
                    line=line.line,
                )
            )
    if isinstance(line, FactLine) and untrusted and section.role is Role.DURABLE and earlier is None:
        message = f"only untrusted episodes say {text[:80]!r}; it is not pinned"
        findings.append(Finding("durable-relayed", Action.MARK, message, "leave it out", section.heading, line.line))
        return None
    if untrusted:
        relayed.add(key)
        if earlier is None:
            message = f"only untrusted episodes say {text.strip()[:80]!r}; it is marked"
            findings.append(Finding("line-relayed", Action.MARK, message, section=section.heading, line=line.line))
    return replace(line, relayed=untrusted) if isinstance(line, Note) else line


def _sources(text: str, known: _Known) -> list[Ground]:
    """Give the episodes that hold at least half of the weight of a line."""
    wanted = content_set(text)
    whole = sum(known.weights(word) for word in wanted)
    if not whole:
        return []
    return [
        ground
        for ground, held in known.grounds
        if sum(known.weights(word) for word in wanted & held) >= LINE_SOURCE_COVER * whole
    ]


def _counts(line: Line) -> bool:
    """Tell whether a line says something of its own: no pattern line, no code fence, no heading, two words or more."""
    if isinstance(line, FactLine):
        return True
    return (
        isinstance(line, Note)
        and line.text.lstrip()[:1] not in ("#", "`", "~", "\\")
        and len(content_set(line.text)) >= 2
    )


def _text(line: Line) -> str:
    return line.text
