"""Looking for bytes in the file itself, wherever they stand."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holds"]

_BLOCK = 1 << 20


def holds(path: str, traces: Sequence[bytes]) -> bool:
    """Tell whether any of some bytes stand anywhere in a database's file, in use or not; never in `:memory:`.

    A file that cannot be looked through may hold them.
    """
    if path == ":memory:":
        return False
    overlap = max((len(trace) for trace in traces), default=1) - 1
    before = b""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            while block := file.read(_BLOCK):
                window = before + block
                if any(trace in window for trace in traces):
                    return True
                before = window[-overlap:] if overlap else b""
    except OSError:
        return True
    return False
