"""Making the vectors that are missing, in rounds, and keeping them; no lock is held while the embedder works."""

from __future__ import annotations

from assay.errors import Conflict
from assay.recall.dense.embedding import Embedding
from assay.storage import vector_rows
from assay.storage.database import Database
from assay.storage.operational import OperationalWriter
from assay.storage.vector_rows import EmbedderRow

__all__ = ["embed_recent", "reembed"]

_ROUND = 256


def reembed(database: Database, embedding: Embedding, *, everything: bool = False) -> int:
    """Make the vectors that are missing, and all of them when another embedder made those that are kept.

    Args:
        everything: Make all of them in any case.

    Returns:
        How many were made.

    Raises:
        Conflict: Another embedder began to do the same meanwhile.
        InvalidInput: The embedder gives what are no vectors.
    """
    made, anew = 0, everything
    while (count := _round(database, embedding, above=0, anew=anew)) or anew:
        made, anew = made + count, False
    return made


def embed_recent(database: Database, embedding: Embedding, last: int) -> None:
    """Make the vectors of the newest episodes, unless another embedder made those that are kept.

    Raises:
        Conflict: Another embedder did.
    """
    with database.read() as reader:
        kept = vector_rows.embedder(reader)
    if kept is None or kept.name == embedding.name:
        _round(database, embedding, above=last - 2 * _ROUND, anew=False)


def _round(database: Database, embedding: Embedding, *, above: int, anew: bool) -> int:
    with database.read() as reader:
        kept = vector_rows.embedder(reader)
        anew = anew or kept is None or kept.name != embedding.name
        missing = vector_rows.missing(reader, above=above, limit=_ROUND, anew=anew)
    if not missing:
        return 0
    vectors = embedding([content for _, content in missing])
    made_by = EmbedderRow(embedding.name, len(vectors[0]) // 4)

    def write(writer: OperationalWriter) -> None:
        if anew and vector_rows.embedder(writer) == kept:
            vector_rows.start(writer, made_by)
        elif vector_rows.embedder(writer) != made_by:
            raise Conflict("the vectors that are kept are of another embedder, or of another length: make all anew")
        vector_rows.keep(writer, zip((number for number, _ in missing), vectors, strict=True))

    database.operational(write)
    return len(missing)
