"""Sums in the bits of long integers are the sums that counting one by one gives."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Store
from assay.recall import index, ranking
from assay.recall.slices import Sums, bits_of, highest, places_of
from assay.storage.transaction import Transaction

PLACES = st.sets(st.integers(0, 65_535), max_size=30)
GIVEN = st.lists(st.tuples(st.integers(0, 3), PLACES, st.integers(1, 127)), max_size=8)


@given(PLACES)
def test_a_set_gives_back_its_places(places: set[int]) -> None:
    assert sorted(places_of(bits_of(places))) == sorted(places)


@given(GIVEN, st.integers(0, 60))
def test_the_highest_are_those_of_plain_counting(given_points: list[tuple[int, set[int], int]], count: int) -> None:
    sums: dict[int, Sums] = {}
    plain: Counter[tuple[int, int]] = Counter()
    for segment, places, points in given_points:
        sums.setdefault(segment, Sums()).add(bits_of(places), points)
        plain.update({(segment, place): points for place in places})
    chosen = [(segment, place) for segment, bits in highest(sums, count).items() for place in places_of(bits)]
    newest_of_equals = sorted(plain, key=lambda key: (plain[key], key), reverse=True)
    assert sorted(chosen) == sorted(newest_of_equals[:count])


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give a store of a few segments' worth of flushes, with maps that reach unevenly far."""
    monkeypatch.setattr(index, "MAP_STEP", 64)
    monkeypatch.setattr(index, "LONG", 8)
    store = Store(":memory:")
    for at in range(20):
        store.episodes.record_many(
            {
                "content": f"{'pool ' * (at % 3)}deploy number {at}x{place} of topic{place % 9}",
                "session": f"s{place % 5}",
            }
            for place in range(70)
        )
    return store


@pytest.mark.parametrize("question", ["topic3 deploy", "pool", "deploy pool 7x5", "number 19x69 topic6 pool"])
def test_few_candidates_give_what_all_would(store: Store, question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [(hit.id, hit.why) for hit in store.recall(question, limit=5)]
    monkeypatch.setattr(ranking, "_CANDIDATES", 1_000)
    assert [(hit.id, hit.why) for hit in store.recall(question, limit=5)] == few
    with store._database.read() as reader:
        assert reader.execute("SELECT count(*) FROM place_map")[0][0] > 10
    store.close()


def test_a_goal_of_a_thousand_words_is_answered_by_its_rarest(store: Store) -> None:
    wanted = store.record("the quokka eats the shoots of the acacia")
    goal = " ".join(f"deploy number {at}x{at} of topic{at % 9}, pool;" for at in range(200))
    assert store.recall(f"{goal} What does the quokka eat?")[0].id == wanted.ref
    store.close()


def test_a_map_that_lies_is_found_by_verify(store: Store) -> None:
    assert store.verify()

    def lie(tx: Transaction) -> None:
        tx.entry("erase", actor="host")
        tx.write("UPDATE place_map SET bits = zeroblob(8) WHERE posting = (SELECT min(posting) FROM place_map)")

    store._database.mutate(lie)
    assert any("search index" in problem for problem in store.verify().problems)
    store.close()
