"""Lines that become new episodes: recorded as anything else is, with the origin `import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from assay.episodes.draft import Draft, as_draft, as_member
from assay.episodes.loading import exists, resolve
from assay.episodes.recording import prepare, write
from assay.episodes.succession import link, supersede
from assay.errors import AssayError, Conflict, InvalidInput
from assay.model.labels import Origin, Trust
from assay.recall.index import flush_if_due
from assay.storage import episode_rows
from assay.storage.transaction import Transaction
from assay.transfer.lines import dump, is_text, refusal
from assay.transfer.settling import settle

__all__ = ["Recorder"]

# What an export says of an episode beyond the arguments of a record: decided anew here.
_OWN_WORDS = frozenset(("type", "ref", "n", "recorded_at", "verdict", "target", "quarantined"))
_ENTRIES_AT_ONCE = 500
_LINKS = frozenset(("derived", "supersedes"))


@dataclass(slots=True)
class Recorder:
    """Records lines in the caller's transaction.

    Attributes:
        trust: Of lines that name none.
        ceiling: Lines that claim more are lowered to it.
        heard: Whether somebody is told of each entry of the log.
        newest: Number of the newest episode.
        left_out: What was not recorded, by kind.
    """

    tx: Transaction
    trust: Trust
    ceiling: Trust
    actor: str
    heard: bool
    newest: int = 0
    added: int = 0
    present: int = 0
    lowered: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    _returned: dict[str, str] = field(default_factory=dict[str, str])  # their refs of what came from here, and ours

    def record(self, lines: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """Record every line, or none.

        Raises:
            InvalidInput: A line cannot be accepted; its number is named.
        """
        before = self.newest = episode_rows.last_number(self.tx)
        for number, record in lines:
            kind = record.get("type", "episode")
            if len(self.tx.entries) >= _ENTRIES_AT_ONCE:
                settle(self.tx, heard=self.heard)
            try:
                if kind == "episode":
                    self._episode(record, number)
                elif kind == "edge" and str(record.get("kind")) in _LINKS:
                    self._link(record)
                elif kind not in ("assay", "end"):
                    self.left_out[str(kind)[:40]] += 1
            except AssayError as error:
                raise refusal(number, str(error)) from error
        flush_if_due(self.tx, range(before + 1, self.newest + 1))

    def _episode(self, record: Mapping[str, Any], number: int) -> None:
        ref = record.get("ref")
        if self._is_known(ref, record):
            return
        draft = self._draft(record, _key(record, number))
        if self.tx.count("tombstone", {"idem": draft.idempotency_key}):
            self.left_out["erased"] += 1
            return
        row = write(self.tx, prepare(draft), default_trust=self.trust, ceiling=self.ceiling).row
        if row["n"] > self.newest:
            self.newest, self.added = row["n"], self.added + 1
        else:
            self.present += 1

    def _is_known(self, ref: Any, record: Mapping[str, Any]) -> bool:
        """Tell whether the line is an episode of this very store, held, erased, or in quarantine."""
        if record.get("quarantined"):
            self.left_out["quarantined"] += 1
            return True
        if ref is None:
            return False
        if not is_text(ref):
            raise InvalidInput("ref", "a text is needed")
        state = exists(self.tx, ref)
        if state == "live" and not self._says_the_same(ref, record):
            raise Conflict(f"{ref} is held with another content")
        state = state or self._came_back(ref, record)
        if state == "erased":
            self.left_out["erased"] += 1
        elif state == "live":
            self.present += 1
        return state is not None

    def _came_back(self, ref: str, record: Mapping[str, Any]) -> str | None:
        """Give the state of an episode of this store that another one imported, and now exports by its own ref."""
        key = record.get("idempotency_key")
        own = key.removeprefix("import:") if is_text(key) and key.startswith("import:ep_") else ""
        state = exists(self.tx, own) if own else None
        if state is None or (state == "live" and not self._says_the_same(own, record)):
            return None
        self._returned[ref] = own
        return state

    def _says_the_same(self, ref: str, record: Mapping[str, Any]) -> bool:
        return bool(episode_rows.by_ids(self.tx, [ref])[0]["content"] == record.get("content"))

    def _draft(self, record: Mapping[str, Any], key: str) -> Draft:
        event = {name: value for name, value in record.items() if name not in _OWN_WORDS}
        for name in ("derived_from", "supersedes"):
            event[name] = [self._held(ref) for ref in _as_list(name, event.get(name) or [])]
        claimed = None if event.get("trust") is None else as_member("trust", event["trust"], Trust)
        draft = as_draft({**event, "idempotency_key": key}, origin=Origin.IMPORT, session=None)
        trust = min(claimed or self.trust, self.ceiling, Trust.AGENT, key=lambda label: label.rank)
        self.lowered += trust is not (claimed or trust)
        return draft._replace(origin=Origin.IMPORT, trust=trust)

    def _link(self, record: Mapping[str, Any]) -> None:
        """Add a link of what was imported; what was here already keeps the links and the trust that it has."""
        kind, source, target = record["kind"], self._imported(record.get("source")), self._here(record.get("target"))
        if source is None:
            if self._here(record["source"]) is None:
                self.left_out["edge"] += 1
            return
        if self.tx.count("edge", {"kind": kind, "source": source, "target": target or ""}):
            return
        if target is None and kind == "derived":  # its source did not come along: nobody can say how far to trust it
            if not self.tx.count("episode", {"id": source, "trust": Trust.EXTERNAL.value}):
                self.tx.entry("import", actor=self.actor, data={"link": kind})
                self.tx.update("episode", source, {"trust": Trust.EXTERNAL.value})
        elif kind == "derived":
            self.tx.entry("import", actor=self.actor, data={"link": kind})
            link(self.tx, kind, source, target or "", made_by="import", inferred=bool(record.get("inferred")))
        elif target is not None and exists(self.tx, target) == "live":
            self._succession(target, source)

    def _succession(self, old: str, new: str) -> None:
        self.tx.entry("import", actor=self.actor, data={"link": "supersedes"})
        try:
            supersede(self.tx, old, new, made_by="import")
        except Conflict:
            self.tx.entries.pop()
            self.left_out["succession"] += 1

    def _here(self, ref: Any) -> str | None:
        """Give the full id that an episode has in this store, held or erased; None when it never was here."""
        found = self._imported(ref) or self._imported(ref, "tombstone") or self._returned.get(ref)
        return found or (ref if exists(self.tx, ref) else None)

    def _imported(self, ref: Any, table: str = "episode") -> str | None:
        if not is_text(ref):
            raise InvalidInput("ref", "a text is needed")
        rows = self.tx.find(table, {"idem": _named(ref)})
        return str(rows[0]["id"]) if rows else None

    def _held(self, ref: Any) -> str:
        return self._here(ref) or resolve(self.tx, ref)


def _as_list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(name, "a list of refs is needed")
    return value  # pyright: ignore[reportUnknownVariableType]


def _key(record: Mapping[str, Any], number: int) -> str:
    """Give the key by which the same line, imported again, is recognised."""
    if isinstance(record.get("ref"), str):
        return _named(record["ref"])
    key = record.get("idempotency_key")
    return key if isinstance(key, str) else f"import:{number}:{_digest(dump(record))}"


def _named(ref: str) -> str:
    return f"import:{ref}" if ref.isascii() and ref.replace("_", "").isalnum() else f"import:{_digest(ref)}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
