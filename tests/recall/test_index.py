"""The index: long episodes in chunks, and many episodes at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay import Store
from assay.errors import Damaged, InvalidInput
from assay.recall import index
from assay.recall.index import CHUNK_TERMS, analyse
from assay.storage import index_rows
from assay.storage.index_rows import MOST_CHUNKS
from assay.storage.run_rows import runs
from assay.text import terms

HAY = " ".join(f"straw{at}" for at in range(400))


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(":memory:") as opened:
        yield opened


@pytest.mark.parametrize("words", [0, 1, 47, 48, 59, 60, 61, 96, 107, 108, 1_000, 20_000])
def test_chunks_hold_every_word_once(words: int) -> None:
    text = " ".join(f"word{at}" for at in range(words))
    around = analyse("", 0, "ada").chunks[0][1]
    chunks = analyse(text, 0, "ada").chunks
    assert sum(size - around for _, size in chunks) == len(terms(text))
    assert len(chunks) <= MOST_CHUNKS
    assert all(counts["ada"] == 1 for counts, _ in chunks)
    if words < 5_000:
        assert all(size - around < 2 * CHUNK_TERMS for _, size in chunks)


@pytest.mark.parametrize("flushed", [False, True])
def test_a_long_episode_is_as_good_as_its_best_passage(store: Store, flushed: bool) -> None:
    passage = "the blue door of the boat house opens with the brass key"
    wanted = store.record(f"{HAY} {passage} {HAY}")
    for at in range(300 if flushed else 3):
        store.record(f"remark {at}: a door, a key")
    assert store.recall("Which key opens the blue door of the boat house?")[0].id == wanted.ref


def test_words_far_apart_do_not_add_up(store: Store) -> None:
    store.record(f"brass {HAY} boat {HAY} blue {HAY} door")
    wanted = store.record("the blue door has a brass handle")
    assert store.recall("blue door brass boat")[0].id == wanted.ref


def test_an_erased_long_episode_leaves_every_list(store: Store) -> None:
    gone = store.record(f"{HAY} quokka {HAY} quokka")
    for at in range(300):
        store.record(f"remark {at}")
    store.erase(gone)
    assert len(store.recall("quokka straw17")) == 0
    assert store.verify()


@pytest.mark.parametrize("place", [0, 100, 255])
def test_an_erased_episode_leaves_the_run_that_it_stands_in(store: Store, place: int) -> None:
    said = [store.record(f"remark {at}: quokka{at} {HAY if at == 100 else 'alone'}") for at in range(300)]
    with store._database.read() as reader:
        (run,) = runs(reader)
        assert index_rows.listed(reader, run.terms) == [], "nothing is in the lists yet"
    store.erase(said[place])
    assert len(store.recall(f"quokka{place}")) == 0
    assert store.recall(f"quokka{place + 1}")[0].id == said[place + 1].ref
    assert store.verify()


def test_a_run_whose_episodes_were_all_erased_is_gone(store: Store) -> None:
    said = [store.record(f"remark {at}") for at in range(256)]
    for episode in said:
        store.erase(episode)
    with store._database.read() as reader:
        assert runs(reader) == []
    assert store.verify()


def test_runs_of_long_texts_join_the_lists_sooner(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_MOST_POSTINGS", 3_000)
    store.episodes.record_many({"content": f"remark {at} {HAY}"} for at in range(10))
    for at in range(300):
        store.record(f"remark {at}")
    with store._database.read() as reader:
        assert runs(reader) == []
    assert store.verify()


@pytest.mark.parametrize("edit", ["docs=CAST(docs || x'00' AS BLOB)", "terms=x'00'", "ends=zeroblob(8)"])
def test_a_run_that_cannot_be_read_is_a_typed_error(tmp_path: Path, edit: str) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.episodes.record_many({"content": f"remark {at} of the quokka"} for at in range(300))
        with closing(sqlite3.connect(tmp_path / "memory.db")) as file:
            file.execute(f"UPDATE posting_run SET {edit}")
            file.commit()
        with pytest.raises(Damaged, match="doctor"):
            store.recall("quokka")
        assert not store.verify()


def test_what_stands_in_runs_counts_as_what_stands_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"remark {at} of topic{at % 7} {HAY if at % 50 == 0 else ''}" for at in range(600)]
    asked = ["remark 17", "topic3", "straw5 straw99", "remark topic1 500"]
    found = []
    for merged_at in (10_000, 1):
        monkeypatch.setattr(index, "MERGE_AT", merged_at)
        with Store(":memory:") as store:
            for at in range(0, 600, 100):
                store.episodes.record_many({"content": text, "session": "s1"} for text in texts[at : at + 100])
            with store._database.read() as reader:
                assert bool(runs(reader)) == (merged_at > 1)
            answers = [store.recall(text, limit=20) for text in asked]
            found.append([[(hit.text, round(hit.score, 6)) for hit in answer] for answer in answers])
    assert found[0] == found[1]
    assert all(found[0])


def test_many_recorded_at_once_are_found_as_if_one_by_one(store: Store) -> None:
    events = [
        {"content": f"event {at} about topic{at % 7}", "source": "ada", "session": "s", "idempotency_key": f"k{at}"}
        for at in range(600)
    ]
    refs = store.episodes.record_many(events)
    assert store.episodes.record_many(events) == refs
    with Store(":memory:") as other:
        for event in events:
            other.record(**event)  # type: ignore[arg-type]
        expected = [hit.text for hit in other.recall("topic3", limit=90)]
        assert [hit.text for hit in store.recall("topic3", limit=90)] == expected
    assert [store.episodes.get(ref).n for ref in refs] == list(range(1, 601))
    assert store.verify()


def test_many_are_recorded_all_or_none(store: Store) -> None:
    with pytest.raises(InvalidInput, match="content"):
        store.episodes.record_many([{"content": "fine"}, {"content": " "}])
    with pytest.raises(InvalidInput, match="colour"):
        store.episodes.record_many([{"content": "fine", "colour": "blue"}])
    with pytest.raises(InvalidInput, match="kind"):
        store.episodes.record_many([{"content": "fine", "kind": "gossip"}])
    assert store.status().episodes == 0
    assert store.episodes.record_many([]) == []
