"""Say what a save changes: per belief, and per section."""

from __future__ import annotations

from assay.model.labels import Residence
from assay.model.wrap import BeliefChange, WrapDiff
from assay.text import fold
from assay.wrap.document import Document, Note, render_line
from assay.wrap.evaluate import Evaluation, Kept
from assay.wrap.rules.sources import line_key

__all__ = ["diff", "raised"]


def diff(before: Document | None, evaluation: Evaluation) -> WrapDiff:
    """Compare the last version with the outcome of a text."""
    changes = [_change(one) for one in evaluation.kept]
    for history in evaluation.carried:
        belief = history.belief
        changes.append(BeliefChange(belief.name, "carried", belief.level, belief.level, 0, rules=("omitted-carried",)))
    for history in evaluation.resting:
        belief = history.belief
        changes.append(BeliefChange(belief.name, "dropped", belief.level, belief.level, 0))
    for history in evaluation.plan.histories.values():
        belief = history.belief
        residence = evaluation.plan.residences.get(belief.ref, (Residence.WORKING, ""))[0]
        if residence is not Residence.WORKING:
            changes.append(BeliefChange(belief.name, "moved", belief.level, belief.level, 0))
    old, new = _lines(before), _lines(evaluation.document)
    headings = list(dict.fromkeys([*old, *new]))
    added = {one: lines for one in headings if (lines := _missing(new.get(one, {}), old.get(one, {})))}
    removed = {one: lines for one in headings if (lines := _missing(old.get(one, {}), new.get(one, {})))}
    return WrapDiff(tuple(changes), added, removed)


def raised(evaluation: Evaluation) -> tuple[str, ...]:
    """Give the names of the beliefs that rise."""
    return tuple(one.line.label for one in evaluation.kept if one.decision.level > one.decision.case.held)


def _change(kept: Kept) -> BeliefChange:
    decision = kept.decision
    case = decision.case
    before, after, asked = case.held, decision.level, case.line.level
    if case.history is None:
        change, before = "added", 0
    elif after != before:
        change = "raised" if after > before else "lowered"
    elif asked > after:
        change = "held"
    elif fold(kept.line.text) != fold(case.history.belief.text) and kept.line.name:
        change = "rewritten"
    else:
        change = "kept"
    evidence = tuple(ground.ref for ground in (*decision.judged.grounds, *kept.founded))
    rules = tuple(dict.fromkeys(finding.rule for finding in decision.findings))
    return BeliefChange(kept.line.label, change, before, after, asked, evidence, rules)


def _lines(document: Document | None) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for section in document.sections if document else ():
        for line in section.body:
            if not (isinstance(line, Note) and not line.text):
                found.setdefault(section.heading, {})[line_key(render_line(line))] = render_line(line)
    return found


def _missing(lines: dict[str, str], other: dict[str, str]) -> tuple[str, ...]:
    return tuple(text for key, text in lines.items() if key not in other)
