"""Sums in the bits of long integers are the sums that counting one by one gives."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Store
from assay.recall import index
from assay.recall.scoring import _weighty
from assay.recall.slices import bits_of, highest, map_of, places_of, summed
from assay.storage.transaction import Transaction

PLACES = st.sets(st.integers(0, 65_535), max_size=30)
GIVEN = st.lists(st.tuples(st.integers(0, 3), PLACES, st.integers(1, 127)), max_size=8)


@given(PLACES, st.integers(0, 65_535), st.integers(0, 2_000))
def test_a_set_gives_back_its_places(places: set[int], start: int, many: int) -> None:
    places |= set(range(start, min(start + many, 65_536)))
    assert places_of(bits_of(places)) == sorted(places, reverse=True)


@given(PLACES, st.integers(0, 8_192))
def test_a_map_goes_on_where_a_shorter_one_ends(places: set[int], reach: int) -> None:
    whole = map_of(places)
    assert map_of((place for place in places if place >> 3 >= reach), bytes(whole[:reach])) == whole


@given(GIVEN, st.integers(1, 60), st.integers(1, 60), PLACES)
def test_the_highest_are_those_of_plain_counting(
    given_points: list[tuple[int, set[int], int]], count: int, most_equal: int, allowed: set[int]
) -> None:
    sums: dict[int, list[tuple[int, int]]] = {}
    plain: Counter[tuple[int, int]] = Counter()
    among = {0: bits_of(range(1 << 16)), 1: bits_of(allowed), 2: bits_of(range(1 << 16))}  # none of segment 3
    for segment, places, points in given_points:
        sums.setdefault(segment, []).append((bits_of(places), points))
        inside = places & allowed if segment == 1 else places if segment < 3 else set[int]()
        plain.update({(segment, place): points for place in inside})
    found = highest({segment: summed(sets) for segment, sets in sums.items()}, count, most_equal, among)
    chosen = [(segment, place) for segment, bits in found.items() for place in places_of(bits)]
    ranked = sorted(plain, key=lambda key: (plain[key], key), reverse=True)
    last = plain[ranked[min(count, len(ranked)) - 1]] if ranked else 0
    above = [key for key in ranked if plain[key] > last]
    equal = [key for key in ranked if plain[key] == last][: max(count - len(above), most_equal)]
    assert sorted(chosen) == sorted(above + equal)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give a store of a few segments' worth of flushes, with maps that reach unevenly far."""
    monkeypatch.setattr(index, "MAP_STEP", 64)
    monkeypatch.setattr(index, "LONG", 8)
    monkeypatch.setattr(index, "MERGE_AT", 500)
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


def test_a_word_that_many_hold_finds_who_says_it_most_though_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(":memory:") as store:
        wanted = store.record("deploy deploy: the deploy runbook")
        store.episodes.record_many(
            {"content": f"in the meeting of day {at} somebody spoke of the last deploy as well"} for at in range(900)
        )
        assert store.recall("deploy")[0].id == wanted.ref


def test_a_term_that_weighs_little_beside_a_rare_one_still_finds(store: Store) -> None:
    store.record("quokka alpha")
    others = {store.record(f"alpha event{at} happened", session="mine").ref for at in range(300)}
    assert len(store.recall("alpha quokka", limit=50)) == 50
    goal = " ".join(f"x{at}" for at in range(80))
    found = store.recall(f"{goal} alpha", session="mine", limit=400)
    assert {hit.id for hit in found} == others
    store.close()


def test_long_texts_that_hold_every_word_somewhere_hide_no_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = [f"word{at}" for at in range(400)]
    dice = random.Random(5)
    with Store(":memory:") as store:
        facts = [store.record(" ".join(dice.sample(vocabulary, 6)), session=f"s{at}") for at in range(30)]
        for at in range(300):
            store.record(" ".join(dice.sample(vocabulary, 400)), trust="external", session=f"flood{at}")
        for fact in facts:
            asked = " ".join(fact.content.split()[:4])
            assert store.recall(asked)[0].id == fact.ref


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


def test_a_word_that_nearly_all_hold_is_not_looked_at_beside_words_that_enough_hold() -> None:
    frequency = {"2026": 999_990, "deploy": 9_000, "pool": 300}
    weights = {"2026": 0.00001, "deploy": 4.7, "pool": 8.1}
    assert list(_weighty(weights, frequency)) == ["deploy", "pool"]
    assert _weighty(weights, frequency | {"deploy": 90}) == weights
    assert list(_weighty({"2026": 0.00001}, frequency)) == ["2026"]
