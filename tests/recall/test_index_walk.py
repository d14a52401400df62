"""The index is what a rebuild from the episodes gives, whatever was done to them: 10,000 operations in forty walks."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import Conflict
from assay.recall import index
from assay.recall.checking import check_index
from assay.storage import index_rows
from assay.storage.transaction import Transaction

OPERATIONS = 250
CHECKED_EVERY = 125
FLUSH_AT = 32  # small, so that a short walk flushes often
MERGE_AT = 80
MAP_STEP = 64
LONG = 8
WORDS = ["alpha", "beta", "gamma", "deploy", "pool", "report", "cats", "running", "部署在周二", "кошка", "schön", "ไทย"]
NEAR_THE_END = (1 << index_rows.SEGMENT_BITS) - 100


class Walk:
    """Random operations on one store, each counted by name."""

    def __init__(self, store: Store, seed: int, folder: Path) -> None:
        self.store = store
        self.dice = random.Random(seed)
        self.folder = folder
        self.live: list[str] = []
        self.held: list[str] = []  # in quarantine
        self.done: Counter[str] = Counter()
        self._at = 0

    def step(self) -> None:
        """Do one operation."""
        chances: dict[Callable[[], object], int] = {
            self.record: 62, self.record_many: 2, self.supersede: 6, self.correct: 3, self.erase: 9,
            self.quarantine: 5, self.release: 3, self.set_trust: 8, self.bring_in: 1, self.rebuild: 1,
        }  # fmt: skip
        (operation,) = self.dice.choices([*chances], [*chances.values()])
        if self.live or operation in (self.record, self.record_many, self.bring_in):
            operation()
            self.done[operation.__name__] += 1

    def event(self) -> dict[str, Any]:
        """Make up an episode: of any length, often under a state key, sometimes back-dated or a repetition."""
        self._at += 1
        dice = self.dice
        text = " ".join(dice.choices(WORDS, k=dice.choice([1, 3, 3, 4, 5, 12, 61, 130])))
        day = f"2026-0{dice.randint(1, 9)}-1{dice.randint(0, 9)}"
        return {
            "content": text if dice.random() < 0.2 else f"{text} {self._at}",
            "source": dice.choice(["", "ada", "bob", "web"]),
            "state_key": dice.choice([*[None] * 9, "db.pool", "db.host", "月"]),
            "happened_at": dice.choice([None, day]),
            "trust": dice.choice([None, None, "external", "tool"]),
            "derived_from": dice.sample(self.live, k=min(len(self.live), dice.choice([0, 0, 0, 1, 2]))),
        }

    def any(self) -> str:
        """Give an episode."""
        return self.dice.choice(self.live)

    def record(self) -> None:
        self.live.append(self.store.record(**self.event()).ref)

    def record_many(self) -> None:
        self.live += self.store.episodes.record_many(self.event() for _ in range(self.dice.choice([2, 20])))

    def supersede(self) -> None:
        with suppress(Conflict):
            self.store.episodes.supersede(self.any(), self.any())

    def correct(self) -> None:
        with suppress(Conflict):
            self.live.append(self.store.correct(ref := self.any(), self.store.episodes.get(ref).content + " 2").ref)

    def erase(self) -> None:
        gone = self.store.erase(self.any()).erased
        self.live = [ref for ref in self.live if ref not in gone]

    def quarantine(self) -> None:
        self.held += self.store.episodes.quarantine(self.any()).episodes

    def release(self) -> None:
        held = [ref for ref in self.held if ref in self.live]
        if held:
            self.store.episodes.quarantine(self.dice.choice(held), release=True)

    def set_trust(self) -> None:
        self.store.authority.set_trust(self.any(), self.dice.choice(["agent", "tool", "external"]))

    def bring_in(self) -> None:
        file = self.folder / f"{self._at}.jsonl"
        events = [self.event() | {"derived_from": []} for _ in range(3)]
        file.write_text("".join(f"{json.dumps(event)}\n" for event in events), "utf-8")
        newest = self.store.recall(history=True, limit=1)
        after = newest[0].episode.n if newest and newest[0].episode else 0
        self.store.transfer.import_jsonl(file)
        self.live += [episode.ref for episode in self.store.episodes.list(after=after)]

    def rebuild(self) -> None:
        self.store._database.mutate(index.rebuild)


def start_at(number: int) -> Callable[[Transaction], None]:
    """Let a store begin as if so many episodes had been recorded and erased."""

    def write(tx: Transaction) -> None:
        tx.entry("erase", actor="host")
        tx.insert("tombstone", tx.new_id("ep"), {"n": number, "erased": tx.now, "reason": "", "idem": None})

    return write


@pytest.fixture(params=range(40), ids=lambda seed: f"seed{seed}")
def walk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    for name, value in (("FLUSH_AT", FLUSH_AT), ("MERGE_AT", MERGE_AT), ("MAP_STEP", MAP_STEP), ("LONG", LONG)):
        monkeypatch.setattr(index, name, value)
    with Store(":memory:") as store:
        if request.param % 2:  # so that the walk crosses into the next segment
            store._database.mutate(start_at(NEAR_THE_END))
        yield Walk(store, request.param, tmp_path)


def stored(store: Store) -> list[tuple[object, ...]]:
    """Give every posting list as its bytes, and what the index counts."""
    with store._database.read() as reader:
        return [
            *reader.execute(
                "SELECT term, segment, df, docs, chunks, freqs, lengths FROM posting ORDER BY term, segment"
            ),
            tuple(reader.execute("SELECT docs, chunks, length FROM index_state")[0]),
        ]


def mapped(store: Store) -> int:
    """Count the lists that have a map."""
    with store._database.read() as reader:
        found: int = reader.execute("SELECT count(*) FROM place_map JOIN posting ON posting = id")[0][0]
        assert reader.execute("SELECT count(*) FROM place_map")[0][0] == found, "no map outlives its list"
        return found


def differences(store: Store) -> list[str]:
    """Say where index and episodes differ, by the check that `verify` runs."""
    with store._database.read() as reader:
        return list(check_index(reader))


def rebuilt(store: Store) -> list[tuple[object, ...]]:
    """Give what a rebuild of the same reach stores."""
    with store._database.read() as reader:
        flushed = index_rows.state(reader).flushed

    def build(tx: Transaction) -> None:
        index_rows.reset(tx)
        index._flush(tx, index_rows.state(tx), last=flushed)
        index.merge(tx, flushed)

    store._database.mutate(build)
    return stored(store)


def test_the_index_equals_a_rebuild_after_10_000_random_operations(walk: Walk) -> None:
    while walk.done.total() < OPERATIONS:
        walk.step()
        if walk.done.total() % CHECKED_EVERY == 0:
            assert differences(walk.store) == [], dict(walk.done)
    walk.store._database.mutate(lambda tx: index.merge(tx, index_rows.state(tx).flushed))
    before = stored(walk.store)
    assert len(before) > 100
    assert mapped(walk.store) > 5, "long lists are mapped, and `differences` has seen that the maps are right"
    assert rebuilt(walk.store) == before
    assert walk.store.verify()
    assert set(walk.done) >= {"record", "supersede", "correct", "erase", "quarantine", "release", "set_trust"}
