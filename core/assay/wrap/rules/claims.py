"""B8-B10: the claim itself, and every value in it, must be in the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from assay.beliefs.grounding import counted_otherwise, foreign, has_value, shares_script
from assay.model.constants import CLAIM_COVER
from assay.text import ValueType, content_set, covers, values
from assay.wrap.rules.case import Case, Pair, Step, Window, spelled

__all__ = ["claimed", "is_label", "valued"]


def claimed(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation when what the line says is not what the grounded episodes say."""
    grounds = [pair.ground.text for pair in pairs]
    if is_label(case, grounds):
        message = "the name cannot be compared with the evidence, so the line is checked by its citation alone"
        return Step(pairs, findings=(case.found("name-unchecked", message),))
    union = "\n".join([*grounds, *(ground.text for ground in case.past)])
    label = spelled(case.line.name) if case.line.text else ""
    rider = foreign(case.line.text, union) or foreign(label, f"{union}\n{case.line.text}", least=3)
    if case.line.text and not rider and covers(union, case.line.text, window.weights) >= CLAIM_COVER:
        return Step(pairs)
    if not case.line.text and any(content_set(case.claim) & content_set(text) for text in grounds):
        return Step(pairs)
    fix = "say in the line what the cited episodes say, in their words, or cite the episodes that say it"
    message = f"the cited episodes do not speak of {repr(rider[:60]) if rider else 'what the line claims'}"
    return Step.void(case.found("claim-ungrounded", message, fix))


def is_label(case: Case, grounds: Sequence[str]) -> bool:
    """Tell whether a line is a bare name that no cited episode could contain, such as one in another script."""
    if case.line.text:
        return False
    return not content_set(case.claim) or not any(shares_script(case.claim, text) for text in grounds)


def valued(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation when a number, date, name or other value of the line stands in no grounded episode."""
    grounds = [pair.ground.text for pair in pairs]
    known = [*grounds, *(ground.text for ground in case.past)]
    wanted = [(value, known) for value in values(case.line.text)]
    named = (value for value in values(spelled(case.line.name)) if value.type is not ValueType.NAME)
    wanted += [(value, grounds) for value in (*named, *(one for pair in pairs for one in values(pair.explanation)))]
    missing = next(
        ((value, texts) for value, texts in wanted if not any(has_value(text, value) for text in texts)), None
    )
    counted = counted_otherwise(case.line.text, known)
    if missing is None and not counted:
        return Step(pairs)
    surface, nearest = counted, ""
    if missing is not None:
        (value, texts), surface = missing, missing[0].surface
        alike = next((other.surface for text in texts for other in values(text) if other.type is value.type), "")
        nearest = f"; the nearest there is {alike[:40]!r}" if alike else ""
    fix = "write the value as the cited episode has it, or leave it out"
    message = f"{surface[:40]!r} stands in none of the cited episodes{nearest}"
    return Step.void(case.found("value-unsupported", message, fix))
