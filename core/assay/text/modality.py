"""How far a statement reaches."""

from enum import StrEnum
from functools import cache

from assay.text.lexicon import entries
from assay.text.normal import fold
from assay.text.script import SPACELESS, classes
from assay.text.segment import words

__all__ = ["Strength", "strength"]

_DENIALS = frozenset(["not", "nicht", "pas", "no", "non", "não", "не"])


class Strength(StrEnum):
    """Reach of a statement: every case, some cases, or not said."""

    UNIVERSAL = "universal"
    PARTIAL = "partial"
    NONE = "none"


def strength(text: str) -> Strength:
    """Return how far a text claims to reach (T8): universal before partial when both are said.

    `not always` and `not all` are partial.
    """
    forms, folded, previous = _forms(), fold(text), ""
    found = {reach for form, reach in forms.items() if classes(form[0]) in SPACELESS and form in folded}
    for word in words(text):
        reach = forms.get(word) or forms.get(f"{previous} {word}")
        denied = reach is Strength.UNIVERSAL and previous in _DENIALS
        found.add(Strength.PARTIAL if denied else reach or Strength.NONE)
        previous = word
    return next((reach for reach in Strength if reach in found), Strength.NONE)


@cache
def _forms() -> dict[str, Strength]:
    return {form: Strength(key) for key, listed in entries("strength") for form in listed}
