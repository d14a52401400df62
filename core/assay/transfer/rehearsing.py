"""Trying a change of schema on a copy, which is thrown away."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.audit.verify import verify
from assay.model.status import Verification
from assay.transfer.opening import open_file

__all__ = ["rehearse"]


def rehearse(path: str) -> Verification:
    """Bring a private copy of a store to the schema of this code, and verify what comes out; the store stays as it is.

    Raises:
        StorageFailure: The store cannot be read, or the copy cannot be written or changed.
    """
    with TemporaryDirectory(prefix="assay-") as folder:
        copy = str(Path(folder) / "memory.db")
        with closing(open_file(path, read_only=True)) as database, database.read() as reader:
            reader.copy_to(copy)
        with closing(open_file(copy)) as database, database.read() as reader:
            return verify(reader)
