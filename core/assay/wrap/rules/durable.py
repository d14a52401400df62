"""C6-C9: a pinned fact goes by a drop marker only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assay.model.belief import Belief
from assay.model.finding import Finding
from assay.model.schema import Role
from assay.text import ValueType, covers, fold, near, skeleton, values
from assay.wrap.document import Document, FactLine, Line, Move, Section, render_line
from assay.wrap.findings import found

__all__ = ["Held", "held_facts", "keep_facts", "pending"]

_NOT_YET = (
    r"\b(?:not yet|noch nicht|pas encore|todavía no|aún no|ainda não|non ancora|ещё не|еще не|ще не|henüz|chưa)\b"
    r"|尚未|还没|還沒|まだ|아직|ليس بعد|अभी नहीं|ยังไม่"
)
_BOUND = (
    r"\b(?:until|till|from|as of|bis|ab|jusqu|dès|partir|hasta|desde|até|fino|dal|до|с|від|حتى|من|kadar|đến|từ)\b"
    r"|直到|起|まで|から|까지|부터|तक|से|จนถึง"
)
_DAYS = (ValueType.DATE, ValueType.MONTH, ValueType.WEEKDAY, ValueType.TIME)


class Held(NamedTuple):
    """A fact that holds, and where; a fresh one was pinned since the last version of the document."""

    heading: str
    fact: FactLine
    fresh: bool = False


def held_facts(before: Document | None, pinned: Sequence[Belief]) -> list[Held]:
    """Give what must stay: heading and fact of the last version, then what was pinned beside it since."""
    shown = [Held(one.heading, fact) for one in before.with_role(Role.DURABLE) for fact in one.facts] if before else []
    known = {one.fact.key for one in shown}
    fresh = [Held(one.section, FactLine(one.text, one.cues), fresh=True) for one in pinned]
    return [*shown, *(one for one in fresh if one.fact.key not in known)]


def keep_facts(
    held: Sequence[Held], after: Document, drops: tuple[Move, ...]
) -> tuple[Document, list[Finding], list[str]]:
    """Put back every fact that no drop marker names.

    Returns:
        The document, the findings, and the texts of the facts that were dropped.
    """
    findings: list[Finding] = []
    dropped: list[str] = []
    left = list(held)
    for move in drops:
        one = _named(move, left)
        if one is None:
            findings.append(_unknown(move, [one.fact for one in left]))
        else:
            dropped.append(one.fact.text)
            left.remove(one)
    homes = [section.heading for section in after.with_role(Role.DURABLE)]
    present = {fact.key for section in after.with_role(Role.DURABLE) for fact in section.facts}
    known = {one.fact.key for one in held}
    sections: list[Section] = []
    for section in after.sections:
        if section.role is Role.DURABLE:
            mine = [one for one in left if (one.heading if one.heading in homes else homes[0]) == section.heading]
            for fact in (one for one in section.facts if one.key not in known and pending(one.text)):
                message = f"{fact.text[:80]!r} holds only from, or until, some day, and stays until it is dropped"
                findings.append(found("durable-pending", message, section=section.heading, line=fact.line))
            section = _restored(section, mine, present, findings)
        sections.append(section)
    return replace(after, sections=tuple(sections)), findings, dropped


def pending(text: str) -> bool:
    """Tell whether a fact holds only from, or until, some day: it says `not yet`, or bounds a day (C9)."""
    plain = fold(text)
    if re.search(_NOT_YET, plain):
        return True
    return any(value.type in _DAYS for value in values(text)) and re.search(_BOUND, plain) is not None


def _restored(section: Section, held: list[Held], present: set[str], findings: list[Finding]) -> Section:
    body: list[Line] = list(section.body)
    for place, (_, fact, fresh) in enumerate(held):
        if fact.key in present:
            continue
        twin = next((one for one in section.facts if near(one.text, fact.text, jaccard=0.6)), None)
        if twin is not None:
            message = f"{twin.text[:80]!r} is close to the pinned fact {fact.text[:80]!r}; both are kept"
            fix = f"to replace it, add [drop-durable: {fact.text[:80]}]"
            findings.append(found("durable-duplicate", message, fix, section=section.heading, line=twin.line))
        if not fresh:
            message = f"the pinned fact {fact.text[:80]!r} was left out and is put back"
            fix = "keep the line, or name it in a drop-durable marker"
            findings.append(found("durable-restored", message, fix, section=section.heading))
        body.insert(_place(body, [one.fact for one in held[:place]]), fact)
        present.add(fact.key)
    return replace(section, body=tuple(body))


def _place(body: list[Line], before: list[FactLine]) -> int:
    """Give where a fact goes: behind the nearest fact that stood before it."""
    keys = {line.key: index for index, line in enumerate(body) if isinstance(line, FactLine)}
    return next((keys[fact.key] + 1 for fact in reversed(before) if fact.key in keys), 0)


def _named(move: Move, held: list[Held]) -> Held | None:
    wanted = skeleton(move.subjects[0].lstrip("-* "))
    return next((one for one in held if wanted in (one.fact.key, skeleton(render_line(one.fact).lstrip("- ")))), None)


def _unknown(move: Move, prior: list[FactLine]) -> Finding:
    wanted = move.subjects[0]
    nearest = max((fact.text for fact in prior), key=lambda text: covers(text, wanted), default="")
    fix = f"name it exactly: [drop-durable: {nearest[:120]}]" if nearest else "no fact is pinned: leave the marker out"
    return found("move-rejected", f"no pinned fact reads {wanted[:80]!r}", fix, section=move.section, line=move.line)
