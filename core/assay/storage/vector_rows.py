"""The vectors that a host's embedder made of episodes: derived, outside the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.storage.operational import OperationalWriter
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["EmbedderRow", "embedder", "keep", "kept", "missing", "remove", "start", "vectors"]

_CHUNK = 800  # variables of one statement


class EmbedderRow(NamedTuple):
    """Which embedder made the vectors, and how many numbers one has."""

    name: str
    dimension: int


def embedder(reader: Reader) -> EmbedderRow | None:
    """Give what made the vectors that are kept, or None before the first."""
    rows = reader.execute("SELECT name, dimension FROM embedder")
    return EmbedderRow(*rows[0]) if rows else None


def vectors(reader: Reader, numbers: Sequence[int]) -> dict[int, bytes]:
    """Give number -> vector of those episodes that have one."""
    found: dict[int, bytes] = {}
    for start in range(0, len(numbers), _CHUNK):
        chunk = numbers[start : start + _CHUNK]
        found |= reader.execute(f"SELECT n, floats FROM vector WHERE n IN ({','.join('?' * len(chunk))})", chunk)
    return found


def kept(reader: Reader) -> int:
    """Count the vectors."""
    count: int = reader.execute("SELECT count(*) FROM vector")[0][0]
    return count


def missing(reader: Reader, *, above: int, limit: int, anew: bool) -> list[tuple[int, str]]:
    """Give (number, content) of live episodes above a number, newest first: those without a vector, or `anew` any."""
    rows = reader.execute(
        "SELECT n, content FROM episode"
        " WHERE n > ? AND (? OR NOT EXISTS(SELECT 1 FROM vector WHERE vector.n = episode.n))"
        " ORDER BY n DESC LIMIT ?",
        (above, int(anew), limit),
    )
    return [(row[0], row[1]) for row in rows]


def start(writer: OperationalWriter, made_by: EmbedderRow) -> None:
    """Forget every vector, and note which embedder makes those that follow."""
    writer.execute("DELETE FROM vector")
    writer.execute("INSERT OR REPLACE INTO embedder VALUES(1, ?, ?)", made_by)


def keep(writer: OperationalWriter, made: Iterable[tuple[int, bytes]]) -> None:
    """Keep vectors, but for those of episodes that were erased meanwhile."""
    for number, floats in made:
        writer.execute(
            "INSERT OR REPLACE INTO vector SELECT ?, ? WHERE EXISTS(SELECT 1 FROM episode WHERE n = ?)",
            (number, floats, number),
        )


def remove(tx: Transaction, number: int) -> None:
    """Forget the vector of an episode."""
    tx.write("DELETE FROM vector WHERE n = ?", (number,))
