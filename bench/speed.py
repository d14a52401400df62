"""How fast records are written and found; what is promised is a ratio within one run.

    python -m bench speed [--json] [--sizes 10k,100k] [--data DIR]

Texts are drawn from a Zipf distribution with a fixed seed; with `--data` from the words of the LoCoMo conversations,
whose questions are then asked. Everything is written to a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, Literal

from assay import Store
from assay.model.wrap import WrapPackage, WrapStatus
from assay.recall.index import MERGE_AT
from bench import cold, conversations, engines

SEED = 7
ROUNDS = 600
BATCH = 1_000
QUESTIONS = 200
_FRAME_HEADER = 24  # bytes before each page in the log (SQLite, "WAL-mode File Format")
_RARE = 0.06  # share of words from a long tail, as names and numbers are
_SAVES: dict[str, Literal["apply", "dry_run"]] = {"save": "apply", "save_dry_run": "dry_run"}
_RANK_EPISODES = (engines.ANNEAL,)
_HOOK = (
    "import sys\nfrom assay import Store\nwith Store(sys.argv[1]) as store:\n    store.briefing('deploy', tokens=600)"
)
# Figure, bound, and whether it is the least or the most.
GOALS = (
    ("record_ratio", 1.5, "<="),
    ("wal_bytes", 20_000, "<="),
    ("batch_per_s", 12_000, ">="),
    ("growth", 10, "<="),
    ("cold_ratio", cold.LIMIT, "<="),
    ("hook_ms", 150, "<="),
    ("save_ms", 100, "<="),
    ("recall_1000000_p95_ms", 10, "<="),
    ("anneal_memory_100000_ratio", 50, ">="),
)


def main(arguments: Sequence[str]) -> int:
    """Measure, and say which goals were met; the exit code says whether all were."""
    parser = argparse.ArgumentParser(
        prog="python -m bench speed", description="How fast records are written and found."
    )
    parser.add_argument("--sizes", default="10k,100k", help="stores to ask, such as 10k,100k,1M")
    parser.add_argument("--data", type=Path, default=os.environ.get("ASSAY_DATA"), metavar="DIR", help="or ASSAY_DATA")
    parser.add_argument("--others", default="2k", metavar="SIZE", help="turns that other memories hold, if installed")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"single records, {ROUNDS} by default")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    options = parser.parse_args(arguments)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        words = Words(Path(options.data) if options.data else None)
        sizes = sorted(map(_size, options.sizes.split(",")))
        measures: list[Callable[[], dict[str, float]]] = [
            lambda: written(Path(folder), words, options.rounds),
            lambda: asked(Path(folder), words, sizes),
            lambda: started(Path(folder)),
            lambda: saved(words),
            lambda: others(words, _size(options.others)),
        ]
        for measure in measures:
            for name, value in measure().items():
                found[name] = round(value, 3)
                print(f"{name:28}{found[name]:>14,.3f}", flush=True)
    checked = [(name, sign, bound, _met(found[name], sign, bound)) for name, bound, sign in GOALS if name in found]
    for name, sign, bound, met in checked:
        print(f"{'met' if met else 'NOT MET':8}{name} {sign} {bound:g}: {found[name]:g}")
    if options.json:
        print(json.dumps(found))
    return 0 if all(met for *_, met in checked) else 1


def _met(value: float, sign: str, bound: float) -> bool:
    return value <= bound if sign == "<=" else value >= bound


def _size(text: str) -> int:
    unit = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    return int(text if unit == 1 else text[:-1]) * unit


class Words:
    """Texts and questions, the same in every run."""

    def __init__(self, folder: Path | None) -> None:
        said = conversations.locomo(folder) if folder else []
        counts = Counter(word for talk in said for turn in talk.turns for word in turn.text.lower().split())
        if not counts:
            counts = Counter({f"word{rank:x}": 1_000_000 // rank for rank in range(1, 20_000)})
        self._known = list(counts)
        self._weights = list(accumulate(counts.values()))
        self._questions = [question.text for talk in said for question in talk.questions]

    def texts(self, count: int, seed: int = SEED) -> Iterator[str]:
        """Draw texts of 12 to 38 words."""
        dice = random.Random(seed)
        for _ in range(count):
            words = dice.choices(self._known, cum_weights=self._weights, k=dice.randint(12, 38))
            for at in range(len(words)):
                if dice.random() < _RARE:
                    words[at] = f"x{int(300_000 ** dice.random()):x}"
            yield " ".join(words)

    def questions(self, count: int) -> list[str]:
        """Draw questions: real ones, or five words of a text."""
        dice = random.Random(SEED)
        if self._questions:
            return dice.choices(self._questions, k=count)
        return [" ".join(dice.sample(text.split(), 5)) for text in self.texts(count, SEED + 1)]


def written(folder: Path, words: Words, rounds: int) -> dict[str, float]:
    """Compare single records with single inserts of the same texts, in turns; then record in batches."""
    texts = list(words.texts(rounds))
    ours: list[float] = []
    plain: list[float] = []
    with Store(folder / "written.db") as store, closing(_plain(folder / "plain.db")) as db:
        for text in texts:
            plain.append(_timed(_insert, db, [text]))
            ours.append(_timed(store.record, text, source="ada"))
        batches = [list(words.texts(BATCH, SEED + at)) for at in range(12)]
        bulk = [_timed(store.episodes.record_many, [{"content": text} for text in batch]) for batch in batches]
        bulk_plain = [_timed(_insert, db, batch) for batch in batches]
    return {
        "record_us": median(ours) * 1e6,
        "plain_us": median(plain) * 1e6,
        "record_ratio": median(ours) / median(plain),
        "record_mean_ratio": sum(ours) / sum(plain),
        "batch_per_s": BATCH * len(bulk) / sum(bulk),  # some of them merge the index's runs
        "plain_batch_per_s": BATCH * len(bulk) / sum(bulk_plain),
    }


def _plain(path: Path) -> sqlite3.Connection:
    """Open a table like ours, with its indexes, and nothing else."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute(
        "CREATE TABLE episode(n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT, content TEXT,"
        " happened INTEGER, recorded INTEGER, origin TEXT, source TEXT, trust TEXT, tags TEXT, metadata TEXT,"
        " text_hash BLOB)"
    )
    db.execute("CREATE INDEX episode_text ON episode(text_hash)")
    return db


