"""How much of one text is in another."""

from collections.abc import Callable, Mapping
from functools import cache
from math import log

from assay.text.denial import agrees
from assay.text.lexicon import members
from assay.text.normal import fold
from assay.text.reading import values
from assay.text.segment import chunk_tokens
from assay.text.vocabulary import content_set, term_of

__all__ = ["covers", "near", "weight"]

NEAR_JACCARD = 0.8
IDF_MIN_DOCUMENTS = 50
GENERAL_WEIGHT = 0.25


def weight(word: str, *, df: int, documents: int) -> float:
    """Weigh a content word between 0 (in every episode) and 1 (T5).

    Args:
        word: A stem as `content` gives it.
        df: Episodes that hold the word.
        documents: Episodes in all. With 50 or more the weight is ln((N+1)/(df+1)) / ln(N+1); with fewer,
            0.25 for a word of the list of general words and 1 for any other.
    """
    if documents < IDF_MIN_DOCUMENTS:
        return GENERAL_WEIGHT if word in _general() else 1.0
    return max(0.0, log((documents + 1) / (df + 1)) / log(documents + 1))


def near(a: str, b: str, *, jaccard: float = NEAR_JACCARD) -> bool:
    """Tell whether two texts say the same (T9): equal when folded, or nearly the same content words.

    The second needs a Jaccard ratio of `jaccard`, equal values and agreeing polarity. Symmetric.
    """
    left, right = content_set(a), content_set(b)
    if left == right and fold(a) == fold(b):  # texts that are equal when folded have the same words
        return True
    if not left or len(left & right) < jaccard * len(left | right):
        return False
    stated, other = ({(value.type, value.norm) for value in values(text)} for text in (a, b))
    return stated == other and agrees(a, b)


def covers(a: str, b: str, weights: Mapping[str, float] | Callable[[str], float] | None = None) -> float:
    """Return the weighted share, 0 to 1, of the content words of `b` that `a` holds (T10); 0 when `b` has none.

    A word that `weights` does not know weighs 1.
    """
    wanted = content_set(b)
    shared = wanted & content_set(a)

    def weigh(listed: frozenset[str]) -> float:
        if weights is None:
            return len(listed)
        # Sorted, so that sums of floats are the same in every process.
        return sum(weights(word) if callable(weights) else weights.get(word, 1.0) for word in sorted(listed))

    whole = weigh(wanted)
    return weigh(shared) / whole if whole else 0.0


@cache
def _general() -> frozenset[str]:
    return frozenset(term_of(token) for word in members("general") for token in chunk_tokens(word))
