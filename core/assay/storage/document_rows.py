"""The newest continuity document, and the one of a moment."""

from __future__ import annotations

from assay.storage.reader import Reader

__all__ = ["body_at", "newest_body", "newest_version"]


def newest_body(reader: Reader) -> str:
    """Give the text of the newest version, "" when there is none."""
    rows = reader.execute("SELECT body FROM document ORDER BY version DESC LIMIT 1")
    return rows[0][0] if rows else ""


def body_at(reader: Reader, moment: int) -> tuple[int, str]:
    """Give number and text of the version that was the newest at a moment, 0 and "" before the first."""
    rows = reader.execute("SELECT version, body FROM document WHERE made <= ? ORDER BY version DESC LIMIT 1", (moment,))
    return (rows[0][0], rows[0][1]) if rows else (0, "")


def newest_version(reader: Reader) -> int:
    """Give the number of the newest version, 0 when there is none."""
    version: int | None = reader.execute("SELECT max(version) FROM document")[0][0]
    return version or 0
