"""How far a statement reaches."""

from enum import StrEnum

from assay.text.lexicon import table
from assay.text.normal import fold
from assay.text.script import SPACELESS, classes
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
    forms, folded, previous = table("strength"), fold(text), ""
    found = {reach for form, reach in forms.items() if classes(form[0]) in SPACELESS and form in folded}
    for word in words(text):
        reach = forms.get(word) or forms.get(f"{previous} {word}", Strength.NONE)
        found.add(Strength.PARTIAL if reach == Strength.UNIVERSAL and previous in table("negators") else reach)
        previous = word
    return next((reach for reach in Strength if reach in found), Strength.NONE)
