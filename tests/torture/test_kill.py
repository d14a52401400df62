"""A writer is killed without warning, again and again: what it acknowledged is there, and the log accounts for all."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from pathlib import Path

from assay import Store

from .workers import Worker

ROUNDS = 50


def test_nothing_acknowledged_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store(path).close()
    chance = random.Random(1)
    acknowledged: set[tuple[str, str]] = set()
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(path, "writer-0"))]
        for number in range(1, ROUNDS + 1):
            # The next writer is started before this one is killed, so that the store is never left to itself.
            workers.append(stack.enter_context(Worker(path, f"writer-{number}")))
            killed = workers[-2]
            killed.wait_for_first()
            time.sleep(chance.uniform(0.0, 0.05))
            acknowledged |= {(killed.name, f"event {count}") for count in killed.kill()}
        acknowledged |= {(workers[-1].name, f"event {count}") for count in workers[-1].kill()}

    with Store(path) as store:
        verification = store.verify()
        assert verification, verification.problems
        held = {(episode.source, episode.content) for episode in store.episodes.list(limit=10_000)}
    assert len(acknowledged) >= ROUNDS
    assert acknowledged <= held
    # A kill between a commit and its acknowledgement leaves at most one more for each writer.
    assert len(held) <= len(acknowledged) + ROUNDS + 1
    assert verification.entries == 1 + len(held)
