"""One bit of the file is flipped, again and again: whoever reads changed content must be able to know."""

from __future__ import annotations

import random
from pathlib import Path

from bench.torture import log

from assay import AssayError, Store

__all__ = ["measure"]


def measure(folder: Path, *, long: bool, flips: int = 0) -> dict[str, float]:
    """Flip single bits; count those that change what a store says and that neither an error nor `verify` reports."""
    flips = flips or (30_000 if long else 3_000)
    whole = _made(folder / "memory.db")
    path = folder / "flipped.db"
    path.write_bytes(whole)
    true, dice = _content(path), random.Random(5)
    undetected = changed = 0
    for _ in range(flips):
        place, bit = dice.randrange(len(whole)), 1 << dice.randrange(8)
        _put(path, place, whole[place] ^ bit)
        try:
            if _content(path) != true:
                changed += 1
                with Store(path, read_only=True) as store:
                    if store.verify():
                        undetected += 1
                        log(f"bitflips: bit {bit} of byte {place} changes content, and verify says valid")
        except AssayError:
            changed += 1
        for left in ("-wal", "-shm"):
            path.with_name(path.name + left).unlink(missing_ok=True)
        path.write_bytes(whole) if path.stat().st_size != len(whole) else _put(path, place, whole[place])
    return {"flips": flips, "changed": changed, "undetected": undetected}


def _made(path: Path) -> bytes:
    """Make a store of every kind of row, in one file."""
    with Store(path) as store:
        for number in range(120):
            store.record(f"event {number}: the pool holds {number * 7} connections", state_key=f"pool.{number % 9}")
        store.correct(store.record("deploys go out on Friday"), "deploys go out on Tuesday")
        store.erase(store.record("a secret that goes again"))
        store.wrap()
    return path.read_bytes()


def _content(path: Path) -> object:
    """Give all that a store says: its episodes, beliefs, continuity and the history of its keys."""
    with Store(path, read_only=True) as store:
        keys = [store.keys.history(f"pool.{number}") for number in range(9)]
        return store.episodes.list(limit=1_000), store.beliefs.list(), store.continuity.text(), keys


def _put(path: Path, place: int, byte: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))