def _insert(db: sqlite3.Connection, texts: Sequence[str]) -> None:
    db.execute("BEGIN IMMEDIATE")
    now = time.time_ns() // 1000
    db.executemany(
        "INSERT INTO episode(id, kind, content, happened, recorded, origin, source, trust, tags, metadata, text_hash)"
        " VALUES(?, 'observation', ?, ?, ?, 'host', 'ada', 'agent', '[]', '{}', ?)",
        ((f"ep_{os.urandom(13).hex()}", text, now, now, os.urandom(16)) for text in texts),
    )
    db.execute("COMMIT")


def asked(folder: Path, words: Words, sizes: Sequence[int]) -> dict[str, float]:
    """Let one store grow, and ask it at each size; then count what a record writes to the write-ahead log."""
    found: dict[str, float] = {}
    texts = words.texts(max(sizes, default=0))
    questions = words.questions(QUESTIONS)
    with Store(folder / "asked.db", synchronous="NORMAL") as store:
        held = 0
        for size in sizes:
            while held < size:
                batch = [text for _, text in zip(range(min(BATCH, size - held)), texts, strict=False)]
                store.episodes.record_many({"content": text, "session": f"s{held // BATCH}"} for text in batch)
                held += len(batch)
            for question in questions[:10]:
                store.recall(question)
            times = [_timed(store.recall, question) for question in questions]
            found[f"recall_{size}_p50_ms"] = median(times) * 1e3
            found[f"recall_{size}_p95_ms"] = sorted(times)[int(len(times) * 0.95)] * 1e3
        brief = [_timed(store.briefing, question) for question in questions[:20]]
        found["briefing_ms"] = median(brief) * 1e3
        found["wal_bytes"] = _log_bytes(store, folder / "asked.db", words)
    if len(sizes) > 1:
        found["growth"] = found[f"recall_{sizes[-1]}_p50_ms"] / found[f"recall_{sizes[0]}_p50_ms"]
    return found


