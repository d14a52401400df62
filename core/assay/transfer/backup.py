"""A copy of a store, taken while it is in use: whole, checked, and with the head of its log beside it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.audit.proofs.checkpoints import of_head
from assay.audit.verify import verify
from assay.errors import Damaged
from assay.storage import files
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.transfer.opening import open_file
from assay.transfer.writing import check_free, write_lines

__all__ = ["Backup", "backup", "copy_checked", "examined", "note_path"]


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy that was made, and the head of the log in it.

    Attributes:
        entries: Number of entries of the log.
        root: Merkle root of the log, hex.
        size: Bytes of the file.
    """

    path: str
    entries: int
    root: str
    size: int


def backup(database: Database, target: str) -> Backup:
    """Copy a store into a new file, verify the copy, and write its checkpoint beside it.

    Raises:
        Damaged: The copy does not verify, because the store does not; nothing is left.
        StorageFailure: Something is at the target, or it cannot be written.
    """
    for ending in ("", "-wal", "-journal"):  # a log that lies there would be written into the copy
        check_free(f"{target}{ending}")
    with database.read() as reader:
        reader.copy_to(target)
    try:
        with examined(target) as copy:
            note = of_head(copy)
        write_lines(note_path(target), [note.note.encode()])
    except BaseException:
        files.discard(target)
        raise
    return Backup(target, note.size, note.root.hex(), Path(target).stat().st_size)


def note_path(target: str) -> str:
    """Name the file that holds the checkpoint of a backup."""
    return f"{target}.checkpoint"


@contextmanager
def examined(path: str) -> Generator[Reader]:
    """Open a copy to read it; its log must account for every row.

    Raises:
        Damaged: It does not verify.
        StorageFailure: It is no store, or it is newer than this code.
    """
    with closing(open_file(path, read_only=True)) as database, database.read() as reader:
        found = verify(reader, limit=1)
        if not found:
            raise Damaged(f"{path} does not verify: {found.problems[0]}")
        yield reader


def copy_checked(source: str, target: str) -> None:
    """Copy a store that verifies into a file of ours."""
    with examined(source) as reader:
        reader.copy_to(target)
