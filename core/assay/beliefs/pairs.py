"""Beliefs that say the same twice, or speak against each other; found by comparing texts, acted on by nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from assay.model.belief import Belief
from assay.model.constants import CONFLICT_COVER
from assay.model.labels import Residence
from assay.text import agrees, content_set, covers, near, values

__all__ = ["Pair", "compared", "opposed", "related"]

_Any = TypeVar("_Any")
Pair = tuple[Belief, Belief]


def opposed(a: str, b: str) -> bool:
    """Tell whether two statements on one subject deny each other or differ in a value of one type (B43)."""
    if max(covers(a, b), covers(b, a)) < CONFLICT_COVER:
        return False
    left, right = ({(value.type, value.norm) for value in values(text)} for text in (a, b))
    shared = {kind for kind, _ in left} & {kind for kind, _ in right}
    changed = any({one for one in left if one[0] is kind}.isdisjoint(right) for kind in shared)
    return changed or not agrees(a, b)


def related(text: str, listed: Iterable[tuple[frozenset[str], _Any]]) -> list[_Any]:
    """Give what has half of the words of a text, or half of its own in it: only that is near or opposed to it.

    Args:
        listed: What is compared, each with its content words.
    """
    mine = content_set(text)
    return [one for held, one in listed if 2 * len(held & mine) >= min(len(held), len(mine))]


def compared(beliefs: Sequence[Belief]) -> tuple[list[Pair], list[Pair]]:
    """Give the pairs that say the same and those that speak against each other; one of each is in the document."""
    same: list[Pair] = []
    against: list[Pair] = []
    listed = [(content_set(one.text), (at, one)) for at, one in enumerate(beliefs) if one.text]
    for _, (at, one) in listed:
        for other in (other for place, other in related(one.text, listed) if place > at):
            if Residence.WORKING in (one.residence, other.residence):
                if near(one.text, other.text):
                    same.append((one, other))
                elif opposed(one.text, other.text):
                    against.append((one, other))
    return same, against
