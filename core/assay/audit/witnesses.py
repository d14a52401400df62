"""What speaks of the log from outside its entries: kept checkpoints, anchors, the keys that sign both, and receipts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from assay.audit.proofs.checkpoints import origin
from assay.audit.proofs.signing import check_handover
from assay.audit.proofs.verify_proof import Key, Note, Refused, check_signature, read_key, read_note, write_key
from assay.audit.receipts import check_seal
from assay.audit.replay import Findings
from assay.model.status import Breach
from assay.storage import audit_rows
from assay.storage.reader import Reader

__all__ = ["Witnesses"]


class Witnesses:
    """Compares the log with what was said of it, as its entries come by.

    A signature covers everything before it: the newest is checked, of the kept checkpoints and of the anchors.

    Args:
        anchors: Checkpoints that were kept elsewhere; those of other stores are passed over.
        start: The kept checkpoints of fewer entries are passed over.
    """

    def __init__(self, reader: Reader, found: Findings, anchors: Sequence[Note], start: int) -> None:
        self.origin = origin(reader)
        self.anchors = sorted((note for note in anchors if note.origin == self.origin), key=lambda note: note.size)
        self._reader = reader
        self._found = found
        self._keys: list[tuple[int, Key]] = []
        self._restores: list[tuple[int, int]] = []
        self._sealed = None if start else 0  # the newest receipt that is sealed; None when it is not known
        self._kept = self._checkpoints(start)
        self._next = next(self._kept, None)
        self._signed: Note | None = None
        self._ahead = list(self.anchors)
        self._against: list[Note] = []
        self._met: list[tuple[Note, int]] = []  # the anchors that agree, and the time of the last entry of each
        if anchors and not self.anchors:
            found.add(f"none of the anchors is of {self.origin}", Breach.FOREIGN)

    def take(self, seq: int, op: str, data: Mapping[str, Any]) -> None:
        """Take what an entry says of keys, restored backups and receipts."""
        if op == "key":
            old = write_key(self._keys[-1][1]) if self._keys else None
            self._keys.append((seq, read_key(check_handover(self.origin, old, data))))
        elif op == "restore" and "replaced" in data:
            self._restores.append((seq, int(data["replaced"]["size"])))
            self._found.notes.append(f"entry {seq}: a backup took the place of {self._restores[-1][1]} entries")
        elif op == "checkpoint" and "receipts" in data:
            if problem := check_seal(self._reader, data["receipts"], self._sealed):
                self._found.add(f"entry {seq}: {problem}")
            self._sealed = data["receipts"]["last"]

    def compare(self, size: int, root: bytes, ts: int) -> None:
        """Compare the root of the log at a size with what was said of it; `ts` is the time of its last entry."""
        while self._next is not None and self._next.size <= size:
            if self._next[1:3] != (size, root):
                self._found.add(f"the checkpoint of {self._next.size} entries has another root than the log")
            self._signed, self._next = self._next, next(self._kept, None)
        while self._ahead and self._ahead[0].size <= size:
            anchor = self._ahead.pop(0)
            if anchor.root == root:
                self._met.append((anchor, ts))
            else:
                self._against.append(anchor)

    @property
    def awaited(self) -> float:
        """Give the least size of the log for which `compare` has to be called."""
        return min((note.size for note in (self._next, *self._ahead[:1]) if note), default=inf)

    def finish(self, size: int, oldest: int | None, key: Key | None) -> None:
        """Say which witnesses the log does not bear out.

        Args:
            size: Of the log.
            oldest: The earliest time that the newest anchor may have, microseconds since 1970.
            key: One that must be among those that sign this log.
        """
        if self._next is not None:
            self._found.add(f"there is a checkpoint of {self._next.size} entries, the log has {size}")
        for anchor in [*self._against, *self._ahead]:
            if self._replaced(anchor.size):
                self._found.notes.append(f"the anchor of {anchor.size} entries is of the log that a backup replaced")
            elif anchor.size > size:
                self._found.add(f"an anchor covers {anchor.size} entries, the log has {size}", Breach.ROLLBACK)
            else:
                self._found.add(f"the first {anchor.size} entries are not those of the anchor", Breach.FORK)
        self._check_signature(self._signed, "checkpoint", Breach.TAMPERED)
        self._check_signature(self._met[-1][0] if self._met else None, "anchor", Breach.FORK)
        if key is not None and key not in [known for _, known in self._keys]:
            self._found.add(f"the key {write_key(key)} never signed for this log", Breach.FOREIGN)
        if oldest is not None and self._met and self._met[-1][1] < oldest:
            hours = (oldest - self._met[-1][1]) / 3_600_000_000
            self._found.add(f"the newest anchor that agrees is {hours:.1f} hours older than it may be", Breach.STALE)

    def _replaced(self, size: int) -> bool:
        """Tell whether a backup replaced the log that an anchor is of, and a later anchor vouches for that."""
        newest = self._met[-1][0].size if self._met else 0
        return any(seq < size <= replaced and seq < newest for seq, replaced in self._restores)

    def _check_signature(self, note: Note | None, name: str, breach: Breach) -> None:
        keys = [key for seq, key in self._keys if note is not None and seq < note.size]
        try:
            if note is not None and keys:
                check_signature(note, keys[-1])
        except Refused as error:
            self._found.add(f"the {name} of {note.size if note else 0} entries: {error}", breach)

    def _checkpoints(self, start: int) -> Iterator[Note]:
        for size, stored in audit_rows.checkpoints(self._reader, start):
            try:
                note = read_note(stored)
            except Refused:
                note = None
            if note is not None and (note.origin, note.size) == (self.origin, size):
                yield note
            else:
                self._found.add(f"the checkpoint of {size} entries is not of this log, or cannot be read")
