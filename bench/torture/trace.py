"""What a traced process did to the files of a folder, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CALLS", "Event", "Trace"]

CALLS = (
    *("openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "lseek"),
)
_LINE = re.compile(r"\d+ +(\w+)\((.*)\) += (-?\d+)")
_RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FILE = re.compile(r"^\d+<([^>]*)>")


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        call: `create`, `write`, `sync`, `cut` (to `offset` bytes), `rename` (to `target`), `remove`, or `say`: a line
            on standard output.
    """

    call: str
    path: str = ""
    offset: int = 0
    data: bytes = b""
    target: str = ""
    text: str = ""


class Trace:
    """Reads a file that `strace -f -xx -y` wrote."""

    def __init__(self, file: Path, folder: Path) -> None:
        self._file = file
        self._folder = str(folder)
        self._places: dict[str, int] = {}  # where `write` goes on, by path

    def __iter__(self) -> Iterator[Event]:
        begun: dict[str, str] = {}
        with self._file.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                process = line.split(" ", 1)[0]
                if line.rstrip().endswith("<unfinished ...>"):
                    begun[process] = line.rstrip().removesuffix("<unfinished ...>")
                    continue
                resumed = _RESUMED.match(line)
                whole = _LINE.match(begun.pop(process, "") + resumed[3] if resumed else line)
                if whole is not None and int(whole[3]) >= 0:
                    yield from self._events(whole[1], whole[2], int(whole[3]))

    def _events(self, call: str, arguments: str, result: int) -> Iterator[Event]:
        if call in ("openat", "rename", "renameat", "renameat2", "unlink", "unlinkat"):
            names = [bytes.fromhex(text.replace("\\x", "")).decode() for text in _TEXT.findall(arguments)]
            if not names or not names[0].startswith(self._folder):
                return
            if call == "openat":
                if "O_CREAT" in arguments or "O_TRUNC" in arguments:
                    yield Event("create", names[0], offset=int("O_TRUNC" in arguments))
                self._places[names[0]] = 0
            elif call.startswith("rename"):
                yield Event("rename", names[0], target=names[1])
            else:
                yield Event("remove", names[0])
            return
        file = _FILE.match(arguments)
        path = _path(file[1]) if file else ""
        if call == "write" and arguments.startswith("1<"):
            yield Event("say", text=_data(arguments)[:result].decode())
        elif path.startswith(self._folder):
            yield from self._of_file(call, path, arguments, result)

    def _of_file(self, call: str, path: str, arguments: str, result: int) -> Iterator[Event]:
        if call == "pwrite64":
            yield Event("write", path, int(arguments.rsplit(",", 1)[1]), _data(arguments)[:result])
        elif call == "write":
            yield Event("write", path, self._places.get(path, 0), _data(arguments)[:result])
            self._places[path] = self._places.get(path, 0) + result
        elif call == "lseek":
            self._places[path] = result
        elif call in ("fsync", "fdatasync"):
            yield Event("sync", path)
        elif call == "ftruncate":
            yield Event("cut", path, int(arguments.rsplit(",", 1)[1]))


def _path(written: str) -> str:
    return bytes.fromhex(written.replace("\\x", "")).decode() if written.startswith("\\x") else written


def _data(arguments: str) -> bytes:
    text = _TEXT.search(arguments)
    return bytes.fromhex(text[1].replace("\\x", "")) if text else b""
