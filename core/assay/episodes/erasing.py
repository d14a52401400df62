"""Removing an episode for good: its row, its salt and its links go, a tombstone stays."""

from __future__ import annotations

from assay.episodes.succession import link, settle_key
from assay.storage import episode_rows, vector_rows
from assay.storage.transaction import Transaction

__all__ = ["erase_episode"]


def erase_episode(tx: Transaction, ref: str, *, reason: str) -> None:
    """Remove an episode in the current audit entry; what it had replaced follows its successor, or is live again.

    Args:
        ref: Full id of a live episode.
        reason: Kept in the tombstone.
    """
    row = episode_rows.by_ids(tx, [ref])[0]
    before = [target for _, target in episode_rows.edges_from(tx, "supersedes", [ref])]
    behind = [source for source, _ in episode_rows.edges_to(tx, "supersedes", [ref])]
    echoes = [source for source, _ in episode_rows.edges_to(tx, "echo", [ref])]
    for column in ("source", "target"):
        for edge in tx.find("edge", {column: ref}):
            if edge["kind"] == "derived" and column == "target":
                continue  # what was derived from it keeps the link: it is trusted no more than an erased source
            tx.delete("edge", edge["id"])
    for target in before if row["state_key"] is None else ():
        for source in behind:
            link(tx, "supersedes", source, target, made_by="rewired", reason="the episode between them was erased")
    if echoes:  # the oldest repetition becomes the first occurrence
        first, *others = echoes
        tx.update("episode", first, {"verdict": "new"})
        for other in others:
            link(tx, "echo", other, first, made_by="rewired")
    tx.delete("episode", ref)
    vector_rows.remove(tx, row["n"])
    if row["key_hash"] is not None:
        settle_key(tx, row["key_hash"])
    tx.insert("tombstone", ref, {"n": row["n"], "erased": tx.now, "reason": reason, "idem": row["idem"]})
