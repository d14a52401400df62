"""The index: long episodes in chunks, and many episodes at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay import Store
from assay.errors import InvalidInput
from assay.recall.index import CHUNK_TERMS, analyse
from assay.storage.index_rows import MOST_CHUNKS
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
