"""The memory as of a moment: what was true of the world then, or what the store knew then, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.episodes import succession
from assay.episodes.lineage import effective_trust
from assay.storage import episode_rows
from assay.storage.reader import Reader

__all__ = ["View", "heads"]

_EVER = 1 << 62


@dataclass(frozen=True, slots=True)
class View:
    """Two moments in microseconds since 1970, inclusive: up to which the world has happened, and the store recorded.

    What was erased since is in no view, and what is trusted less today, or is in quarantine, is so in every view.
    """

    valid: int = _EVER
    known: int = _EVER

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Tell whether an episode had happened, and was recorded."""
        return bool(row["happened"] <= self.valid and row["recorded"] <= self.known)


def heads(reader: Reader, ids: Sequence[str], view: View | None) -> dict[str, str]:
    """Give, for those of some episodes that were replaced or only repeat another, what holds in their place.

    Args:
        view: As of when; None for now.
    """
    if view is None:
        return succession.heads(reader, ids)
    return succession.heads(
        reader, ids, lambda reader, wave: _firsts(reader, wave, view) | _replaced(reader, wave, view)
    )


def _firsts(reader: Reader, ids: Sequence[str], view: View) -> dict[str, str]:
    """Give, for those of some episodes that repeat another one of the view, the first occurrence."""
    repeated = dict(episode_rows.edges_from(reader, "echo", ids))
    seen = {row["id"] for row in episode_rows.by_ids(reader, list(dict.fromkeys(repeated.values()))) if view.holds(row)}
    return {ref: first for ref, first in repeated.items() if first in seen}


def _replaced(reader: Reader, ids: Sequence[str], view: View) -> dict[str, str]:
    """Give successors; those under a state key are found anew from the values that the view holds.

    The stored links of a key cannot tell: they are made again whenever one of its values goes.
    """
    edges = [row for row in reader.find("edge", {"target": list(ids), "kind": "supersedes"}) if row["made_by"] != "key"]
    behind = {row["id"]: row for row in episode_rows.by_ids(reader, [row["source"] for row in edges])}
    found = {
        row["target"]: row["source"]
        for row in edges
        if view.holds(behind[row["source"]]) and (row["made"] <= view.known or row["made_by"] == "rewired")
    }
    for digest in {row["key_hash"] for row in episode_rows.by_ids(reader, ids)} - {None}:
        found |= _under_key(reader, digest, view)
    return {ref: found[ref] for ref in ids if ref in found}


def _under_key(reader: Reader, digest: bytes, view: View) -> dict[str, str]:
    """Give, for each value under a state key that another replaced, the one that held at the end.

    As when they were recorded: a newer one that is trusted less replaces nothing, and stands beside.
    """
    rows = sorted(filter(view.holds, episode_rows.keyed(reader, digest)), key=lambda row: row["n"])
    repeated = _firsts(reader, [row["id"] for row in rows], view)
    values = [row for row in rows if row["id"] not in repeated]
    trust = effective_trust(reader, [row["id"] for row in values])
    gone: list[str] = []
    holder: dict[str, Any] | None = None
    for row in values:
        older, newer = (None, row) if holder is None else succession.by_event(holder, row)
        holder = newer
        if older is not None and trust[newer["id"]].rank < trust[older["id"]].rank:
            holder = older
        elif older is not None:
            gone.append(older["id"])
    last: str = holder["id"] if holder else ""
    return dict.fromkeys(gone, last)
