"""Trust that follows derivation: an item is trusted no further than the least trusted of its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.model.labels import Trust
from assay.storage import episode_rows
from assay.storage.failures import of_a_row
from assay.storage.reader import Reader

__all__ = ["descendants", "effective_trust", "label_of"]


def effective_trust(
    reader: Reader,
    ids: Sequence[str],
    *,
    known: Mapping[str, Trust] | None = None,
    parents: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Trust]:
    """Compute the least of each item's own label and those of its sources, over every hop.

    A source that was erased counts as external.

    Args:
        known: Labels that the caller has already read, by full id.
        parents: Direct sources that the caller has already read, by full id.
    """
    labels: dict[str, Trust] = dict(known or {})
    edges: dict[str, list[str]] = {ref: list(above) for ref, above in (parents or {}).items()}
    wave = list(dict.fromkeys(ids))
    reached = set(wave)
    while wave:
        missing = [ref for ref in wave if ref not in labels]
        labels |= {row["id"]: label_of(row) for row in episode_rows.by_ids(reader, missing)} if missing else {}
        if parents is None or any(ref not in ids for ref in wave):
            for child, parent in episode_rows.edges_from(reader, "derived", wave):
                edges.setdefault(child, []).append(parent)
        for ref in missing:
            if ref not in labels:
                labels[ref] = Trust.EXTERNAL
        wave = [parent for ref in wave for parent in edges.get(ref, ()) if parent not in reached]
        wave = list(dict.fromkeys(wave))
        reached |= set(wave)
    return _least(labels, edges, ids)


@of_a_row
def label_of(row: Mapping[str, Any]) -> Trust:
    """Give the trust that an episode's row stands for: external while it is quarantined."""
    return Trust.EXTERNAL if row["quarantined"] else Trust(row["trust"])


def _least(labels: dict[str, Trust], edges: Mapping[str, Sequence[str]], ids: Sequence[str]) -> dict[str, Trust]:
    least = dict(labels)
    changed = bool(edges)
    while changed:  # ends after as many rounds as the longest chain has hops, at most
        changed = False
        for child, parents in edges.items():
            lowest = min((least[parent] for parent in parents), key=lambda trust: trust.rank)
            if lowest.rank < least[child].rank:
                least[child] = lowest
                changed = True
    return {ref: least[ref] for ref in ids}


def descendants(reader: Reader, ids: Sequence[str]) -> list[str]:
    """Give the full ids of everything that was derived from some episodes, over every hop."""
    found: dict[str, None] = {}
    wave = list(ids)
    while wave:
        children = [child for child, _ in episode_rows.edges_to(reader, "derived", wave)]
        wave = [child for child in dict.fromkeys(children) if child not in found and child not in ids]
        found |= dict.fromkeys(wave)
    return list(found)
