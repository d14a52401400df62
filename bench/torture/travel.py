"""A store that travels: export, import into an empty store, export again; the two exports must be equal to the byte."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["EPISODES", "fill", "measure", "megabytes"]

EPISODES = 5_000
LONG = 200_000
_BATCH = 1_000
_SEED = 7


def measure(folder: Path, *, long: bool = False) -> dict[str, float]:
    """Give how many episodes travelled, whether the exports are equal, and what each step took.

    Each step is a process of its own, so that its memory is its own.

    Args:
        folder: Where to write.
        long: With 200,000 episodes rather than 5,000.
    """
    episodes = LONG if long else EPISODES
    steps = {name: _run(name, folder, episodes) for name in ("fill", "export", "import", "again")}
    first, second = ((folder / name).read_bytes() for name in ("a.jsonl", "b.jsonl"))
    figures: dict[str, float] = {"episodes": episodes, "equal": int(first == second), "bytes": len(first)}
    for name in ("export", "import"):
        figures |= {f"{name}_s": round(steps[name]["seconds"], 1), f"{name}_mb": round(steps[name]["mb"])}
    return figures


def _run(step: str, place: Path, episodes: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.torture.travel", step, str(place), str(episodes)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _step(step: str, place: Path, episodes: int) -> None:
    from assay import Store

    if step == "fill":
        with Store(place / "a.db", synchronous="NORMAL") as store:
            fill(store, episodes)
    elif step == "import":
        with Store(place / "b.db") as store:
            assert store.transfer.import_jsonl(place / "a.jsonl").whole
    else:
        name = "a" if step == "export" else "b"
        with Store(place / f"{name}.db") as store:
            store.transfer.export_jsonl(place / f"{name}.jsonl")


def fill(store: Any, episodes: int) -> None:
    """Record episodes of twelve words from five thousand, half of them made from an earlier one."""
    chance, words = random.Random(_SEED), [f"word{number}" for number in range(5_000)]
    earlier: list[str] = []
    for start in range(0, episodes, _BATCH):
        batch = [
            {
                "content": f"{' '.join(chance.choices(words, k=12))} {start + number}",
                "source": f"user{number % 7}",
                "session": f"s{start // _BATCH}",
                "derived_from": chance.sample(earlier, 1) if earlier and number % 2 else [],
            }
            for number in range(min(_BATCH, episodes - start))
        ]
        earlier = store.episodes.record_many(batch)


def megabytes() -> float:
    """Give the most memory that this process had."""
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


if __name__ == "__main__":
    began = time.perf_counter()
    _step(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps({"seconds": time.perf_counter() - began, "mb": megabytes()}))
