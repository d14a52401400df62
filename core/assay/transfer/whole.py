"""A whole export in an empty store: every row as it was, each of them checked, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from assay.beliefs.standing import recheck
from assay.episodes.recording import key_digest, text_digest
from assay.errors import Conflict, InvalidInput
from assay.model.labels import Origin, Trust
from assay.recall import index
from assay.storage import export_rows
from assay.storage.condition import dangling
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction
from assay.transfer.checks import check
from assay.transfer.exporting import is_portable
from assay.transfer.lines import FORMAT, records, refusal, to_row
from assay.transfer.settling import settle

__all__ = ["Copied", "import_whole", "is_empty"]

_ROWS_OF_AN_ENTRY = 500


class Copied(NamedTuple):
    """How many episodes were copied, and the refs of those whose claims were lowered."""

    episodes: int
    lowered: list[str]


def is_empty(reader: Reader) -> bool:
    """Tell whether a store holds nothing but its settings."""
    return not any(reader.count(table) for table in export_rows.ORDER if table != "setting")


def import_whole(database: Database, path: str, *, ceiling: Trust, actor: str, heard: bool) -> Copied:
    """Write every row of an export into an empty store, in one transaction.

    What claims more than the ceiling is lowered to it.

    Args:
        heard: Whether somebody is told of each entry of the log.

    Raises:
        Conflict: The store is no longer empty.
        InvalidInput: A line cannot be accepted; its number is named.
    """
    with database.read() as reader:
        shapes = {table: export_rows.columns(reader, table) for table in export_rows.ORDER}
    source, lowered = _Source(path, shapes), list[str]()

    def write(tx: Transaction) -> int:
        if not is_empty(tx):
            raise Conflict("the store was written to meanwhile: import into a new one")
        cap = tx.settings.import_level_cap  # of this store: the file brings settings of its own
        _clear_settings(tx)
        count = 0
        for number, (table, row) in enumerate(source.rows()):
            if number % _ROWS_OF_AN_ENTRY == 0:
                settle(tx, heard=heard)
                tx.entry("import", actor=actor, data={"part": number // _ROWS_OF_AN_ENTRY})
            count += table == "episode"
            _write(tx, table, row, ceiling, lowered)
        if loose := dangling(tx, 1):
            raise InvalidInput("file", f"{loose[0]} leads to nothing; nothing was written")
        if unearned := _unearned(tx, cap):
            fix = "set `import_level_cap` of this store to accept what its origin had accepted"
            raise InvalidInput("file", f"no evidence carries the level of {unearned}; nothing was written: {fix}")
        tx.entry("import", actor=actor, data={"origin": source.origin, "episodes": count, "lowered": len(lowered)})
        recheck(tx, lowered)
        index.rebuild(tx)
        return count

    return Copied(database.mutate(write), lowered)


def _unearned(tx: Transaction, cap: int) -> str:
    """Name a belief above the cap that lacks evidence for one of its steps, each earned in a wrap of its own."""
    steps: dict[str, dict[int, set[int]]] = {}
    for link in tx.find("evidence"):
        steps.setdefault(link["belief"], {}).setdefault(link["earned"], set()).add(link["wrap"])
    for row in tx.find("belief"):
        earned = [steps.get(row["id"], {}).get(level, set[int]()) for level in range(2, row["level"] + 1)]
        if row["level"] > cap and not (all(earned) and len(set[int]().union(*earned)) >= len(earned)):
            return repr(str(row["name"] or row["text"])[:60])
    return ""


def _clear_settings(tx: Transaction) -> None:
    tx.entry("import", actor="host", data={"part": "settings"})
    for row in tx.find("setting"):
        if is_portable(row["id"]):
            tx.delete("setting", row["id"])


def _write(tx: Transaction, table: str, row: dict[str, Any], ceiling: Trust, lowered: list[str]) -> None:
    ref = row.pop("id")
    if table == "episode":
        key = row["state_key"]
        row["text_hash"] = text_digest(tx, row["content"])
        row["key_hash"] = None if key is None else key_digest(tx, key)
        if Trust(row["trust"]).rank > ceiling.rank:
            row["trust"] = ceiling.value
            lowered.append(ref)
        if row["origin"] == Origin.OPERATOR and ceiling is not Trust.OPERATOR:
            row["origin"] = Origin.IMPORT.value
            lowered += [ref] if lowered[-1:] != [ref] else []
    elif table == "wrap":
        row["token_hash"] = ""  # it has ended: no token saves it any more
    tx.insert(table, ref, row)


class _Source:
    """The rows of an export, in its order.

    Attributes:
        origin: Which store it was made of, once the first row was read.
    """

    def __init__(self, path: str, shapes: dict[str, dict[str, tuple[bool, bool]]]) -> None:
        self.origin: dict[str, Any] = {}
        self._path = path
        self._shapes = shapes

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read the file from its beginning."""
        last = _START
        for number, record in records(self._path):
            if number == 1:
                self.origin = _origin(record)
                continue
            table, row, last = self._row(record, number, last)
            yield table, row

    def _row(
        self, record: dict[str, Any], number: int, last: tuple[int, Any]
    ) -> tuple[str, dict[str, Any], tuple[int, Any]]:
        table = record.get("type")
        if not isinstance(table, str) or table not in self._shapes:
            raise refusal(number, f"a row of {str(table)[:40]!r} is unknown")
        row = to_row(record, self._shapes[table], table, number)
        place = (list(self._shapes).index(table), row[export_rows.ORDER[table]])
        if place <= last or (table == "document" and place[1] != (last[1] if last[0] == place[0] else 0) + 1):
            raise refusal(number, "out of order")
        try:
            check(table, row)
        except InvalidInput as error:
            raise refusal(number, str(error)) from error
        return table, row, place


_START: tuple[int, Any] = (-1, None)


def _origin(record: dict[str, Any]) -> dict[str, Any]:
    if record.get("type") != "assay" or record.get("format") != FORMAT:
        raise refusal(1, f"not an export of format {FORMAT}: use the version that wrote it, or a newer one")
    origin = {name: record.get(name) for name in ("store", "entries", "root")}
    sound = isinstance(origin["store"], str) and isinstance(origin["root"], str) and type(origin["entries"]) is int
    if not sound or len(record) != len(origin) + 2:
        raise refusal(1, "it does not say which store it was made of")
    return origin
