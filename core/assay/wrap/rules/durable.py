"""C6-C9: a pinned fact goes by a drop marker only."""

from __future__ import annotations

from dataclasses import replace

from assay.model.finding import Finding
from assay.model.schema import Role
from assay.text import covers, near, skeleton
from assay.wrap.document import Document, FactLine, Line, Move, Section, render_line
from assay.wrap.findings import found

__all__ = ["keep_facts"]


def keep_facts(
    before: Document | None, after: Document, drops: tuple[Move, ...]
) -> tuple[Document, list[Finding], list[str]]:
    """Put back every fact of the last version that no drop marker names.

    Returns:
        The document, the findings, and the texts of the facts that were dropped.
    """
    prior = [fact for section in before.with_role(Role.DURABLE) for fact in section.facts] if before else []
    findings: list[Finding] = []
    dropped: list[str] = []
    for move in drops:
        fact = _named(move, prior)
        if fact is None:
            findings.append(_unknown(move, prior))
        else:
            dropped.append(fact.text)
            prior = [one for one in prior if one is not fact]
    sections = tuple(
        _restored(section, prior, findings) if section.role is Role.DURABLE else section for section in after.sections
    )
    return replace(after, sections=sections), findings, dropped


def _restored(section: Section, prior: list[FactLine], findings: list[Finding]) -> Section:
    present = {fact.key for fact in section.facts}
    body: list[Line] = list(section.body)
    for place, fact in enumerate(prior):
        if fact.key in present:
            continue
        twin = next((one for one in section.facts if near(one.text, fact.text, jaccard=0.6)), None)
        if twin is not None:
            message = f"{twin.text[:80]!r} is close to the pinned fact {fact.text[:80]!r}; both are kept"
            fix = f"to replace it, add [drop-durable: {fact.text[:80]}]"
            findings.append(found("durable-duplicate", message, fix, section=section.heading, line=twin.line))
        message = f"the pinned fact {fact.text[:80]!r} was left out and is put back"
        fix = "keep the line, or name it in a drop-durable marker"
        findings.append(found("durable-restored", message, fix, section=section.heading))
        body.insert(_place(body, prior[:place]), fact)
        present.add(fact.key)
    return replace(section, body=tuple(body))


def _place(body: list[Line], before: list[FactLine]) -> int:
    """Give where a fact goes: behind the nearest fact that stood before it."""
    keys = {line.key: index for index, line in enumerate(body) if isinstance(line, FactLine)}
    return next((keys[fact.key] + 1 for fact in reversed(before) if fact.key in keys), 0)


def _named(move: Move, prior: list[FactLine]) -> FactLine | None:
    wanted = skeleton(move.subjects[0].lstrip("-* "))
    return next((fact for fact in prior if wanted in (fact.key, skeleton(render_line(fact).lstrip("- ")))), None)


def _unknown(move: Move, prior: list[FactLine]) -> Finding:
    wanted = move.subjects[0]
    nearest = max((fact.text for fact in prior), key=lambda text: covers(text, wanted), default="")
    fix = f"name it exactly: [drop-durable: {nearest[:120]}]" if nearest else "no fact is pinned: leave the marker out"
    return found("move-rejected", f"no pinned fact reads {wanted[:80]!r}", fix, section=move.section, line=move.line)
