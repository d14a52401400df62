"""B8-B10: the claim itself, and every value in it, must be in the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.beliefs.grounding import counted_otherwise, foreign, has_value, shares_script
from assay.model.constants import CLAIM_COVER
from assay.text import ValueType, content_set, covers, fold, sentences, terms, values
from assay.text.frames import pieces
from assay.text.lexicon import table
from assay.text.script import SPACELESS, Script, classes
from assay.wrap.rules.case import Case, Pair, Step, Window, spelled
from assay.wrap.rules.modality import Strength, strength

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
    shared = any(shares_script(case.claim, text) for text in grounds)
    return not case.line.text and not (shared and content_set(case.claim))


def valued(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation when a number, date, name or other value of the line stands in no grounded episode."""
    grounds = [pair.ground.text for pair in pairs]
    known = [*grounds, *(ground.text for ground in case.past)]
    wanted = [(value, known) for value in values(case.line.text)]
    named = (value for value in values(spelled(case.line.name)) if value.type is not ValueType.NAME)
    wanted += [(value, grounds) for value in (*named, *(one for pair in pairs for one in values(pair.explanation)))]
    absent = ((value, texts) for value, texts in wanted if not any(has_value(text, value) for text in texts))
    missing = next(absent, None)
    counted = counted_otherwise(case.line.text, known)
    counted = counted or (_otherwise(case.line.text, known, grounds) if case.raising else "")
    if missing is None and not counted:
        return Step(pairs)
    surface, nearest = counted, ""
    if missing is not None:
        (value, texts), surface = missing, missing[0].surface
        alike = next((other.surface for text in texts for other in values(text) if other.type is value.type), "")
        nearest = f"; the nearest there is {alike[:40]!r}" if alike else ""
    message = f"{surface[:40]!r} stands in none of the cited episodes{nearest}, or one of them has it otherwise"
    fix = "write it as the cited episodes have it, or leave it out"
    return Step.void(case.found("value-unsupported", message, fix))


def _otherwise(claim: str, known: Sequence[str], grounds: Sequence[str]) -> str:
    """Give what a claim says that no text has in its place, or that one cited episode has otherwise, or ""."""
    for text in grounds:
        kinds = {value.type for value in values(text)}
        lacking = (v.surface for v in values(claim) if v.type in kinds and not has_value(text, v))
        if found := next(lacking, "") or _substituted(claim, [text], 1):
            return found
    return _substituted(claim, known, 0)


def _substituted(claim: str, known: Sequence[str], least: int) -> str:
    """Give what a claim says in the place of `least` or more words of a sentence that is the same but for them."""
    pairs = not SPACELESS.isdisjoint(classes(claim))
    mine, said = _units(claim), _units("\n".join(known))
    most, enough = (6, 4) if pairs else (2, 2)
    for theirs in _parts(known, least * len(mine)):
        start, end = _shared(mine, theirs), _shared(mine[::-1], theirs[::-1])
        new, old = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
        fits = 0 < len(new) <= most and least <= len(old) <= 2 * most and start + end >= max(enough, len(new))
        # Two characters in common, or the kana of particles and endings: the same in other words.
        kana = pairs and set(classes("".join(new + old))) == {Script.HIRAGANA.value}
        alike = kana or (len(set(new) & set(old)) > 1 if pairs else any(_alike(a, b) for a in new for b in old))
        fresh = "".join(new) not in "".join(said) if pairs else set(new).isdisjoint(said)
        if fits and fresh and not alike:
            return " ".join(new)
    return ""


def _parts(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    """Yield each sentence or, for a claim of some size, each clause and 256 stretches of it that are as long."""
    for sentence in (sentence for text in texts for sentence in sentences(text)):
        for clause in [_units(" ".join(piece)) for piece in pieces(sentence)] if size else [_units(sentence)]:
            yield clause
            yield from (clause[start : start + size] for start in range(min(len(clause) - size + 1, 256 * bool(size))))


def _alike(a: str, b: str) -> bool:
    """Tell whether two words are forms of one: they begin alike, or in Hebrew and Arabic end alike."""
    return a.isalpha() and (_shared(a, b) * 2 >= min(len(a), len(b)) or (a[0] > "\u0590" and (a in b or b in a)))


def _units(text: str) -> list[str]:
    if not SPACELESS.isdisjoint(classes(text)):
        return [char for char in fold(text) if char.isalnum()]
    return terms(" ".join(word for word in text.split() if word.lower() not in table("strength")))


def _shared(a: Sequence[str], b: Sequence[str]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
