"""The host's embedder under its name; what it gives is checked, and scaled to length one."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from operator import mul

from assay.errors import InvalidInput

__all__ = ["Embedder", "Embedding", "similarity"]

Embedder = Callable[[Sequence[str]], Iterable[Iterable[float]]]
"""Turns texts into vectors of one length, in the same order. Its `name`, if it has one, says which model it is."""


class Embedding:
    """An embedder as the store uses it.

    Attributes:
        name: Its own `name`; else the module and name of the function, or of the class.
    """

    def __init__(self, embed: Embedder) -> None:
        if not callable(embed):
            raise InvalidInput("embedder", "a function from a list of texts to a list of vectors is needed")
        self._embed = embed
        kind = embed if hasattr(embed, "__qualname__") else type(embed)
        own = getattr(embed, "name", None)
        self.name = own if isinstance(own, str) and own else f"{kind.__module__}.{kind.__qualname__}"

    def __call__(self, texts: Sequence[str]) -> list[bytes]:
        """Give a vector for each text, all of one dimension, as little-endian floats of 32 bits.

        Raises:
            InvalidInput: The embedder gave something else.
        """
        vectors = [_scaled(vector) for vector in self._embed(list(texts))]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise InvalidInput("embedder", f"{self.name}: give one vector for each text, all of one length")
        return vectors


def similarity(one: bytes, other: bytes) -> float:
    """Give the cosine of two vectors of length one."""
    return float(sum(map(mul, _floats(one), _floats(other))))


def _scaled(vector: Iterable[float]) -> bytes:
    numbers = [float(number) for number in vector]
    length = math.hypot(*numbers)
    if not numbers or not math.isfinite(length):
        raise InvalidInput("embedder", "a vector is empty, or holds what is no finite number")
    packed = array("f", (number / length for number in numbers) if length else numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _floats(stored: bytes) -> array[float]:
    numbers = array("f", stored)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
