"""What replaces what: explicit succession, and the one live holder of a state key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.episodes.lineage import effective_trust
from assay.errors import Conflict
from assay.model.constants import SUCCESSION_COVER
from assay.storage import episode_rows
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = [
    "by_event",
    "claim_key",
    "heads",
    "key_holder",
    "link",
    "objection",
    "replaced",
    "resettle",
    "settle_key",
    "supersede",
]


def link(
    tx: Transaction,
    kind: str,
    source: str,
    target: str,
    *,
    made_by: str,
    reason: str = "",
    inferred: bool = False,
    effective_from: int | None = None,
) -> None:
    """Add an edge between two episodes to the current audit entry."""
    tx.insert(
        "edge",
        tx.new_id("ed"),
        {
            "kind": kind,
            "source": source,
            "target": target,
            "reason": reason,
            "made_by": made_by,
            "inferred": int(inferred),
            "effective_from": tx.now if effective_from is None else effective_from,
            "made": tx.now,
        },
    )


def replaced(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    """Give, for those of some episodes that were replaced, the direct successor."""
    return {target: source for source, target in episode_rows.edges_to(reader, "supersedes", ids)}


def _passed_on(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    return dict(episode_rows.edges_from(reader, "echo", ids)) | replaced(reader, ids)


def heads(
    reader: Reader, ids: Sequence[str], passed_on: Callable[[Reader, Sequence[str]], dict[str, str]] = _passed_on
) -> dict[str, str]:
    """Give, for those of some episodes that were replaced or repeat another, what holds in their place.

    Args:
        passed_on: Gives what stands directly in the place of some episodes; by default, as of now.
    """
    successor: dict[str, str] = {}
    wave = list(ids)
    while wave:
        step = passed_on(reader, wave)
        successor |= step
        wave = [ref for ref in dict.fromkeys(step.values()) if ref not in successor]
    result: dict[str, str] = {}
    for ref in ids:
        walked, head = {ref}, ref
        while (after := successor.get(head, head)) not in walked:
            walked.add(after)
            head = after
        # An erasure can close a ring of what replaces and what repeats: there each stands for itself.
        if head != ref and head not in successor:
            result[ref] = head
    return result


def supersede(tx: Transaction, old: str, new: str, *, reason: str = "", made_by: str) -> None:
    """Let one live episode take the place of another; both stay stored.

    Raises:
        Conflict: The link would be wrong; the message says why and nothing was written.
    """
    rows = {row["id"]: row for row in episode_rows.by_ids(tx, [old, new])}
    problem = objection(tx, rows[old], rows[new])
    if problem:
        raise Conflict(f"{new} cannot replace {old}: {problem}")
    link(tx, "supersedes", new, old, made_by=made_by, reason=reason, effective_from=rows[new]["happened"])


def objection(reader: Reader, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Say why an episode may not replace another, or ""."""
    from assay.text import content_set, covers

    if old["id"] == new["id"]:
        return "they are the same episode"
    if old["state_key"] is not None:
        return f"it is held under the state key {old['state_key']!r}: record the new value under that key"
    if replaced(reader, [old["id"]]):
        return "it was replaced already"
    if heads(reader, [new["id"]]).get(new["id"]) == old["id"]:
        return "it was itself replaced by it"
    if old["happened"] > new["happened"]:
        return "it happened later"
    trust = effective_trust(reader, [old["id"], new["id"]])
    if trust[new["id"]].rank < trust[old["id"]].rank:
        return f"{trust[new['id']].value} does not replace {trust[old['id']].value}"
    shared = content_set(old["content"]) & content_set(new["content"])
    cover = max(covers(old["content"], new["content"]), covers(new["content"], old["content"]))
    if not shared or cover < SUCCESSION_COVER:
        return "they speak of different things: fewer than a quarter of the words are shared"
    return ""


def key_holder(reader: Reader, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Give, of the episodes under one state key (newest by event time first), the one that holds it now."""
    ids = [row["id"] for row in rows]
    gone = replaced(reader, ids)
    flagged = {row["source"] for row in reader.find("edge", {"source": ids, "kind": "conflicts", "made_by": "key"})}
    live = (row for row in rows if row["id"] not in gone and row["id"] not in flagged and row["verdict"] != "echo")
    return next(live, None)


def claim_key(tx: Transaction, row: dict[str, Any]) -> None:
    """Place a new episode under its state key: the newest by event time holds it, the others are history.

    A value of lower effective trust never takes the place of a higher one: it is flagged as a conflict. The value
    that is held already, said again, is a repetition.
    """
    if row["verdict"] == "echo":
        return
    others = [other for other in episode_rows.keyed(tx, row["key_hash"]) if other["id"] != row["id"]]
    holder = key_holder(tx, others)
    if holder is not None:
        _rank(tx, *by_event(holder, row))


def settle_key(tx: Transaction, digest: bytes) -> None:
    """Place every value under a state key anew, after one was erased, quarantined or trusted otherwise."""
    every = {row["id"] for row in tx.find("episode", {"key_hash": digest})}
    for edge in tx.find("edge", {"source": sorted(every), "made_by": ("key", "rewired")}):
        if edge["target"] in every and edge["kind"] in ("supersedes", "suspended", "conflicts"):
            tx.delete("edge", edge["id"])
    holder: dict[str, Any] | None = None
    for row in sorted(episode_rows.keyed(tx, digest), key=lambda row: row["n"]):  # as `claim_key` met them
        if row["verdict"] != "echo":
            holder = row if holder is None else _rank(tx, *by_event(holder, row))


def by_event(holder: dict[str, Any], row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give (older, newer) by event time of the holder of a state key and a value that was recorded after it."""
    return (holder, row) if row["happened"] >= holder["happened"] else (row, holder)


def _rank(tx: Transaction, older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """Let the newer of two values replace the older, unless it is trusted less; give the one that holds."""
    trust = effective_trust(tx, [older["id"], newer["id"]])
    if trust[newer["id"]].rank < trust[older["id"]].rank:
        reason = "lower trust under the same state key"
        link(tx, "conflicts", newer["id"], older["id"], made_by="key", reason=reason)
        return older
    link(tx, "supersedes", newer["id"], older["id"], made_by="key", effective_from=newer["happened"])
    return newer


def resettle(tx: Transaction, ids: Sequence[str]) -> None:
    """Suspend the successions that some episodes may no longer win after a change of trust; resume those they may."""
    for digest in {row["key_hash"] for row in episode_rows.by_ids(tx, list(ids)) if row["key_hash"] is not None}:
        settle_key(tx, digest)
    edges = [row for row in tx.find("edge", {"source": list(ids)}) if row["kind"] in ("supersedes", "suspended")]
    edges = [row for row in edges if row["made_by"] != "key"]
    refs = [ref for row in edges for ref in (row["source"], row["target"])]
    held = {row["id"] for row in episode_rows.by_ids(tx, refs) if row["quarantined"]}
    trust = effective_trust(tx, refs)
    for row in edges:
        wins = row["source"] not in held and trust[row["source"]].rank >= trust[row["target"]].rank
        kind = "supersedes" if wins else "suspended"
        if kind != row["kind"]:
            tx.update("edge", row["id"], {"kind": kind})