def _log_bytes(store: Store, path: Path, words: Words) -> float:
    """Give the bytes of log per record, flushes of the index among them: a reader keeps the log from starting anew.

    The size of the file would not tell: a log that starts anew overwrites what it held before.
    """
    count = MERGE_AT  # so that the runs join the lists once
    with closing(sqlite3.connect(path, isolation_level=None)) as pin, closing(sqlite3.connect(path)) as look:
        store.record("so that the reader sees the newest state")
        pin.execute("BEGIN")
        pin.execute("SELECT count(*) FROM head").fetchone()
        before = _frames(look)
        for text in words.texts(count, SEED + 2):
            store.record(text)
        page: int = look.execute("PRAGMA page_size").fetchone()[0]
        return (_frames(look) - before) * (page + _FRAME_HEADER) / count


def _frames(db: sqlite3.Connection) -> int:
    """Count the pages in the write-ahead log."""
    frames: int = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    return frames


def started(folder: Path) -> dict[str, float]:
    """Measure processes that begin, do one thing and end."""
    found = cold.measure(9)
    path = folder / "hook.db"
    with Store(path) as store:
        store.episodes.record_many({"content": f"event {at} of the deploy"} for at in range(1_000))
    hooks = [cold.timed(_HOOK, str(path)) for _ in range(8)][1:]  # the first compiles what has no byte code yet
    return {"cold_ratio": found.figures["ratio"], "hook_ms": median(hooks) * 1e3}


def saved(words: Words) -> dict[str, float]:
    """Measure, in processor time, saves of a document of 200 pattern lines over a window of 500 episodes."""
    count, cited = 200, 40
    said = [" ".join(text.split()[:10]) for text in words.texts(500, SEED + 3)]

    def spent(mode: Literal["apply", "dry_run"]) -> float:
        with Store(":memory:") as store:
            store.authority.set(continuity_tokens=30_000, package_tokens=200_000)
            lines = [f"- line_{place}: {text} | 1x" for place, text in enumerate(said[:count])]
            store.episodes.record_many({"content": text, "session": "one"} for text in said[:count])
            _save(store, lines, "apply")
            refs = store.episodes.record_many({"content": f"Once more: {text}", "session": "two"} for text in said)
            for place in range(cited):
                lines[place] = f'- line_{place}: {said[place]} | 2x [evidence: {refs[place]} "{said[place]}"]'
            return _save(store, lines, mode)

    return {f"{name}_ms": min(spent(mode) for _ in range(7)) * 1e3 for name, mode in _SAVES.items()}


def _save(store: Store, lines: Sequence[str], mode: Literal["apply", "dry_run"]) -> float:
    package = store.prepare_wrap()
    assert isinstance(package, WrapPackage), package
    body = "\n".join(lines)
    text = f"## State\n\n## Patterns\n{body}\n\n## Decisions\n\n## Context\n"
    start = time.process_time()
    result = store.save_continuity(text, package.token, mode=mode)
    spent = time.process_time() - start
    assert result.status in (WrapStatus.COMMITTED, WrapStatus.DRY_RUN), result.findings[:3]
    return spent


def others(words: Words, size: int) -> dict[str, float]:
    """Ask other memories that rank episodes, where they are installed, and ours, in stores of the same size."""
    turns = [conversations.Turn(str(at), "ada", text, f"s{at // BATCH}") for at, text in enumerate(words.texts(size))]
    questions = words.questions(20)
    found: dict[str, float] = {}
    for name, make in engines.others().items():
        if name in _RANK_EPISODES:
            with ExitStack() as stack:
                slow, fast = (_median_ask(engine(turns, stack), questions) for engine in (make, engines.assay))
                found[f"{name}_{size}_ratio"] = slow / fast
    return found


def _median_ask(ask: engines.Ask, questions: Sequence[str]) -> float:
    return median(_timed(ask, question, 10) for question in questions)


def _timed(do: Callable[..., Any], *arguments: Any, **named: Any) -> float:
    start = time.perf_counter()
    do(*arguments, **named)
    return time.perf_counter() - start
