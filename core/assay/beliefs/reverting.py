"""How every belief stands at one version of the document, and going back to that."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from assay.beliefs.contradictions import kept as kept_contradictions
from assay.beliefs.contradictions import put_back
from assay.model.labels import Residence
from assay.storage.reader import Reader
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton

__all__ = ["restore", "snapshot"]

_VOID = "void_wraps"
_COLUMNS = ("level", "highest", "residence", "marks", "section", "position", "verified", "wraps_verified")


def snapshot(reader: Reader) -> dict[str, Any]:
    """Give what `restore` needs: numbers and digests of names, no text that an erase would have to find."""
    rows = [row for row in reader.find("belief") if row["residence"] != Residence.REST.value]
    standing = {row["id"]: [_named(row["name_key"]), *(row[column] for column in _COLUMNS)] for row in rows}
    return {"standing": standing, "void": reader.setting(_VOID) or [], "conflicts": kept_contradictions(reader)}


def restore(tx: Transaction, kept: Mapping[str, Any], wrap: int, lines: Sequence[tuple[str, str]]) -> None:
    """Put every belief back to how it stood, in the caller's audit entry.

    Args:
        kept: The snapshot.
        wrap: Number of the wrap that made it: evidence verified since then does not count any more.
        lines: Label and text of the lines of that version.
    """
    texts = {_named(skeleton(label)): (label, text) for label, text in lines}
    standing: Mapping[str, Sequence[Any]] = kept["standing"]
    for row in tx.find("belief"):
        columns: dict[str, Value] = {"residence": Residence.REST.value}
        if row["id"] in standing:
            name, *values = standing[row["id"]]
            columns = dict(zip(_COLUMNS, values, strict=True))
            if name in texts:
                label, text = texts[name]
                columns |= {"name": label, "name_key": skeleton(label), "text": text}
            elif columns["residence"] == Residence.WORKING.value:  # an erase took its line
                columns["residence"] = Residence.REST.value
        changed = {column: value for column, value in columns.items() if row[column] != value}
        if changed:
            tx.update("belief", row["id"], changed)
    if "conflicts" in kept:
        put_back(tx, kept["conflicts"])
    last = max((row["wrap"] for row in tx.find("evidence")), default=0)
    void = [*kept["void"], *([[wrap + 1, last]] if last > wrap else [])]
    tx.put_setting(_VOID, void)
    for row in tx.find("evidence"):
        off = any(first <= row["wrap"] <= end for first, end in void)
        if off != (row["earned"] < 0):  # evidence that does not count has its level below zero
            tx.update("evidence", row["id"], {"earned": -row["earned"]})


def _named(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
