"""The same treatment for anneal-memory, where it is installed: what it loses, hides or leaves behind.

    python -m bench.torture.beside PATH NAME        one writer

It audits in files of its own behind each commit. What its own check says afterwards is told beside what was done.
"""

from __future__ import annotations

import importlib
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import Any

from bench.engines import ANNEAL
from bench.torture.erase import left_in, secrets
from bench.torture.worker import say

__all__ = ["measure"]

WRITERS = 4
ROUNDS = 15
FLIPS = 300
SECRETS = 20
_DOCUMENT = "# memory\n\n## State\n{0}\n\n## Patterns\n\n## Decisions\n\n## Context\n{0}\n"


def measure(folder: Path, chosen: Sequence[str]) -> dict[str, dict[str, float]]:
    """Give the figures of those of the parts that can be played on it."""
    warnings.simplefilter("ignore")
    parts = {"kill": _killed, "tamper": _tampered, "bitflips": _flipped, "erase": _erased}
    found: dict[str, dict[str, float]] = {}
    for name in [name for name in parts if name in chosen]:
        (folder / name).mkdir()
        found[name] = parts[name](folder / name)
    return found


def _package() -> Any:
    return importlib.import_module(ANNEAL)


def _is_valid(path: Path) -> bool:
    return bool(_package().AuditTrail.verify(str(path)).valid)


# -- killed ------------------------------------------------------------------------------------------------------------


def _killed(folder: Path) -> dict[str, float]:
    """Kill writers; count acknowledged records that are gone, and records that no audit entry speaks of."""
    path, dice = folder / "memory.db", random.Random(1)
    _package().Store(str(path)).close()
    acked: set[str] = set()
    valid = 0
    for _ in range(ROUNDS):
        acked |= _killed_once(path, dice)
        valid += _is_valid(path)
    with closing(sqlite3.connect(path)) as db:
        held = {row[0] for row in db.execute("SELECT id FROM episodes")}
    unaudited = held - {entry["data"].get("episode_id") for entry in _entries(folder)}
    figures = {"rounds": ROUNDS, "acked": len(acked), "lost": len(acked - held), "unaudited": len(unaudited)}
    return {**figures, "said_valid": valid}


