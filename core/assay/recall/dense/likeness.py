"""Moving up, among the episodes that share words with a question, those whose vector is like the question's."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from assay.recall.dense.embedding import Embedder, Embedding, similarity
from assay.recall.dense.keeping import embed_recent
from assay.storage import episode_rows, vector_rows
from assay.storage.database import Database
from assay.storage.reader import Reader

__all__ = ["Likeness", "lifted"]

_log = logging.getLogger("assay.recall")
_MOST = 64  # candidates whose vectors are compared, the best by words
_REMEMBERED = 1_024
# Of the span between the best and the worst candidate by words, added before a turn lends its score to its neighbours.
# On the development half of LoCoMo a static embedder of 256 numbers then gains 0.4 points of recall at 5 and 0.3 at 10.
# Added to the whole score instead it loses as much, and a sum of ranks loses five points and more.
_WEIGHT = 0.3


class Likeness:
    """What an embedder adds to the ranking by words; without it, for whatever reason, the words decide alone."""

    def __init__(self, embed: Embedder) -> None:
        self.embedding = Embedding(embed)
        self._fresh: OrderedDict[int, bytes] = OrderedDict()
        self._told: set[str] = set()

    def lifts(self, reader: Reader, text: str, scores: Mapping[int, float]) -> dict[int, float]:
        """Give what likeness adds to the scores by words; nothing when the vectors cannot be compared."""
        best = sorted((number for number in scores if scores[number]), key=scores.__getitem__, reverse=True)[:_MOST]
        kept = vector_rows.embedder(reader)
        if kept is not None and kept.name != self.embedding.name:
            mine = self.embedding.name
            self._tell(f"the vectors are of {kept.name!r}, the embedder is {mine!r}: run `assay reembed`")
            return {}
        try:
            asked, vectors = self._vectors(reader, text, best)
        except Exception as error:  # the embedder is the host's code: whatever it raises, memory still answers
            self._tell(f"the embedder failed, the words decide alone: {type(error).__name__}")
            return {}
        if any(len(vector) != len(asked) for vector in vectors.values()):
            self._tell("the embedder gives vectors of another length than those that are kept: run `assay reembed`")
            return {}
        alike = {number: similarity(asked, vector) for number, vector in vectors.items()}
        return lifted({number: scores[number] for number in alike}, alike)

    def keep_recent(self, database: Database, last: int) -> None:
        """Make and keep the vectors of the newest episodes; a failure is logged, the episodes are recorded already.

        Args:
            last: Number of the newest.
        """
        try:
            embed_recent(database, self.embedding, last)
        except Exception as error:  # as above
            self._tell(f"the embedder failed, no vectors are kept: {type(error).__name__}")

    def _tell(self, message: str) -> None:
        """Log why the words decide alone, once for each reason."""
        if message not in self._told:
            self._told.add(message)
            _log.warning(message)

    def _vectors(self, reader: Reader, text: str, numbers: Sequence[int]) -> tuple[bytes, dict[int, bytes]]:
        """Give the question's vector and those of some episodes; what is not kept yet is made now, and remembered."""
        vectors = vector_rows.vectors(reader, numbers)
        vectors |= {number: self._fresh[number] for number in numbers if number in self._fresh}
        missing = [row for row in episode_rows.by_numbers(reader, numbers) if row["n"] not in vectors]
        asked, *made = self.embedding([text, *(row["content"] for row in missing)])
        made_now = {row["n"]: vector for row, vector in zip(missing, made, strict=True)}
        self._fresh.update(made_now)
        while len(self._fresh) > _REMEMBERED:
            self._fresh.popitem(last=False)
        return asked, vectors | made_now


def lifted(scores: Mapping[int, float], alike: Mapping[int, float]) -> dict[int, float]:
    """Give, for what is more alike than the mean, a share of the span of the scores (min-max)."""
    if len(alike) < 2:
        return {}
    mean, most = sum(alike.values()) / len(alike), max(alike.values())
    span = (max(scores.values()) - min(scores.values())) or max(scores.values())
    share = _WEIGHT * span / (most - mean) if most > mean else 0.0
    return {number: share * (value - mean) for number, value in alike.items() if value > mean}
