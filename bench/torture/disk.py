"""A disk that forgets: what was flushed stays, what was not may or may not."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.torture.trace import Event

__all__ = ["Disk"]

_SECTOR = 512


@dataclass
class _File:
    flushed: bytearray = field(default_factory=bytearray)
    current: bytearray = field(default_factory=bytearray)
    waiting: list[Event] = field(default_factory=list)


class Disk:
    """Files as a process sees them, and as they would be found after the power went.

    Args:
        start: Files that are on the disk already.
    """

    def __init__(self, start: Mapping[Path, bytes]) -> None:
        self._names = {str(path): _File(bytearray(data), bytearray(data)) for path, data in start.items()}
        self._flushed_names = dict(self._names)
        self._changes: list[tuple[str, _File | None]] = []  # names since their folder was flushed

    def see(self, event: Event) -> None:
        """Let something happen to a file or a name."""
        file = self._names.get(event.path)
        if event.call == "create":
            if file is None:
                self._name(event.path, _File())
            elif event.offset:
                self._apply(file, Event("cut", event.path))
        elif event.call == "rename" and file is not None:
            self._name(event.path, None)
            self._name(event.target, file)
        elif event.call == "remove" and file is not None:
            self._name(event.path, None)
        elif event.call == "sync":
            self._flush(event.path, file)
        elif file is not None:
            self._apply(file, event)

    def after_a_cut(self, target: Path, live: Path, dice: random.Random) -> None:
        """Write into a folder what is found there after a cut; shared memory is never found."""
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        names = dict(self._flushed_names)
        for name, file in self._changes[: dice.randrange(len(self._changes) + 1)]:  # a journal keeps their order
            names.pop(name, None) if file is None else names.update({name: file})
        for name, file in names.items():
            if not name.endswith("-shm"):
                path = target / Path(name).relative_to(live)
                path.write_bytes(_found(file, dice))

    def _name(self, name: str, file: _File | None) -> None:
        self._changes.append((name, file))
        self._names.pop(name, None) if file is None else self._names.update({name: file})

    def _flush(self, path: str, file: _File | None) -> None:
        if file is not None:
            file.flushed, file.waiting = bytearray(file.current), []
            # ext4 and XFS flush a new file's name with it; a change of name waits for the folder.
            self._changes = [change for change in self._changes if change != (path, file)]
            self._flushed_names.setdefault(path, file)
        else:
            self._flushed_names, self._changes = dict(self._names), []

    @staticmethod
    def _apply(file: _File, event: Event) -> None:
        _change(file.current, event, event.data)
        file.waiting.append(event)


def _found(file: _File, dice: random.Random) -> bytes:
    """Give a file's bytes: those flushed, and of the later ones each sector with the same chance."""
    data, share = bytearray(file.flushed), dice.choice((0.0, 0.5, 0.9, 1.0))
    for event in file.waiting:
        if event.call == "cut":
            if dice.random() < share:
                _change(data, event, b"")
            continue
        for start in range(0, len(event.data), _SECTOR):
            if dice.random() < share:
                piece = Event("write", event.path, event.offset + start)
                _change(data, piece, event.data[start : start + _SECTOR])
    return bytes(data)


def _change(data: bytearray, event: Event, written: bytes) -> None:
    end = event.offset + len(written)
    data.extend(bytes(max(0, end - len(data))))
    if event.call == "cut":
        del data[event.offset :]
    else:
        data[event.offset : end] = written
