"""Proofs as bundles: JSON documents that the stand-alone verifier checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.audit.proofs import verify_proof
from assay.audit.proofs.checkpoints import covering
from assay.audit.proofs.tiles import Tree
from assay.audit.proofs.verify_proof import FORMAT, Note, Refused, encode64
from assay.errors import InvalidInput
from assay.model.episode import JsonValue
from assay.storage import audit_rows
from assay.storage.reader import Reader
from assay.storage.tables import AUDITED

__all__ = ["prove", "prove_growth", "verifier_source"]


def prove(reader: Reader, seqs: Sequence[int], *, content: Sequence[str] = ()) -> dict[str, JsonValue]:
    """Prove that entries are in the log.

    Args:
        seqs: Of the entries.
        content: Ids of rows to show, with the salt that opens what the log committed to.

    Raises:
        InvalidInput: An entry is not there, or no signed checkpoint covers it.
    """
    note = covering(reader, max(seqs) + 1)
    tree = Tree(reader)
    proofs: list[JsonValue] = []
    for seq in seqs:
        found = list(audit_rows.entries(reader, seq - 1, 1)) if seq < note.size else []
        if not found or found[0][0] != seq:
            raise InvalidInput("seq", f"there is no entry {seq}")
        stored = found[0][1].decode("utf-8", "surrogatepass")
        proof: dict[str, JsonValue] = {"seq": seq, "entry": stored, "path": _path(tree.inclusion(seq, note.size))}
        if content:
            proof["rows"] = [*_rows(reader, seq, content)]
        proofs.append(proof)
    return {"format": FORMAT, "checkpoint": note.note, "entries": proofs}


def prove_growth(reader: Reader, old: Note | int) -> dict[str, JsonValue]:
    """Prove that nothing was changed since a checkpoint, or since the log had some size.

    Raises:
        InvalidInput: The log was never of that size, or is not the one of that checkpoint.
    """
    size = old if isinstance(old, int) else old.size
    note = covering(reader, size)
    if not 0 < size <= note.size:
        raise InvalidInput("old", f"a size from 1 to {note.size}")
    tree = Tree(reader)
    root = tree.root(0, size)
    before = old if isinstance(old, Note) else Note(note.origin, size, root, "")
    path = tree.consistency(size, note.size)
    try:
        verify_proof.check_consistency(size, before.root, note.size, note.root, path)
    except Refused as error:
        raise InvalidInput("old", f"this log does not begin with that checkpoint ({error})") from error
    text = before.note if before.text else f"{verify_proof.write_text(note.origin, size, root)}\n"
    earlier: dict[str, JsonValue] = {"checkpoint": text, "path": _path(path)}
    return {"format": FORMAT, "checkpoint": note.note, "earlier": earlier, "entries": []}


def verifier_source() -> str:
    """Give the text of the stand-alone verifier."""
    return Path(verify_proof.__file__).read_text("utf-8")


def _rows(reader: Reader, seq: int, refs: Sequence[str]) -> Iterator[dict[str, JsonValue]]:
    """Show the rows that an entry wrote last, among some."""
    for ref in refs:
        for table in AUDITED:
            for _, at, salt, row in audit_rows.live_rows(reader, table, [ref]).values():
                if at == seq:
                    yield {"table": table, "id": ref, "salt": salt.hex(), "values": json.loads(row)[2:]}


def _path(hashes: Sequence[bytes]) -> list[JsonValue]:
    return [encode64(item) for item in hashes]
