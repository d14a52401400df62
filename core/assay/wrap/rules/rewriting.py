"""A level belongs to a statement: other words under the same name do not inherit it without evidence."""

from __future__ import annotations

from assay.beliefs.grounding import has_value
from assay.model.constants import COPY_COVER
from assay.model.finding import Finding
from assay.text import agrees, covers, fold, near, values
from assay.wrap.rules.level import Decision

__all__ = ["settled_text"]


def settled_text(decision: Decision) -> tuple[str, Finding | None]:
    """Give the text that a line gets: its own, or the held one when nothing that counts says the new one."""
    case = decision.case
    new, history = case.line.text, case.history
    if history is None or not case.line.name:
        return new, None
    old = "" if history.belief.text == history.belief.name else history.belief.text
    if not new or fold(new) == fold(old):
        return old, None
    unearned = history.belief.level == 1 and not history.past
    if decision.judged.passed or not old or unearned or near(new, old):
        return new, None
    known = "\n".join([old, *(ground.text for ground in history.counted)])
    stated = all(has_value(known, value) for value in values(new))
    if stated and covers(known, new) >= COPY_COVER and agrees(old, new):
        return new, None
    message = f"{case.line.label[:60]!r} has another text, and nothing that counts says it; the old one is kept"
    fix = "keep the old text, or cite an episode that says the new one; a different statement needs a name of its own"
    return old, case.found("claim-ungrounded", message, fix)
