"""What a store says of itself, and of where something in it comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.episodes import lineage, loading
from assay.model.explanation import Explanation
from assay.model.status import Status
from assay.storage import audit_rows, document_rows, episode_rows, pending_rows, session_rows
from assay.storage.condition import schema_of
from assay.storage.reader import Reader

__all__ = ["explain", "status"]


def explain(reader: Reader, ref: str) -> Explanation:
    """Gather where an episode or a belief comes from.

    Raises:
        NotFound: The ref names nothing.
    """
    if ref.startswith("be_") or not ref.startswith("ep_"):
        return _explain_belief(reader, ref)
    full = loading.resolve(reader, ref)
    episode = loading.load(reader, [full])[0]
    return Explanation(
        full,
        episode=episode,
        sources=tuple(loading.load(reader, episode.derived_from)),
        derived=tuple(lineage.descendants(reader, [full])),
        replaces=tuple(target for _, target in episode_rows.edges_from(reader, "supersedes", [full])),
        replaced_by=episode.replaced_by,
        results=_results(reader, full),
        entries=tuple(seq for seq, _ in audit_rows.mentioning(reader, full, -1)),
    )


def _explain_belief(reader: Reader, ref: str) -> Explanation:
    from assay.beliefs.loading import evidence_of, find_belief

    belief = find_belief(reader, ref)
    evidence = evidence_of(reader, belief.ref)
    return Explanation(
        belief.ref,
        belief=belief,
        evidence=tuple(evidence),
        sources=tuple(loading.load(reader, list(dict.fromkeys(item.episode for item in evidence)))),
        results=_results(reader, belief.ref),
        entries=tuple(seq for seq, _ in audit_rows.mentioning(reader, belief.ref, -1)),
    )


def _results(reader: Reader, ref: str) -> tuple[tuple[bool, str], ...]:
    return tuple((bool(row["worked"]), row["note"]) for row in reader.find("result", {"subject": ref}, order="made"))


def status(reader: Reader, path: str, counter: Callable[[str], int]) -> Status:
    """Count what the store holds."""
    from assay.authority.baton import holder
    from assay.wrap.lifecycle import open_wrap, pending

    levels: dict[int, int] = {}
    for row in reader.find("belief"):
        levels[row["level"]] = levels.get(row["level"], 0) + 1
    wrap = open_wrap(reader)
    return Status(
        path=path,
        store_id=reader.meta("store_id").decode(),
        project=reader.setting("project_name"),
        schema_version=schema_of(reader),
        episodes=reader.count("episode"),
        pending=pending(reader),
        beliefs=sum(levels.values()),
        by_level=dict(sorted(levels.items())),
        wraps=reader.count("wrap", {"state": "committed"}),
        continuity_version=document_rows.newest_version(reader),
        continuity_tokens=counter(document_rows.newest_body(reader)),
        open_wrap=None if wrap is None else wrap["session"],
        baton=holder(reader),
        requires_baton=reader.settings.requires_baton,
        policy=reader.settings.policy,
        audit_entries=reader.head().size,
        size_bytes=_size(path),
        erase_pending=pending_rows.pending(reader),
        faults=pending_rows.faults(reader),
        loop_dropped=session_rows.counted(reader, "loop_dropped"),
    )


def _size(path: str) -> int:
    """Give the bytes of the file and its write-ahead log."""
    return sum(
        file.stat().st_size for file in (Path(path), Path(f"{path}-wal")) if path != ":memory:" and file.exists()
    )
