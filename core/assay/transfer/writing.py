"""Writing a file that did not exist: line by line, private, and complete or absent."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.errors import StorageFailure
from assay.storage import files

__all__ = ["Exported", "check_free", "write_lines"]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that was written: its path, its lines and its size in bytes."""

    path: str
    lines: int
    size: int


def check_free(path: str) -> None:
    """Check that a file can be written at a path where nothing is.

    Raises:
        StorageFailure: Something is there, or there is no such folder.
    """
    try:
        taken, folder = Path(path).is_symlink() or Path(path).exists(), Path(path).absolute().parent.is_dir()
    except OSError as error:
        raise StorageFailure(f"{path} cannot be written ({error.strerror}): choose another path") from error
    if taken:
        raise StorageFailure(f"{path} exists: nothing is overwritten; choose another path")
    if not folder:
        raise StorageFailure(f"{path}: there is no such folder")


def write_lines(path: str, lines: Iterable[bytes]) -> Exported:
    """Write lines into a new file.

    Raises:
        StorageFailure: Something is there already, or the folder cannot be written.
    """
    check_free(path)
    part, count = f"{path}.part", 0
    try:
        with os.fdopen(files.create(part), "wb") as file:
            for line in lines:
                file.write(line)
                count += 1
        files.place(part, path)
    except StorageFailure:  # `Busy` is an OSError as well
        raise
    except OSError as error:
        raise StorageFailure(f"{path} cannot be written ({error.strerror}); nothing is left of it") from error
    finally:
        files.discard(part)
    return Exported(path, count, Path(path).stat().st_size)
