"""Queries on wraps, and on the episodes that none has seen yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from assay.storage.reader import Reader

__all__ = ["cited_before", "committed_ranges", "last_number", "open_wrap", "unwrapped", "unwrapped_count"]


def open_wrap(reader: Reader) -> dict[str, Any] | None:
    """Give the row of the open wrap, or None."""
    rows = reader.find("wrap", {"state": "open"}, limit=1)
    return rows[0] if rows else None


def last_number(reader: Reader) -> int:
    """Give the number of the newest wrap, 0 when there is none."""
    return reader.execute("SELECT max(n) FROM wrap")[0][0] or 0


def committed_ranges(reader: Reader) -> list[tuple[int, int]]:
    """Give the numbers of all wrapped episodes as merged ranges, in order."""
    windows = reader.execute("SELECT window FROM wrap WHERE state = 'committed'")
    spans = sorted((int(first), int(last)) for (window,) in windows for first, last in json.loads(window))
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def unwrapped(reader: Reader, ranges: Sequence[tuple[int, int]]) -> Iterable[int]:
    """Give the numbers of the live episodes outside some merged ranges, in order."""
    for first, last in _gaps(ranges):
        yield from (
            row[0]
            for row in reader.stream(
                "SELECT n FROM episode WHERE n BETWEEN ? AND ? AND quarantined = 0 ORDER BY n", (first, last)
            )
        )


def unwrapped_count(reader: Reader, ranges: Sequence[tuple[int, int]]) -> int:
    """Count the live episodes outside some merged ranges."""
    count = "SELECT count(*) FROM episode WHERE n BETWEEN ? AND ? AND quarantined = 0"
    return sum(reader.execute(count, gap)[0][0] for gap in _gaps(ranges))


def cited_before(reader: Reader) -> bool:
    """Tell whether a wrap has ever verified a citation."""
    return bool(reader.execute("SELECT 1 FROM evidence WHERE explanation <> '' LIMIT 1"))


def _gaps(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    gaps: list[tuple[int, int]] = []
    start = 1
    for first, last in ranges:
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    return [*gaps, (start, 2**62)]
