"""From rows to episodes, and from the refs that people and models write to full ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from assay.episodes.lineage import effective_trust, label_of
from assay.errors import NotFound
from assay.model.episode import Episode
from assay.model.labels import Kind, Origin, Trust, Verdict
from assay.model.refs import is_ref, normal_ref, short_ref
from assay.model.times import from_us
from assay.storage import episode_rows
from assay.storage.failures import of_a_row
from assay.storage.reader import Reader

__all__ = ["as_episode", "build", "by_numbers", "exists", "load", "resolve", "shorten"]


def load(reader: Reader, ids: Sequence[str]) -> list[Episode]:
    """Give the live episodes with some full ids, in the order asked."""
    episodes = {episode.ref: episode for episode in build(reader, episode_rows.by_ids(reader, ids))}
    return [episodes[ref] for ref in ids if ref in episodes]


def by_numbers(reader: Reader, ranges: Iterable[Sequence[int]]) -> list[Episode]:
    """Give the live episodes within ranges of numbers (first, last), in order."""
    rows: list[dict[str, Any]] = []
    for first, last in ranges:
        rows += episode_rows.between(reader, first, last)
    return build(reader, rows)


def build(reader: Reader, rows: Sequence[dict[str, Any]]) -> list[Episode]:
    """Turn rows into episodes, with their links and effective trust."""
    ids = [row["id"] for row in rows]
    sources: dict[str, list[str]] = {}
    for child, parent in episode_rows.edges_from(reader, "derived", ids):
        sources.setdefault(child, []).append(parent)
    related = [row["id"] for row in rows if row["verdict"] != Verdict.NEW.value]
    targets = {
        source: target
        for kind in ("echo", "refines", "conflicts")
        for source, target in episode_rows.edges_from(reader, kind, related)
    }
    successors = {target: source for source, target in episode_rows.edges_to(reader, "supersedes", ids)}
    trust = effective_trust(reader, ids, known={row["id"]: label_of(row) for row in rows}, parents=sources)
    return [
        as_episode(
            row,
            sources=sources.get(row["id"], ()),
            target=targets.get(row["id"]),
            successor=successors.get(row["id"]),
            effective=trust[row["id"]],
        )
        for row in rows
    ]


@of_a_row
def as_episode(
    row: dict[str, Any],
    *,
    sources: Sequence[str] = (),
    target: str | None = None,
    successor: str | None = None,
    effective: Trust | None = None,
) -> Episode:
    """Turn a row whose links are known into an episode.

    Args:
        effective: Its effective trust; its own label when left out.
    """
    trust = Trust(row["trust"])
    recorded = from_us(row["recorded"])
    return Episode(
        ref=row["id"],
        n=row["n"],
        kind=Kind(row["kind"]),
        content=row["content"],
        happened_at=recorded if row["happened"] == row["recorded"] else from_us(row["happened"]),
        recorded_at=recorded,
        origin=Origin(row["origin"]),
        source=row["source"],
        trust=trust,
        effective_trust=effective or trust,
        session=row["session"],
        run=row["run"],
        success=None if row["success"] is None else bool(row["success"]),
        state_key=row["state_key"],
        derived_from=tuple(sources),
        tags=() if row["tags"] == "[]" else tuple(json.loads(row["tags"])),
        metadata={} if row["metadata"] == "{}" else json.loads(row["metadata"]),
        idempotency_key=row["idem"],
        verdict=Verdict(row["verdict"]),
        verdict_target=target,
        replaced_by=successor,
    )


def exists(reader: Reader, ref: str) -> str | None:
    """Tell whether a full id is `live`, `erased` or never was (None)."""
    for found, erased in episode_rows.matching_prefix(reader, ref):
        if found == ref:
            return "erased" if erased else "live"
    return None


def resolve(reader: Reader, ref: str) -> str:
    """Find the full id of a live episode from its id or a unique prefix of it.

    Raises:
        NotFound: No episode has it, it was erased, or several begin with it.
    """
    wanted = normal_ref(ref)
    if not is_ref(wanted) or not wanted.startswith("ep_"):
        raise NotFound(ref, "is no ref of an episode: refs look like ep_k3v9q2ma and are printed by recall")
    found = episode_rows.matching_prefix(reader, wanted)
    if not found:
        raise NotFound(ref, "no episode of this store has this ref")
    if len(found) > 1:
        raise NotFound(ref, "several episodes begin with this ref: give more characters")
    full, erased = found[0]
    if erased:
        raise NotFound(ref, "this episode was erased")
    return full


def shorten(reader: Reader, ids: Iterable[str]) -> dict[str, str]:
    """Give, for each full id, the short prefix that is unique in the store and stays so while more is recorded."""
    newest = episode_rows.newest(reader)
    return {ref: short_ref(ref, episode_rows.neighbours(reader, ref), newest) for ref in ids}
