"""The best of all episodes of the index at once, by arithmetic on the bits of long integers.

A set of episodes of one segment is an integer whose bit p stands for place p. Sums are bit-sliced: plane k holds bit k
of the sum of every episode, so that giving points to a whole set takes a few operations on 8 KB, however many it holds
(O'Neil and Quass, "Improved query performance with variant indexes", 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

__all__ = ["Sums", "bits_of", "highest", "places_of"]

_MASKS = tuple(1 << bit for bit in range(8))


def bits_of(places: Iterable[int]) -> int:
    """Give the set of some places, which are below 65,536."""
    packed = bytearray(1 << 13)
    for place in places:
        packed[place >> 3] |= _MASKS[place & 7]
    return int.from_bytes(packed, "little")


def places_of(bits: int) -> list[int]:
    """Give the places in a set, the highest first."""
    places: list[int] = []
    while bits:
        place = bits.bit_length() - 1
        places.append(place)
        bits ^= 1 << place
    return places


class Sums:
    """The points of every episode of a segment."""

    def __init__(self) -> None:
        self.planes: list[int] = []

    def add(self, bits: int, points: int) -> None:
        """Give points to each episode of a set."""
        carry = level = 0
        planes = self.planes
        while points >> level or carry:
            if level == len(planes):
                planes.append(0)
            plane = planes[level]
            if points >> level & 1:
                either = plane ^ bits
                planes[level], carry = either ^ carry, plane & bits | either & carry
            elif carry:
                planes[level], carry = plane ^ carry, plane & carry
            level += 1


def highest(sums: Mapping[int, Sums], count: int, most_equal: int, among: Mapping[int, int]) -> dict[int, int]:
    """Give, by segment, the set of the `count` episodes that have the most points, and of all that have as many.

    Args:
        most_equal: Where more than so many have as many points as the last, the newest of them are given.
        among: The only episodes to choose from, by segment.
    """
    asked = {segment: bits for segment, bits in among.items() if segment in sums}
    tied = {segment: reduce(int.__or__, sums[segment].planes, 0) & bits for segment, bits in asked.items()}
    chosen = dict.fromkeys(sums, 0)
    for level in reversed(range(max((len(of.planes) for of in sums.values()), default=0))):
        high = {
            segment: found
            for segment, bits in tied.items()
            if level < len(sums[segment].planes) and (found := bits & sums[segment].planes[level])
        }
        if _hold(high.values(), count):
            tied = high
            continue
        for segment, bits in high.items():
            count -= bits.bit_count()
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


def _hold(sets: Iterable[int], count: int) -> bool:
    """Tell whether some sets hold so many together; counting, which costs most here, ends as soon as they do."""
    held = 0
    return any((held := held + bits.bit_count()) >= count for bits in sets)


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
