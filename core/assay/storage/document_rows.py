"""The newest continuity document."""

from __future__ import annotations

from assay.storage.reader import Reader

__all__ = ["newest_body", "newest_version"]


def newest_body(reader: Reader) -> str:
    """Give the text of the newest version, "" when there is none."""
    rows = reader.execute("SELECT body FROM document ORDER BY version DESC LIMIT 1")
    return rows[0][0] if rows else ""


def newest_version(reader: Reader) -> int:
    """Give the number of the newest version, 0 when there is none."""
    version: int | None = reader.execute("SELECT max(version) FROM document")[0][0]
    return version or 0