def _killed_once(path: Path, dice: random.Random) -> set[str]:
    with ExitStack() as stack:
        writers: list[subprocess.Popen[str]] = []
        for name in range(WRITERS):
            command = [sys.executable, "-W", "ignore", "-m", "bench.torture.beside", str(path), f"w{name}"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            writers.append(stack.enter_context(process))
            stack.callback(process.kill)
        lines = [process.stdout.readline() for process in writers if process.stdout]
        time.sleep(dice.uniform(0.0, 0.06))
        for process in writers:
            process.kill()
        lines += [line for process in writers for line in process.stdout or ()]
    return {line.split()[1] for line in lines if line.startswith("+ ") and line.endswith("\n")}


def _entries(folder: Path) -> Iterator[dict[str, Any]]:
    for file in folder.glob("*.audit.jsonl"):
        for line in file.read_text("utf-8", "replace").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # cut short by a kill


def _write(path: str, name: str) -> None:
    store = _package().Store(path)
    for number in count():
        say("+", store.record(f"{name} saw event {number}: the pool holds connections", "observation").id)


# -- edited behind its back --------------------------------------------------------------------------------------------


def _tampered(folder: Path) -> dict[str, float]:
    """Edit a store in each way that it has a place for; count the edits that its check notices, or an error."""
    made = folder / "made"
    _make(made)
    noticed = 0
    for number, edit in enumerate(_EDITS):
        place = folder / f"{number}"
        shutil.copytree(made, place)
        edit(place)
        noticed += not _is_valid(place / "memory.db") or _content(place / "memory.db") is None
    return {"cases": len(_EDITS), "noticed": noticed}


def _make(place: Path) -> None:
    place.mkdir()
    store = _package().Store(str(place / "memory.db"))
    first = store.record("Friday deploys were rolled back: nobody watched the dashboards", "observation")
    store.record("Friday deploy rolled back", "outcome", trust="tool", derived_from=[first.id])
    store.record("pool size is 20", "observation", state_key="db.pool")
    for number in range(60):
        store.record(f"shift {number} was quiet", "observation")
    shutil.copytree(place, place.with_name("was"))
    store.record("pool size is 40", "observation", state_key="db.pool")
    store.close()


def _sql(statement: str) -> Callable[[Path], None]:
    def edit(place: Path) -> None:
        with closing(sqlite3.connect(place / "memory.db")) as db, db:
            triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type='trigger'").fetchall()
            for name, _ in triggers:
                db.execute(f'DROP TRIGGER "{name}"')
            assert db.execute(statement).rowcount > 0, statement
            for _, trigger in triggers:  # as whoever edits a store would put them back
                db.execute(trigger)

    return edit


def _log(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def edit(place: Path) -> None:
        (file,) = place.glob("*.audit.jsonl")
        file.write_text("".join(change(file.read_text("utf-8").splitlines(keepends=True))), "utf-8")

    return edit


def _roll_back(place: Path) -> None:
    shutil.rmtree(place)
    shutil.copytree(place.with_name("was"), place)


_EDITS: tuple[Callable[[Path], None], ...] = (
    _sql("UPDATE episodes SET content='Friday deploys are safe' WHERE content LIKE 'Friday deploys%'"),
    _sql("DELETE FROM episodes WHERE content='shift 7 was quiet'"),
    _sql("UPDATE episodes SET timestamp='2020-01-01T00:00:00.000000Z' WHERE content='shift 8 was quiet'"),
    _sql("UPDATE episodes SET source='operator' WHERE content='shift 9 was quiet'"),
    _sql("UPDATE episode_trust SET trust='operator'"),
    _sql("DELETE FROM episode_trust"),
    _sql("DELETE FROM episode_derived"),
    _sql("DELETE FROM supersessions"),
    _sql("DELETE FROM state_keys"),
    _sql(
        "INSERT INTO episodes(id, timestamp, type, content, source, created_at)"
        " SELECT '00000000', timestamp, type, 'planted', source, created_at FROM episodes LIMIT 1"
    ),
    _log(lambda lines: [*lines[:5], lines[5].replace('"agent"', '"operator"'), *lines[6:]]),
    _log(lambda lines: [*lines[:5], *lines[6:]]),
    _log(lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]]),
    _log(lambda lines: lines[:-3]),
    _log(lambda lines: []),
    _roll_back,
)


# -- single bits -------------------------------------------------------------------------------------------------------


def _flipped(folder: Path) -> dict[str, float]:
    """Flip single bits of the file; count changes of content that neither an error nor its check reports."""
    _make(folder / "made")
    path, dice = folder / "made" / "memory.db", random.Random(5)
    whole, true = path.read_bytes(), _content(path)
    changed = undetected = 0
    for _ in range(FLIPS):
        place, bit = dice.randrange(len(whole)), 1 << dice.randrange(8)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        content = _content(path)
        changed += content != true
        undetected += content not in (None, true) and _is_valid(path)
    return {"flips": FLIPS, "changed": changed, "undetected": undetected}


def _content(path: Path) -> list[tuple[Any, ...]] | None:
    """Give what it says; None when it says that it cannot."""
    package = _package()
    try:
        with closing(package.Store(str(path), read_only=True)) as store:
            return [
                (episode.id, episode.content, episode.source, str(episode.type), episode.timestamp)
                for episode in store.recall(limit=1_000).episodes
            ]
    except (package.AnnealMemoryError, sqlite3.Error, ValueError):
        return None


# -- erased ------------------------------------------------------------------------------------------------------------


def _erased(folder: Path) -> dict[str, float]:
    """Delete secrets that a wrap had seen; count the secrets that some file still holds, in any coding."""
    package, hidden = _package(), secrets(SECRETS)
    store = package.Store(str(folder / "memory.db"))
    for secret in hidden:
        text = f"the code of the vault is {secret}"
        episode = store.record(text, "observation", metadata={"code": secret})
        wrap = package.prepare_wrap(store)
        package.validated_save_continuity(store, _DOCUMENT.format(text), wrap_token=wrap["wrap_token"])
        store.delete(episode.id)
    store.close()
    return {"secrets": SECRETS, "residue": sum(any(left_in(folder, secret)) for secret in hidden)}


if __name__ == "__main__":
    _write(sys.argv[1], sys.argv[2])
