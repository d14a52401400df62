"""Ids of 128 bits that sort by time, and the short form in which they are shown."""

from __future__ import annotations

from assay.model.constants import MIN_REF_CHARS

__all__ = ["belief_ref", "is_ref", "make_id", "normal_ref", "short_ref"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # base32 without i, l, o, u, as Crockford's
_DIGIT_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_LENGTH = 26
_EPOCH_US = 1_577_836_800_000_000  # 2020-01-01 UTC
_TICK_US = 4_000_000
# 30 bits of four-second ticks (136 years) and 100 random bits: the random part begins within the first eight
# characters, so that a short prefix is unique among thousands recorded in one minute.
_RANDOM_BITS = 100
_TICK_BITS = 30
_TICK_CHARS = _TICK_BITS // 5
# While a tick lasts, ids that come later may share the first eight characters of one that is shown already: 10 of
# its random bits. Twelve hold 30, so that what was shown goes on to name one.
_OPEN_REF_CHARS = 12


def make_id(prefix: str, now_us: int, randomness: bytes) -> str:
    """Build an id from a prefix such as `ep`, a time in microseconds since 1970 and 16 random bytes."""
    tick = max(0, (now_us - _EPOCH_US) // _TICK_US) & ((1 << _TICK_BITS) - 1)
    value = (tick << _RANDOM_BITS) | (int.from_bytes(randomness, "big") & ((1 << _RANDOM_BITS) - 1))
    digits = [_DIGIT_PAIRS[(value >> shift) & 1023] for shift in range(5 * (_LENGTH - 2), -1, -10)]
    return f"{prefix}_{''.join(digits)}"


def normal_ref(text: str) -> str:
    """Give a ref as it is stored: lower case, without surrounding spaces."""
    return text.strip().lower()


def is_ref(text: str, *, whole: bool = False) -> bool:
    """Tell whether a text has the form of a ref: a two-letter prefix, `_`, and 8 to 26 base32 characters."""
    head, mark, tail = text.partition("_")
    if not mark or len(head) != 2 or not head.isalpha():
        return False
    shortest = _LENGTH if whole else MIN_REF_CHARS
    return shortest <= len(tail) <= _LENGTH and all(char in _ALPHABET for char in tail)


def short_ref(full: str, neighbours: tuple[str, ...], newest: str) -> str:
    """Cut an id to a prefix that no other has now, nor is likely to get.

    It is the shortest of at least eight characters that no neighbour in sort order shares; of at least twelve in
    the newest id's tick, to which more ids may come.
    """
    start = full.index("_") + 1
    tick = full[: start + _TICK_CHARS]
    length = start + (_OPEN_REF_CHARS if newest.startswith(tick) else MIN_REF_CHARS)
    for other in neighbours:
        shared = 0
        for mine, theirs in zip(full, other, strict=False):
            if mine != theirs:
                break
            shared += 1
        length = max(length, shared + 1)
    return full[:length]


def belief_ref(full: str) -> str:
    """Cut the id of a belief as it is shown: those of one wrap are of one tick, so that it takes twelve characters."""
    return full[: full.index("_") + 1 + _OPEN_REF_CHARS]
