"""An attacker who may write the file and has our code: rewrites a store so that it agrees with itself again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay import Store
from assay.audit.merkle import append_leaf, leaf_hash
from assay.audit.proofs.checkpoints import of_head
from assay.audit.proofs.tiles import Tree, extend
from assay.audit.proofs.verify_proof import write_text
from assay.recall import index
from assay.storage import audit_rows
from assay.storage.reader import Head
from assay.storage.tables import AUDITED
from assay.storage.transaction import Transaction, commitment

__all__ = ["cut_off", "reword"]


def reword(path: Path, content: str) -> None:
    """Change the text of the first episode, and everything that vouches for it."""

    def edit(tx: Transaction) -> None:
        row: dict[str, Any] = {**tx.find("episode", order="n", limit=1)[0], "content": content}
        tx.write("UPDATE episode SET content=? WHERE id=?", (content, row["id"]))
        digest = commitment("episode", row["id"], [row[name] for name in AUDITED["episode"]], row["salt"])
        ((_, stored),) = audit_rows.entries(tx, row["seq"] - 1, 1)
        entry: dict[str, Any] = json.loads(stored)
        entry["rows"] = [[*item[:3], digest] if item[2] == row["id"] else item for item in entry["rows"]]
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        tx.write("UPDATE audit SET entry=? WHERE seq=?", (text.encode(), row["seq"]))

    _behind_the_log(path, edit)


def cut_off(path: Path, entries: int) -> None:
    """Remove the newest entries, and the episodes that they recorded."""

    def edit(tx: Transaction) -> None:
        size = tx.head().size - entries
        tx.write("DELETE FROM audit WHERE seq >= ?", (size,))
        tx.write("DELETE FROM episode WHERE seq >= ?", (size,))

    _behind_the_log(path, edit)


def _behind_the_log(path: Path, edit: Callable[[Transaction], None]) -> None:
    """Edit a store without an entry, then compute anew whatever is derived."""

    def write(tx: Transaction) -> None:
        edit(tx)
        index.rebuild(tx)
        frontier = b""
        size = ts = 0
        for size, (_, stored) in enumerate(audit_rows.entries(tx), 1):
            frontier = append_leaf(frontier, size - 1, leaf_hash(stored))
            ts = json.loads(stored)["ts"]
        audit_rows.append(tx, [], Head(size, ts, frontier))
        tx.write("DELETE FROM tile")
        extend(tx, size)
        tx.write("DELETE FROM checkpoint WHERE size > ?", (size,))
        name, tree = of_head(tx).origin, Tree(tx)
        for at, _ in list(audit_rows.checkpoints(tx)):
            note = write_text(name, at, tree.root(0, at)) + "\n"
            tx.write("UPDATE checkpoint SET note=? WHERE size=?", (note, at))

    with Store(path) as store:
        store._database.mutate(write)
