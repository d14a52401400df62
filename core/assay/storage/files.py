"""Files beside a store: private to the user, whole or not there at all, and never written through a symbolic link."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from assay.errors import ReadOnly, StorageFailure

__all__ = ["claim", "create", "discard", "is_file", "move", "place"]

# A reader or a virus scanner may hold the target for a moment (Windows refuses to replace an open file).
_PATIENCE = 2.0
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def is_file(path: str) -> bool:
    """Tell whether a path leads to a file; one that cannot be reached is none."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def claim(path: str) -> bool:
    """Create an empty private file under a name that nothing has; of those who try at once, one succeeds.

    Raises:
        ReadOnly: The folder cannot be written.
    """
    try:
        os.close(os.open(path, _NEW, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise ReadOnly(f"{path} cannot be created ({error.strerror}): choose a folder that you can write to") from error
    return True


def create(path: str) -> int:
    """Create a private file, in the place of what an interrupted call may have left there; give its descriptor.

    Raises:
        ReadOnly: The folder cannot be written.
    """
    try:
        Path(path).unlink(missing_ok=True)
        return os.open(path, _NEW, 0o600)
    except OSError as error:
        raise ReadOnly(f"{path} cannot be created ({error.strerror}): choose a folder that you can write to") from error


def discard(path: str) -> None:
    """Remove a file that is of no use, as far as the disk lets it go: the next `create` tries again."""
    with suppress(OSError):
        Path(path).unlink()


def place(part: str, target: str) -> None:
    """Give a finished file its name; it is durable, under that name, when this returns.

    Raises:
        StorageFailure: The target is a symbolic link, another program holds it, or the disk refuses.
    """
    if Path(target).is_symlink():
        raise StorageFailure(f"{target} is a symbolic link: give the real path")
    try:
        _flush(part, os.O_RDWR)
        move(part, target)
        if os.name == "posix":  # NTFS journals the rename, and a folder cannot be opened there
            _flush(str(Path(target).absolute().parent), os.O_RDONLY)
    except OSError as error:
        raise StorageFailure(f"{target} cannot be written ({error.strerror})") from error


def move(source: str, target: str) -> None:
    """Give a file another name, in the place of what has it; waits a moment for whoever holds one of them."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            Path(source).replace(target)
        except PermissionError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _flush(path: str, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
