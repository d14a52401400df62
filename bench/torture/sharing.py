"""One `Store` object for all: forked children, threads and tasks write at once, and everything is stored once."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

from assay import Store

__all__ = ["measure"]

CHILDREN, EACH_CHILD = 4, 50
THREADS, EACH_THREAD = 8, 100
TASKS, CANCELLED = 200, 40


def measure(folder: Path, *, long: bool, rounds: int = 0) -> dict[str, float]:
    """Give how many of a hundred records are stored once, and how many calls failed."""
    rounds = rounds or (20 if long else 1)
    shares: dict[str, list[float]] = {"forked": [], "threads": [], "tasks": []}
    errors = 0
    for number in range(rounds):
        with Store(folder / f"{number}.db") as store:  # forks come first: a process should have one thread then
            for name, write in (("forked", _fork), ("threads", _thread), ("tasks", _tasks)):
                expected, failed = write(store)
                texts = [episode.content for episode in store.episodes.list(limit=10_000)]
                stored = sum(texts.count(text) == 1 for text in expected)
                shares[name].append(100 * stored / len(expected))
                errors += failed
            errors += not store.verify()
    return {f"{name}_percent": round(min(found), 2) for name, found in shares.items()} | {"errors": errors}


def _fork(store: Store) -> tuple[list[str], int]:
    names = [f"child {number}" for number in range(CHILDREN)]
    children = [_child(store, name) for name in names]
    _record(store, "parent", EACH_CHILD)
    failed = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
    return [f"{name} {at}" for name in (*names, "parent") for at in range(EACH_CHILD)], failed


def _child(store: Store, name: str) -> int:
    child = os.fork()
    if child:
        return child
    try:
        _record(store, name, EACH_CHILD)
        os._exit(0)
    finally:
        os._exit(1)


def _record(store: Store, name: str, count: int) -> None:
    for at in range(count):
        store.record(f"{name} {at}")


def _thread(store: Store) -> tuple[list[str], int]:
    names = [f"thread {number}" for number in range(THREADS)]
    threads = [threading.Thread(target=_record, args=(store, name, EACH_THREAD)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [f"{name} {at}" for name in names for at in range(EACH_THREAD)], 0


def _tasks(store: Store) -> tuple[list[str], int]:
    """Start tasks and cancel some; those may have been written or not, the others must be."""

    async def write() -> int:
        tasks = [asyncio.create_task(store.aio.record(f"task {number}")) for number in range(TASKS)]
        await asyncio.sleep(0.005)
        for task in tasks[-CANCELLED:]:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        return sum(isinstance(one, Exception) for one in ended)  # a cancellation is none

    return [f"task {number}" for number in range(TASKS - CANCELLED)], asyncio.run(write())
