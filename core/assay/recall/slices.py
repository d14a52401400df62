"""The best of all episodes of the index at once, by arithmetic on the bits of long integers.

A set of episodes of one segment is an integer whose bit p stands for place p. Sums are bit-sliced: plane k holds bit k
of the sum of every episode, so that giving points to a whole set takes a few operations on 8 KB, however many it holds
(O'Neil and Quass, "Improved query performance with variant indexes", 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

__all__ = ["bits_of", "highest", "map_of", "places_of", "summed"]

_MASKS = tuple(1 << bit for bit in range(8))
_WINDOW = 480  # places looked at together: a step on all of them takes far longer


def bits_of(places: Iterable[int]) -> int:
    """Give the set of some places, which are below 65,536."""
    return int.from_bytes(map_of(places), "little")


def map_of(places: Iterable[int], known: bytes | bytearray = b"") -> bytearray:
    """Give the map of some places, and of those that a shorter one shows: bit p, from the lowest on, is place p."""
    shown = bytearray(1 << 13)
    shown[: len(known)] = known
    for place in places:
        shown[place >> 3] |= _MASKS[place & 7]
    return shown


def places_of(bits: int) -> list[int]:
    """Give the places in a set, the highest first."""
    places: list[int] = []
    while bits:
        start = max(0, bits.bit_length() - _WINDOW)
        window = bits >> start
        bits ^= window << start
        while window:
            place = window.bit_length() - 1
            places.append(start + place)
            window ^= 1 << place
    return places


def summed(given: Iterable[tuple[int, int]]) -> list[int]:
    """Add up points that are given to whole sets: plane k holds bit k of the sum of every episode."""
    sets = list(given)
    parts: list[list[int]] = [[] for _ in range(sum(points for _, points in sets).bit_length())]
    for bits, points in sets:
        for level in range(points.bit_length()):
            if points >> level & 1:
                parts[level].append(bits)
    for level, left in enumerate(parts):
        while len(left) > 1:
            one, two = left.pop(), left.pop()
            either, carry = one ^ two, one & two
            if left:  # three at once: what they carry is one set
                three = left.pop()
                either, carry = either ^ three, carry | either & three
            left.append(either)
            if carry:
                parts[level + 1].append(carry)
    return [left[0] if left else 0 for left in parts]


def highest(
    planes: Mapping[int, Sequence[int]], count: int, most_equal: int, among: Mapping[int, int]
) -> dict[int, int]:
    """Give, by segment, the set of the `count` episodes that have the most points, and of all that have as many.

    Args:
        planes: The sums of the points of every episode, by segment.
        most_equal: Where more than so many have as many points as the last, the newest of them are given.
        among: The only episodes to choose from, by segment.
    """
    asked = {segment: bits for segment, bits in among.items() if segment in planes}
    tied = {segment: reduce(int.__or__, planes[segment], 0) & bits for segment, bits in asked.items()}
    chosen = dict.fromkeys(planes, 0)
    for level in reversed(range(max(map(len, planes.values()), default=0))):
        high = {
            segment: found
            for segment, bits in tied.items()
            if level < len(planes[segment]) and (found := bits & planes[segment][level])
        }
        held = _count(high.values(), count)
        if held >= count:
            tied = high
            continue
        count -= held
        for segment, bits in high.items():
            chosen[segment] |= bits
            tied[segment] ^= bits
    left = max(count, most_equal)
    for segment in sorted(tied, reverse=True):
        if (found := tied[segment].bit_count()) > left:
            chosen[segment] |= _newest(tied[segment], left)
            break
        chosen[segment] |= tied[segment]
        left -= found
    return chosen


def _count(sets: Iterable[int], enough: int) -> int:
    """Count what some sets hold together; counting, which costs most here, ends as soon as it is enough."""
    held = 0
    for bits in sets:
        if held >= enough:
            break
        held += bits.bit_count()
    return held


def _newest(bits: int, count: int) -> int:
    """Give the `count` highest places of a set."""
    low, high = 0, bits.bit_length()
    while low < high:
        middle = (low + high) // 2
        if (bits >> middle).bit_count() > count:
            low = middle + 1
        else:
            high = middle
    return bits >> low << low
