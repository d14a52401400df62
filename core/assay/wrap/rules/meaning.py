"""B11, B12: the line must not deny what its evidence affirms, nor claim always where it says sometimes."""

from __future__ import annotations

from assay.beliefs.grounding import unsaid
from assay.text import agrees, covers, sentences
from assay.text.script import classes
from assay.wrap.rules.case import Case, Pair, Step, Window
from assay.wrap.rules.modality import Strength, strength

__all__ = ["agreeing", "measured"]


def agreeing(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation when a grounded episode disagrees with the claim or with the explanation."""
    grounds = [*(pair.ground.text for pair in pairs), *(ground.text for ground in case.past)]
    unread = "" if _listed(case.claim) else unsaid(case.claim, "\n".join(grounds))
    if unread:
        fix = "say it in the words of the cited episodes alone: in this script nothing tells what a further word denies"
        return Step.void(case.found("polarity", f"no cited episode has {unread[:40]!r}, which may deny the rest", fix))
    for pair in pairs:
        if not agrees(case.claim, pair.ground.text) or not agrees(pair.explanation, pair.ground.text):
            ref = window.shown.get(pair.ground.ref, pair.ground.ref)
            fix = f"say what {ref} says: it affirms what the line denies, or the other way round"
            return Step.void(case.found("polarity", f"the line contradicts {ref}", fix), (pair.ground.ref,))
    return Step(pairs)


def _listed(text: str) -> bool:
    """Tell whether a text has no letters, or letters of a script that the lists of what denies cover."""
    letters = classes(text).lower().strip("m1 _.-/',")
    return not letters or bool(letters.strip("m1 _.-/',beglyo"))


def measured(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation of a universal claim whose every episode says only some; report when they do not say."""
    if strength(case.claim) is not Strength.UNIVERSAL:
        return Step(pairs)
    reached = {strength(_closest(case.claim, pair.ground.text)) for pair in pairs}
    if reached == {Strength.PARTIAL}:
        fix = "claim no more than the episodes say: write `may`, `can` or `sometimes` where they do"
        return Step.void(case.found("overreach", "the line says always, its evidence says sometimes", fix))
    finding = case.found("overgeneral", "the line says always, its evidence does not say how often")
    return Step(pairs, findings=() if Strength.UNIVERSAL in reached else (finding,))


def _closest(claim: str, text: str) -> str:
    return max(sentences(text), key=lambda sentence: covers(sentence, claim), default=text)
