"""Recording one episode: one row, its links and its verdict."""

from __future__ import annotations

from typing import Any, NamedTuple

from assay.episodes.draft import Checked, Draft, checked
from assay.episodes.loading import as_episode, build, resolve
from assay.episodes.succession import claim_key, link, replaced, supersede
from assay.errors import Conflict, InvalidInput, NotAuthorised, TooLarge
from assay.model.constants import CLOCK_SKEW
from assay.model.episode import Episode
from assay.model.labels import Origin, Trust, Verdict
from assay.model.settings import RANGES
from assay.storage import episode_rows
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["Written", "as_read", "key_digest", "prepare", "text_digest", "write"]

_ALWAYS_FITS = RANGES["max_content_bytes"][0]
_SKEW_US = int(CLOCK_SKEW.total_seconds()) * 1_000_000


def prepare(draft: Draft) -> Checked:
    """Scrub secrets from a draft and check it, before the store is touched.

    Raises:
        InvalidInput: An argument cannot be accepted.
    """
    return checked(draft, scrub=_scrubbed)


class Written(NamedTuple):
    """A row that was recorded, or that the idempotency key found; `whole` when it has no links but the target."""

    row: dict[str, Any]
    target: str | None = None
    whole: bool = False


def as_read(tx: Transaction, written: Written) -> Episode:
    """Give what was recorded as it would be read back."""
    return as_episode(written.row, target=written.target) if written.whole else build(tx, [written.row])[0]


def write(tx: Transaction, item: Checked, *, default_trust: Trust, ceiling: Trust) -> Written:
    """Write an episode in the caller's transaction.

    Raises:
        Conflict: The idempotency key belongs to another content, or a succession is not possible.
        NotAuthorised: The trust asked for is above the ceiling.
        NotFound: A ref names nothing.
        TooLarge: The content is over the store's limit.
    """
    draft = item.draft
    size = len(item.content) if item.content.isascii() else len(item.content.encode())
    if size > _ALWAYS_FITS and size > tx.settings.max_content_bytes:
        raise TooLarge("content", size, tx.settings.max_content_bytes, "bytes")
    digest = text_digest(tx, item.content)
    used, said = episode_rows.already(tx, draft.idempotency_key, digest)
    if used:
        return Written(_stored(tx, item))
    trust = _trust(draft, default_trust, ceiling)
    happened = tx.now if item.happened is None else item.happened
    if happened > tx.now + _SKEW_US and draft.origin is not Origin.OPERATOR:
        raise InvalidInput("happened_at", "it lies in the future: record what happened, or open an intention")
    parents = list(dict.fromkeys([resolve(tx, ref) for ref in draft.derived_from]))
    old = [resolve(tx, ref) for ref in draft.supersedes]
    key = None if item.state_key is None else key_digest(tx, item.state_key)
    verdict, target = _verdict(tx, item, digest if said else None, key)
    ref = tx.new_id("ep")
    row: dict[str, Any] = {
        "id": ref, "n": episode_rows.next_number(tx), "kind": draft.kind.value, "content": item.content,
        "happened": happened, "recorded": tx.now, "origin": draft.origin.value, "source": item.source,
        "session": item.session, "run": item.run, "trust": trust.value,
        "success": None if draft.success is None else int(draft.success), "state_key": item.state_key,
        "tags": item.tags, "metadata": item.metadata, "idem": draft.idempotency_key, "verdict": verdict.value,
        "text_hash": digest, "key_hash": key, "quarantined": 0,
    }  # fmt: skip
    tx.entry("record", actor=item.source or draft.origin.value, trust=trust)
    tx.insert("episode", ref, row)
    for parent in parents:
        link(tx, "derived", ref, parent, made_by="session" if draft.inferred else "caller", inferred=draft.inferred)
    if target is not None:
        link(tx, verdict.value, ref, target, made_by="caller" if draft.verdict else "text")
    for replaced_ref in old:
        supersede(tx, replaced_ref, ref, made_by="caller")
    if item.state_key is not None:
        claim_key(tx, row)
    return Written(row, target, draft.verdict is None and item.state_key is None and not parents)


def text_digest(reader: Reader, content: str) -> bytes:
    """Digest a text so that equal words give equal bytes: folded, keyed by the store's secret, 16 bytes.

    Keyed, because a plain hash in a free page would confirm a guess of what was erased.
    """
    return reader.keyed_digest("text", " ".join(content.split()).casefold())


def key_digest(reader: Reader, state_key: str) -> bytes:
    """Digest a state key for its index, 16 bytes; case and spaces do not matter."""
    from assay.text import fold

    return reader.keyed_digest("key", fold(state_key).strip())


def _stored(tx: Transaction, item: Checked) -> dict[str, Any]:
    """Give what was recorded under the item's idempotency key."""
    key = item.draft.idempotency_key
    rows = episode_rows.select(tx, "idem = ?", (key,))
    if not rows:
        raise Conflict(f"idempotency_key {key!r} belongs to an episode that was erased")
    if rows[0]["content"] != item.content or rows[0]["kind"] != item.draft.kind.value:
        raise Conflict(f"idempotency_key {key!r} was used for another content: use a key per event")
    return rows[0]


def _scrubbed(text: str) -> str:
    from assay.text.secrets import redact

    return redact(text)[0]


def _trust(draft: Draft, default: Trust, ceiling: Trust) -> Trust:
    trust = draft.trust
    if trust is None:
        trust = min(default, Trust.TOOL, key=lambda label: label.rank) if draft.origin is Origin.TOOL else default
    if trust is not ceiling and trust.rank > ceiling.rank:
        raise NotAuthorised(
            f"trust: {trust.value} is above this store's ceiling, {ceiling.value}; open the store with trust_ceiling="
        )
    return trust


def _verdict(tx: Transaction, item: Checked, digest: bytes | None, key: bytes | None) -> tuple[Verdict, str | None]:
    """Relate the new text to what is held: the caller's word first, then identical text under the same state key.

    Args:
        digest: None when no episode has the text.
    """
    draft = item.draft
    if draft.verdict is not None:
        target = None if draft.target is None else resolve(tx, draft.target)
        if target is not None and replaced(tx, [target]):
            raise Conflict(f"target {draft.target!r} was replaced: relate the record to what replaced it")
        return draft.verdict, target
    same = [] if digest is None else episode_rows.by_text(tx, digest, key)
    if key is not None:  # a value is its letters and its metadata: another spelling is another value
        same = [row for row in same if (row["content"], row["metadata"]) == (item.content, item.metadata)]
    if not same:
        return Verdict.NEW, None
    gone = replaced(tx, [row["id"] for row in same])
    for row in same:
        if row["id"] in gone or row["kind"] != draft.kind.value:
            continue
        if draft.success is not None and row["success"] is not None and bool(row["success"]) != draft.success:
            return Verdict.CONFLICTS, row["id"]
        return Verdict.ECHO, row["id"]
    return Verdict.NEW, None
