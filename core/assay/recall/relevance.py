"""Whether anything that was found bears on the question.

The measure is the weighted share of the question's terms that one episode holds: unlike a BM25 score it means the same
in a store of ten episodes and in one of a million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["BAR", "coverage"]

# On PersistBench (development half) 76 % of the questions that memory helps with pass this bar, and 38 % of those of
# another domain; of LoCoMo's questions over 99 % pass. `python -m bench recall` prints the whole curve.
BAR = 0.12
_LEAST = 0.05  # weight of a term that every episode holds: a question of such terms alone is answered by any of them
_MOST_TERMS = 20  # a prompt of hundreds of words is answered by an episode that shares a few of them
_MOST_CHARS = 4_000


def coverage(frequency: Mapping[str, int], documents: int, texts: Sequence[str]) -> float:
    """Give the largest share, 0 to 1, of the weight of a question's terms that one of some texts holds.

    Args:
        frequency: In how many episodes each term of the question occurs, of so many documents.
    """
    from assay.text import terms, weight

    weights = {term: max(_LEAST, weight(term, df=count, documents=documents)) for term, count in frequency.items()}
    whole = sum(sorted(weights.values(), reverse=True)[:_MOST_TERMS])
    if not whole:
        return 0.0
    held = (sum(weights[term] for term in sorted(weights.keys() & terms(text[:_MOST_CHARS]))) for text in texts)
    return min(1.0, max(held, default=0.0) / whole)
