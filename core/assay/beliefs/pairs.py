"""Beliefs that say the same twice, or speak against each other; found by comparing texts, acted on by nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.model.belief import Belief
from assay.model.constants import CONFLICT_COVER
from assay.model.labels import Residence
from assay.text import agrees, covers, near, values

__all__ = ["opposed", "pairs"]


def opposed(a: str, b: str) -> bool:
    """Tell whether two statements on one subject deny each other or differ in a value of one type (B43)."""
    if max(covers(a, b), covers(b, a)) < CONFLICT_COVER:
        return False
    left, right = ({(value.type, value.norm) for value in values(text)} for text in (a, b))
    shared = {kind for kind, _ in left} & {kind for kind, _ in right}
    changed = any({one for one in left if one[0] is kind}.isdisjoint(right) for kind in shared)
    return changed or not agrees(a, b)


def pairs(beliefs: Sequence[Belief]) -> Iterator[tuple[Belief, Belief, str]]:
    """Yield what to compare: two beliefs, at least one of them in the document, and how they relate (B43, B44)."""
    for place, one in enumerate(beliefs):
        for other in beliefs[place + 1 :]:
            if Residence.WORKING in (one.residence, other.residence) and one.text and other.text:
                if near(one.text, other.text):
                    yield one, other, "says the same as"
                elif opposed(one.text, other.text):
                    yield one, other, "speaks against"
