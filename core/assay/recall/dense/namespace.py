"""`store.vectors`: making the vectors of episodes with the embedder that the host gave."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InvalidInput
from assay.recall.dense.embedding import Embedding
from assay.recall.dense.keeping import reembed
from assay.storage import vector_rows
from assay.storage.database import Database

__all__ = ["Vectors", "VectorsState"]


@dataclass(frozen=True, slots=True)
class VectorsState:
    """What is kept: which embedder made it, how many numbers a vector has, and how many episodes have one.

    Attributes:
        embedder: Its name; None before the first vector.
    """

    embedder: str | None
    dimension: int
    kept: int
    missing: int


class Vectors:
    """The vectors of episodes; without them, or while another embedder made them, recall goes by words alone."""

    def __init__(self, database: Database, embedding: Embedding | None) -> None:
        self._database = database
        self._embedding = embedding

    def state(self) -> VectorsState:
        """Count what is kept, and what is missing."""
        with self._database.read() as reader:
            made_by, kept = vector_rows.embedder(reader), vector_rows.kept(reader)
            missing = reader.count("episode") - kept
        return VectorsState(made_by and made_by.name, made_by.dimension if made_by else 0, kept, missing)

    def reembed(self, *, everything: bool = False) -> int:
        """Make the vectors that are missing; all of them when another embedder made those that are kept.

        Args:
            everything: Make all anew in any case.

        Returns:
            How many were made.

        Raises:
            Conflict: Another embedder is at it meanwhile.
            InvalidInput: The store was opened without an embedder, or it gives what are no vectors.
        """
        if self._embedding is None:
            raise InvalidInput("embedder", "the store was opened without one: use Store(..., embedder=)")
        return reembed(self._database, self._embedding, everything=everything)
