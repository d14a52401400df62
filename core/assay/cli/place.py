"""Where the command keeps its store when nobody says: the user's data folder, by the rules of the platform."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInput

__all__ = ["default_path"]

_FOLDER = "assay"
_FILE = "memory.db"


def default_path(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Give the path of the user's own store.

    `%LOCALAPPDATA%` on Windows, `~/Library/Application Support` on macOS, else `$XDG_DATA_HOME` or
    `~/.local/share` (XDG Base Directory Specification).

    Raises:
        InvalidInput: There is no home folder.
    """
    if platform == "win32":
        folder = _named(environ, "LOCALAPPDATA") or _home() / "AppData" / "Local"
    elif platform == "darwin":
        folder = _home() / "Library" / "Application Support"
    else:
        folder = _named(environ, "XDG_DATA_HOME") or _home() / ".local" / "share"
    return folder / _FOLDER / _FILE


def _named(environ: Mapping[str, str], name: str) -> Path | None:
    # The specification: a relative path is invalid and is ignored.
    value = environ.get(name, "")
    return Path(value) if value and Path(value).is_absolute() else None


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise InvalidInput("--db", "there is no home folder: name the store with --db or ASSAY_DB") from error
