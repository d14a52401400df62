"""Writing out everything that a store holds, as lines that an import turns into the same store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from assay.audit.merkle import root_of
from assay.model.settings import Settings
from assay.storage import export_rows
from assay.storage.reader import Reader
from assay.transfer.lines import FORMAT, dump, to_line

__all__ = ["export_lines", "is_portable"]

# Who may wrap is decided where a store lies; it does not travel.
_LOCAL: Final = frozenset({"baton", "requires_baton", "allow_sole_live"})
_PORTABLE: Final = frozenset(("project_name", "schema", "withheld", *Settings.__dataclass_fields__)) - _LOCAL


def export_lines(reader: Reader) -> Iterator[bytes]:
    """Give the export of a snapshot line by line; memory does not depend on how much there is."""
    digest, count = sha256(), 0
    for line in _lines(reader):
        encoded = line.encode() + b"\n"
        digest.update(encoded)
        count += 1
        yield encoded
    yield (dump({"type": "end", "lines": count, "sha256": digest.hexdigest()}) + "\n").encode()


def is_portable(setting: str) -> bool:
    """Tell whether a setting belongs to the memory, rather than to the place where it lies."""
    return setting in _PORTABLE or setting.startswith("revoked:")


def _lines(reader: Reader) -> Iterator[str]:
    yield dump({"type": "assay", "format": FORMAT, **_identity(reader)})
    for table in export_rows.ORDER:
        for row in export_rows.rows(reader, table):
            if (table == "setting" and not is_portable(row["id"])) or (table == "wrap" and row["state"] == "open"):
                continue  # an open wrap is somebody's work in this place; its episodes wait for the next one
            yield to_line(table, row)


def _identity(reader: Reader) -> dict[str, Any]:
    """Say which store this is, and how far its log goes; an import is its origin until something changes it."""
    for stored in export_rows.newest_entries(reader):
        entry = json.loads(stored)
        if entry["op"] == "import" and "origin" in entry.get("data", {}):
            return {name: entry["data"]["origin"][name] for name in ("store", "entries", "root")}
        if entry["rows"]:
            break
    head = reader.head()
    return {"store": reader.meta("store_id").decode(), "entries": head.size, "root": root_of(head.frontier).hex()}
