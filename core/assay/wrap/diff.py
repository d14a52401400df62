"""Say what a save changes: per belief, and per section."""

from __future__ import annotations

from collections.abc import Iterable

from assay.beliefs.history import History
from assay.model.labels import Residence
from assay.model.wrap import BeliefChange, WrapDiff
from assay.text import fold
from assay.wrap.document import Document, render_line
from assay.wrap.evaluate import Evaluation, Kept
from assay.wrap.rules.sources import line_key

__all__ = ["diff"]


def diff(before: Document | None, outcome: Evaluation) -> WrapDiff:
    """Compare the last version with the outcome of a text."""
    gone = {ref for ref, residence in outcome.plan.residences.items() if residence is not Residence.WORKING}
    moved = (history for history in outcome.plan.histories.values() if history.belief.ref in gone)
    changes = [
        *map(_change, outcome.kept),
        *_unchanged("carried", outcome.carried, "omitted-carried"),
        *_unchanged("dropped", outcome.resting),
        *_unchanged("moved", moved),
    ]
    old, new = _lines(before), _lines(outcome.document)
    headings = list(dict.fromkeys([*old, *new]))
    added = {one: lines for one in headings if (lines := _missing(new.get(one, {}), old.get(one, {})))}
    removed = {one: lines for one in headings if (lines := _missing(old.get(one, {}), new.get(one, {})))}
    return WrapDiff(tuple(changes), added, removed)


def _unchanged(change: str, histories: Iterable[History], *rules: str) -> list[BeliefChange]:
    beliefs = [history.belief for history in histories]
    return [BeliefChange(one.name, change, one.level, one.level, 0, rules=rules) for one in beliefs]


def _change(kept: Kept) -> BeliefChange:
    decision = kept.decision
    history, asked = decision.case.history, decision.case.line.level
    before, after = (history.belief.level if history else 0), decision.level
    if history is None:
        change = "added"
    elif after != before:
        change = "raised" if after > before else "lowered"
    elif asked > after:
        change = "held"
    else:
        change = "kept" if fold(kept.line.text) == fold(history.belief.text) else "rewritten"
    evidence = tuple(ground.ref for ground in (*decision.judged.grounds, *kept.founded))
    rules = tuple(dict.fromkeys(finding.rule for finding in decision.findings))
    return BeliefChange(kept.line.label, change, before, after, asked, evidence, rules)


def _lines(document: Document | None) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for section in document.sections if document else ():
        texts = [text for line in section.body if (text := render_line(line))]
        found[section.heading] = {line_key(text): text for text in texts}
    return found


def _missing(lines: dict[str, str], other: dict[str, str]) -> tuple[str, ...]:
    return tuple(text for key, text in lines.items() if key not in other)
