"""Several processes write into one store at once: every acknowledged episode is there, once, and audited."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from assay import Store

from .workers import Worker

PROCESSES = 4
EACH = 500


def test_four_processes_lose_nothing_and_leave_nothing_unaudited(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store(path).close()
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(path, f"writer-{number}", EACH)) for number in range(PROCESSES)]
        acknowledged = [worker.finish() for worker in workers]

    assert [len(numbers) for numbers in acknowledged] == [EACH] * PROCESSES
    with Store(path) as store:
        verification = store.verify()
        assert verification, verification.problems
        # One entry for the creation, and one for each record.
        assert verification.entries == 1 + PROCESSES * EACH
        held = [(episode.source, episode.content) for episode in store.episodes.list(limit=10_000)]
    assert len(held) == PROCESSES * EACH
    assert set(held) == {(f"writer-{number}", f"event {count}") for number in range(PROCESSES) for count in range(EACH)}
