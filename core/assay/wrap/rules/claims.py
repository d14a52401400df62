"""B8-B10: the claim itself, and every value in it, must be in the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from assay.beliefs.grounding import counted_otherwise, foreign, has_value, shares_script
from assay.model.constants import CLAIM_COVER
from assay.text import Strength, ValueType, content, content_set, covers, fold, sentences, strength, values
from assay.text.script import SPACELESS, classes
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
    least = 2 if strength(label) is Strength.UNIVERSAL else 3  # what all or nobody must do is an order, not a label
    rider = foreign(case.line.text, union) or foreign(label, f"{union}\n{case.line.text}", least)
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
    absent = ((value, texts) for value, texts in wanted if not any(has_value(text, value) for text in texts))
    missing = next(absent, None)
    text = case.line.text
    counted = counted_otherwise(text, known) or (_substituted(text, known) if case.raising else "")
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


def _substituted(claim: str, known: Sequence[str]) -> str:
    """Give what a claim says in the place of a word or two of a sentence that is the same but for them, or ""."""
    whole = "\n".join(known)
    mine, stems = _units(claim), content_set(whole)
    most = 6 if _spaceless(claim) else 2
    for theirs in (_units(sentence) for text in known for sentence in sentences(text)):
        start, end = _shared(mine, theirs), _shared(mine[::-1], theirs[::-1])
        new, old = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
        fresh = "".join(new) not in whole if most > 2 else stems.isdisjoint(new)
        alike = any(_shared(a, b) * 2 >= min(len(a), len(b)) for a in new for b in old)
        if 0 < len(new) <= most and len(old) <= most and start + end >= most and fresh and not alike:
            return " ".join(new)
    return ""


def _units(text: str) -> list[str]:
    return [char for char in fold(text) if char.isalnum()] if _spaceless(text) else content(text)


def _spaceless(text: str) -> bool:
    return not SPACELESS.isdisjoint(classes(text))


def _shared(a: Sequence[str], b: Sequence[str]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
