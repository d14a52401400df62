"""Bringing a file into a store: as it was when the store is empty and the file a whole export, else as new episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

from assay.errors import InvalidInput
from assay.model.episode import JsonValue
from assay.model.labels import Trust
from assay.storage.database import Database
from assay.storage.files import is_file
from assay.storage.transaction import Transaction
from assay.transfer.adopting import adopt
from assay.transfer.lines import FORMAT, records, refusal
from assay.transfer.records import Recorder
from assay.transfer.whole import import_whole, is_empty

__all__ = ["Imported", "Manner", "import_file", "import_records"]

Lines = Iterator[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought in.

    Attributes:
        added: Episodes that are new in this store.
        present: Episodes that it held already.
        lowered: Episodes that claimed more trust than this store gives an import.
        left_out: What was not brought in, by kind.
        whole: Whether every row was copied as it was, levels and document included.
    """

    added: int
    present: int = 0
    lowered: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    whole: bool = False


class Manner(TypedDict):
    """How an import is done.

    Attributes:
        trust: Of what names none.
        ceiling: The highest trust that anything may have here.
        heard: Whether somebody is told of each entry of the log; then all are kept in memory until the commit.
    """

    trust: Trust
    ceiling: Trust
    actor: str
    heard: bool


def import_file(database: Database, path: str, **manner: Unpack[Manner]) -> Imported:
    """Import an export, or lines that each have the arguments of a record; all of it or nothing.

    Raises:
        InvalidInput: The file cannot be read, or a line cannot be accepted; its number is named.
    """
    if not is_file(path):
        raise InvalidInput("file", f"{path} is no file that can be read")
    _, first = next(records(path), (0, dict[str, Any]()))
    if first.get("type") == "assay" and first.get("format") != FORMAT:
        raise refusal(1, f"not an export of format {FORMAT}: use the version that wrote it, or a newer one")
    with database.read() as reader:
        whole = first.get("type") == "assay" and is_empty(reader)
    if not whole:
        return import_records(database, records(path), **manner)
    copied = import_whole(database, path, ceiling=manner["ceiling"], actor=manner["actor"], heard=manner["heard"])
    return Imported(copied.episodes, lowered=len(copied.lowered), whole=True)


def import_records(
    database: Database, lines: Lines, *, document: str = "", session: str = "local", **manner: Unpack[Manner]
) -> Imported:
    """Record lines as new episodes of origin `import`, in one transaction; what is held already is left alone.

    Args:
        document: A continuity that becomes the first one of this store.
        session: Who brings it in.

    Raises:
        InvalidInput: A line cannot be accepted; its number is named.
    """

    def write(tx: Transaction) -> Imported:
        recorder = Recorder(tx, **manner)
        recorder.record(lines)
        if recorder.added:
            counted: dict[str, JsonValue] = {"episodes": recorder.added, "lowered": recorder.lowered}
            tx.entry("import", actor=manner["actor"], data=counted)
        if document and not adopt(tx, document, session=session, actor=manner["actor"]):
            recorder.left_out["document"] += 1
        return Imported(recorder.added, recorder.present, recorder.lowered, dict(recorder.left_out))

    return database.mutate(write)
