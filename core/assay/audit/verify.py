"""Verifying a store: the log against itself, against every row, and against what was kept of it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from hashlib import sha256
from itertools import islice
from typing import Any

from assay.audit.log import OPERATIONS, decode
from assay.audit.merkle import root_of
from assay.audit.proofs.checkpoints import KEY, Source, origin, read_anchors, read_vkey
from assay.audit.proofs.tiles import WIDTH, TileCheck, Tree
from assay.audit.proofs.verify_proof import Note, Refused, read_note
from assay.audit.replay import Findings, Replay
from assay.audit.witnesses import Witnesses
from assay.errors import InvalidInput, StorageFailure
from assay.model.status import Verification
from assay.storage import audit_rows
from assay.storage.failures import translated
from assay.storage.reader import Reader

__all__ = ["verify"]


def verify(
    reader: Reader,
    *,
    limit: int = 20,
    anchors: Source | Sequence[Source] = (),
    max_age: timedelta | None = None,
    now: int = 0,
    key: str | None = None,
    since_anchor: bool = False,
    derived: Callable[[Reader], Iterable[str]] | None = None,
) -> Verification:
    """Check every page, entry, hash and row of a store, in memory that does not grow with it.

    Each live row must equal the last entry that wrote it, and no row may be missing, extra, or older than its last
    entry. Tiles, head and checkpoints must be those of the entries. Of operational rows only the receipts are
    covered, as far as a checkpoint has sealed them.

    Args:
        limit: How many problems are named.
        anchors: Checkpoints that were kept elsewhere: files of them, or texts.
        max_age: How old the newest anchor may be.
        now: The time, in microseconds since 1970.
        key: One of the keys that sign this log, from a place that the store's owner cannot write.
        since_anchor: Check what came after the newest anchor alone; without anchors, after the newest checkpoint.
        derived: Checks rows that are derived from others, and says what is wrong.

    Raises:
        InvalidInput: Anchors or key cannot be read, or no problem may be named.
    """
    if limit < 1:
        raise InvalidInput("limit", "at least 1")
    found = Findings(limit)
    notes = read_anchors(anchors, found.notes.append)
    if max_age is not None and not notes:
        raise InvalidInput("anchor_max_age", "needs anchors")
    oldest = None if max_age is None else now - max_age // timedelta(microseconds=1)
    trusted = read_vkey(key)
    check: _Check | None = None
    try:
        with translated("the store"):
            check = _Check(reader, found, notes, since_anchor=since_anchor)
            if check.run():
                check.witnesses.finish(check.size, oldest, trusted)
            for problem in derived(reader) if derived and not (check.base or found.enough) else ():
                found.add(problem)
    except StorageFailure as error:
        found.add(str(error))
    except (Refused, ValueError, LookupError, TypeError, RecursionError, AttributeError) as error:
        found.add(f"behind entry {check.size if check else 0}: cannot be read ({type(error).__name__}: {error})")
    return found.verification(*((check.size, root_of(check.tiles.frontier)) if check else (0, b"")))


class _Check:
    """One pass over the entries, each of which every part takes note of."""

    def __init__(self, reader: Reader, found: Findings, anchors: Sequence[Note], *, since_anchor: bool) -> None:
        self.reader = reader
        self.found = found
        self.base = _base(reader, anchors) if since_anchor else 0
        self.size = self.base >> 8 << 8  # hashing begins at a tile
        self.tree = Tree(reader)
        self.ts = 0
        self.tiles = TileCheck(reader, self.size, self.tree.frontier(0, self.size), found.add)
        self.replay = Replay(reader, found)
        self.witnesses = Witnesses(reader, found, anchors, max(0, self.base - 1))
        if self.base:
            self._catch_up()
        else:
            for problem in audit_rows.integrity(reader, found.limit):
                found.add(problem)

    def run(self) -> bool:
        """Go through the entries; False when that came to an early end."""
        entries = iter(audit_rows.entries(self.reader, self.size - 1))
        while rows := list(islice(entries, self._together())):
            stored = [entry for at, (seq, entry) in enumerate(rows, self.size) if seq == at]
            for entry in map(decode, stored):
                self._entry(self.size, entry)
                self.size += 1
            self.tiles.add(stored)
            if len(stored) < len(rows):  # the numbers ascend: behind a gap none is right
                self.found.add(f"entry {self.size} is missing")
                return False
            if self.size >= self.witnesses.awaited:
                self.witnesses.compare(self.size, root_of(self.tiles.frontier), self.ts)
            if self.found.problems and self.found.enough:
                return False
        self._head()
        if not self.base:
            self.tiles.finish()
        self.replay.finish(whole=not self.base)
        return True

    def _together(self) -> int:
        """Give how many entries may come at once: to the end of a tile, or to where a witness waits."""
        return max(1, int(min(WIDTH - self.size % WIDTH, self.witnesses.awaited - self.size)))

    def _entry(self, seq: int, entry: dict[str, Any]) -> None:
        op, ts, data = entry["op"], entry["ts"], entry.get("data", {})
        if entry["seq"] != seq:
            self.found.add(f"entry {seq} says that it is {entry['seq']}")
        if op not in OPERATIONS:
            self.found.add(f"entry {seq} has the unknown operation {op!r}")
        if (seq == 0) != (op == "init"):
            self.found.add(f"entry {seq}: only the first entry may be `init`")
        if seq == 0 and data["store"] != self.reader.meta("store_id").decode():
            self.found.add("entry 0 belongs to another store")
        if seq == 0 and data["secret"] != sha256(self.reader.meta("secret")).hexdigest():
            self.found.add("the secret of the store was changed")
        if ts < self.ts:
            self.found.add(f"entry {seq} is older than the one before it")
        self.ts = ts
        if seq >= self.base:
            if data:
                self.witnesses.take(seq, op, data)
            self.replay.take(seq, entry["rows"])

    def _catch_up(self) -> None:
        """Take from the entries that are not replayed what the anchors of their time need."""
        signed = self.reader.setting(KEY) is not None
        for seq, stored in audit_rows.mentioning(self.reader, '"op":"key"', -1) if signed else ():
            if seq < self.base:
                self.witnesses.take(seq, "key", decode(stored)["data"])
        for size in sorted({anchor.size for anchor in self.witnesses.anchors} | {self.size}):
            if 0 < size <= self.size and size >= self.witnesses.awaited:
                for _, stored in audit_rows.entries(self.reader, size - 2, 1):
                    self.witnesses.compare(size, self.tree.root(0, size), decode(stored)["ts"])

    def _head(self) -> None:
        head = self.reader.head()
        if head.size != self.size:
            self.found.add(f"the head counts {head.size} entries, the log has {self.size}")
        if head.ts != self.ts:
            self.found.add("the time of the head is not that of the last entry")
        roots = b"", root_of(head.frontier)
        if head.frontier != self.tiles.frontier or audit_rows.kept_root(self.reader) not in roots:
            self.found.add("the Merkle root computed from the entries is not that of the head")


def _base(reader: Reader, anchors: Sequence[Note]) -> int:
    """Give the size of the newest anchor that the log reaches, else of the newest checkpoint."""
    size, name = reader.head().size, origin(reader)
    newest = audit_rows.newest_checkpoint(reader)
    known = [read_note(newest[1])] if newest and not anchors else anchors
    return max((note.size for note in known if note.size <= size and note.origin == name), default=0)
