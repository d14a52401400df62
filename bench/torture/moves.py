"""Killed while a whole store moves: key rotation, migration, backup, export, import, restore. Nothing is half done.

    python -m bench.torture.moves MOVE FOLDER        the process that is killed

It makes its move again and again, and says after each that it returned; whoever killed it looks at what is there.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from bench.torture import log
from bench.torture.worker import say

from assay import AssayError, Store
from assay.audit.proofs.signing import Signer
from assay.storage import schema

__all__ = ["MOVES", "measure"]

_LINES = 300  # of the file that is imported
_BASE = 40  # episodes of the store that moves


def measure(folder: Path, *, long: bool, rounds: int = 0, only: Collection[str] = ()) -> dict[str, float]:
    """Kill each move `rounds` times; count the kills, the moves that had returned, and what is wrong afterwards."""
    chosen = {name: check for name, (_, check) in MOVES.items() if not only or name in only}
    rounds, dice = rounds or (200 if long else 20), random.Random(2)
    moved = wrong = 0
    for name, check in chosen.items():
        place = folder / name
        for number in range(rounds):
            place.mkdir()
            _fill(place / "memory.db")
            said = _killed(name, place, dice, after_one=number % 2 == 1)
            problems = _problems(place, check, said)
            moved, wrong = moved + len(said), wrong + bool(problems)
            if problems:
                log(f"moves: {name}, round {number}: {problems[:3]}")
            shutil.rmtree(place)
    return {"rounds": rounds * len(chosen), "moved": moved, "wrong": wrong}


def _fill(path: Path) -> None:
    with Store(path, synchronous="NORMAL", session="s") as store:
        store.episodes.record_many([{"content": f"event {number}: the pool was quiet"} for number in range(_BASE)])
        store.transfer.backup(path.with_name("base.bak"))
    lines = [json.dumps({"content": f"line {number}: a page that was copied"}) for number in range(_LINES)]
    path.with_name("lines.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _killed(name: str, place: Path, dice: random.Random, *, after_one: bool) -> list[str]:
    """Let a process make its move until it is killed, in its first move or in a later one; give what it said."""
    command = [sys.executable, "-m", "bench.torture.moves", name, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(1 + after_one)]
            time.sleep(dice.uniform(0.0, 0.25))
        finally:
            process.kill()  # by its id
        lines += process.stdout.readlines()
    assert lines[0] == "ready -\n", f"{name} ended before it began"
    return [line.split()[1] for line in lines[1:] if line.endswith("\n")]


def _problems(place: Path, check: Callable[[Path, Store, list[str]], Iterator[str]], said: list[str]) -> list[str]:
    try:
        with Store(place / "memory.db", session="s") as store:
            found = [*store.verify().problems, *check(place, store, said)]
            held = len(store.episodes.list(limit=10_000)) - _BASE
            return found if held >= 0 else [*found, f"{-held} episodes are gone"]
    except (AssayError, sqlite3.Error) as error:
        return [repr(error)]


# -- the moves, each endless, and what must be so after any kill -------------------------------------------------------


def _rotate(place: Path) -> Iterator[str]:
    signer: Signer | None = None
    for number in count():
        new = Signer.create(place / f"key{number}.pem")
        with Store(place / "memory.db", signer=signer) as store:
            key = store.audit.sign_with(new)
            yield key
            store.audit.checkpoint()
        signer = new


def _rotated(place: Path, store: Store, said: list[str]) -> Iterator[str]:
    keys = [_key(entry["data"]) for entry in store.audit.entries(limit=1_000) if entry["op"] == "key"]
    if keys[: len(said)] != said or len(keys) > len(said) + 1:
        yield f"{len(said)} rotations returned, the log has {len(keys)}, or others"
    if store.audit.key() != (keys[-1] if keys else None):
        yield "the key in force is not the last of the log"
    if keys:  # whoever holds it goes on
        with Store(place / "memory.db", signer=Signer.from_file(place / f"key{len(keys) - 1}.pem")) as again:
            again.audit.checkpoint()
            yield from again.verify(key=keys[-1]).problems


def _key(data: object) -> str:
    assert isinstance(data, dict)
    return str(data["key"])


def _backed_up(place: Path, store: Store, said: list[str]) -> Iterator[str]:
    for path in place.glob("copy*.db"):
        with Store(path, read_only=True) as copy:
            yield from copy.verify().problems
    yield from (f"{name} is missing" for name in said if not (place / name).exists())
    store.transfer.backup(place / f"copy{len(said) + 1}.db")  # what was left lying is in nobody's way


def _back_up(place: Path) -> Iterator[str]:
    with Store(place / "memory.db", session="s") as store:
        for number in count():
            store.record(f"night {number} was quiet")
            store.transfer.backup(place / f"copy{number}.db")
            yield f"copy{number}.db"


def _export(place: Path) -> Iterator[str]:
    with Store(place / "memory.db", session="s") as store:
        for number in count():
            store.transfer.export_jsonl(place / f"all{number}.jsonl")
            yield f"all{number}.jsonl"


def _exported(place: Path, store: Store, said: list[str]) -> Iterator[str]:
    store.transfer.export_jsonl(place / "again.jsonl")
    whole = (place / "again.jsonl").read_bytes()
    yield from (f"{path.name} is torn" for path in place.glob("all*.jsonl") if path.read_bytes() != whole)
    yield from (f"{name} is missing" for name in said if not (place / name).exists())


def _bring_in(place: Path) -> Iterator[str]:
    lines = (place / "lines.jsonl").read_text("utf-8")
    with Store(place / "memory.db", session="s") as store:
        for number in count():
            (place / "some.jsonl").write_text(lines.replace('"}', f', says {number}"}}'), "utf-8")
            store.transfer.import_jsonl(place / "some.jsonl")
            yield f"{number}"


def _brought_in(place: Path, store: Store, said: list[str]) -> Iterator[str]:
    held = len(store.episodes.list(limit=10_000)) - _BASE
    if held not in (len(said) * _LINES, (len(said) + 1) * _LINES):
        yield f"{len(said)} imports of {_LINES} lines returned, {held} lines are there"


def _restore(place: Path) -> Iterator[str]:
    with Store(place / "memory.db", session="s") as store:
        for number in count():
            store.record(f"night {number} was quiet")
            yield f"+{number}"
            store.transfer.restore(place / "base.bak", accept_rollback=True)
            yield f"={number}"


def _restored(place: Path, store: Store, said: list[str]) -> Iterator[str]:
    nights = [episode.content for episode in store.episodes.list(limit=1_000)][_BASE:]
    last = [f"night {len(said) // 2} was quiet"]  # which is there, or is about to come or to go
    if nights not in ([], last):
        yield f"after {said[-1:]} the store holds {nights}"


def _migrate(place: Path) -> Iterator[str]:
    for number in count():
        old = place / f"old{number}.db"
        shutil.copyfile(place / "base.bak", old)
        _take_back(old)
        yield f"?{old.name}"
        Store(old, session="s").close()
        yield old.name


def _migrated(place: Path, store: Store, said: list[str]) -> Iterator[str]:
    for name in said:
        path = place / name.removeprefix("?")
        with closing(sqlite3.connect(path)) as file:
            version = file.execute("PRAGMA user_version").fetchone()[0]
        if version != schema.SCHEMA_VERSION and path.name in said:
            yield f"{name} was migrated, and is of schema {version}"
        with Store(path, session="s") as old:
            yield from old.verify().problems
            if len(old.episodes.list(limit=1_000)) != _BASE:
                yield f"{name} does not hold what it held"
    yield from (f"{left.name} is left" for left in place.glob("*.part"))


def _take_back(path: Path) -> None:
    """Make a store look like one of the first schema: without the tables and indexes that came later."""
    with closing(sqlite3.connect(path)) as file:
        for number in range(2, schema.SCHEMA_VERSION + 1):
            script = Path(schema.__file__).with_name(f"schema_{number}.sql").read_text("utf-8")
            for kind, name in re.findall(r"CREATE (TABLE|INDEX) (\w+)", script):
                file.execute(f"DROP {kind} IF EXISTS {name}")
        file.execute("PRAGMA user_version=1")


MOVES: dict[str, tuple[Callable[[Path], Iterator[str]], Callable[[Path, Store, list[str]], Iterator[str]]]] = {
    "rotate": (_rotate, _rotated),
    "backup": (_back_up, _backed_up),
    "export": (_export, _exported),
    "import": (_bring_in, _brought_in),
    "restore": (_restore, _restored),
    "migrate": (_migrate, _migrated),
}


def main() -> None:
    """Make a move until somebody pulls the plug."""
    make, _ = MOVES[sys.argv[1]]
    say("ready", "-")
    for done in make(Path(sys.argv[2])):
        say("+", done)


if __name__ == "__main__":
    main()
