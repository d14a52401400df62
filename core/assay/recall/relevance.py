"""Whether anything that was found bears on the question.

The measure is the weighted share of the question's terms that one episode holds: unlike a BM25 score it means the same
in a store of ten episodes and in one of a million.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.recall.index import document_frequency
from assay.storage.reader import Reader

__all__ = ["BAR", "coverage"]

# On PersistBench (development half) 76 % of the questions that memory helps with pass this bar, and 38 % of those of
# another domain; of LoCoMo's questions over 99 % pass. `python -m bench recall` prints the whole curve.
BAR = 0.12
_MOST_TERMS = 20  # a prompt of hundreds of words is answered by an episode that shares a few of them
_MOST_CHARS = 4_000


def coverage(reader: Reader, question: str, texts: Sequence[str]) -> float:
    """Give the largest share, 0 to 1, of the weight of a question's terms that one of some texts holds."""
    from assay.text import query_terms, terms, weight

    asked = query_terms(question)
    frequency, documents = document_frequency(reader, asked)
    weights = {term: weight(term, df=frequency[term], documents=documents) for term in asked}
    whole = sum(sorted(weights.values(), reverse=True)[:_MOST_TERMS])
    if not whole:
        return 0.0
    held = (sum(weights[term] for term in sorted(weights.keys() & terms(text[:_MOST_CHARS]))) for text in texts)
    return min(1.0, max(held, default=0.0) / whole)
