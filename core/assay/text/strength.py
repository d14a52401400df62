"""How far a statement reaches."""

from enum import StrEnum
from functools import cache

from assay.text.lexicon import entries
from assay.text.normal import fold
from assay.text.script import BIGRAM_SCRIPTS, KINDS
from assay.text.segment import words

__all__ = ["Strength", "strength"]


class Strength(StrEnum):
    """Reach of a statement: every case, some cases, or not said."""

    UNIVERSAL = "universal"
    PARTIAL = "partial"
    NONE = "none"


def strength(text: str) -> Strength:
    """Return how far a text claims to reach (T8): universal before partial when both are said.

    `not always` and `not all` are partial.
    """
    listed = words(text)
    forms = _forms()
    found: set[Strength] = set()
    for place, word in enumerate(listed):
        reach = forms.get(word) or forms.get(f"{listed[place - 1]} {word}" if place else word)
        if reach is Strength.UNIVERSAL and place and listed[place - 1] in _DENIALS:
            reach = Strength.PARTIAL
        if reach:
            found.add(reach)
    folded = fold(text)
    found.update(reach for form, reach in _spaceless() if form in folded)
    for reach in (Strength.UNIVERSAL, Strength.PARTIAL):
        if reach in found:
            return reach
    return Strength.NONE


_DENIALS = frozenset(["not", "nicht", "pas", "no", "non", "não", "не"])


@cache
def _forms() -> dict[str, Strength]:
    return {form: Strength(key) for key, listed in entries("strength") for form in listed}


@cache
def _spaceless() -> tuple[tuple[str, Strength], ...]:
    """Return the forms that stand inside a run of text without spaces."""
    return tuple((form, reach) for form, reach in _forms().items() if KINDS[form[0]] in BIGRAM_SCRIPTS)
