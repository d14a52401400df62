"""An answer is found however many others share its words: behind filters, repetitions and what is in quarantine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from assay import Kind, Store
from assay.recall import scoring, search
from assay.storage import episode_rows
from assay.storage.reader import Reader

CROWD = 700  # flushed twice, and a tail
WORDS = ["queue", "wall", "deploy", "release", "cache", "number", "kitchen"]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(search, "_WIDTHS", (4, 32, 4_096))
    monkeypatch.setattr(scoring, "_MOST_EQUAL", 8)
    with Store(":memory:") as opened:
        yield opened


def crowd(store: Store) -> None:
    """Record many that say the words of the question more often than the answer does."""
    store.episodes.record_many(
        {"content": f"deploy deploy release number {at}", "source": "ada", "session": f"s{at}"} for at in range(CROWD)
    )


@pytest.mark.parametrize("first", [True, False], ids=["flushed", "in the tail"])
@pytest.mark.parametrize(
    "filters",
    [
        {"session": "wanted"},
        {"source": "zoe"},
        {"state_key": "release.day"},
        {"kinds": ["decision"]},
        {"tags": ["ops"]},
        {"metadata": {"team": "web"}},
        {"phrase": "on the first tuesday"},
        {"until": "2020-01-31"},
        {"session": "wanted", "source": "zoe", "kinds": ["decision"]},
    ],
    ids=lambda filters: " ".join(filters),
)
def test_a_filter_finds_the_one_in_a_crowd(store: Store, filters: dict[str, Any], first: bool) -> None:
    if not first:
        crowd(store)
    wanted = store.record(
        "we will deploy on the first Tuesday of each month, said the calendar on the wall of the kitchen",
        Kind.DECISION, source="zoe", session="wanted", state_key="release.day", tags=["ops"],
        metadata={"team": "web"}, happened_at="2020-01-01",
    )  # fmt: skip
    if first:
        crowd(store)
    assert [hit.id for hit in store.recall("deploy", **filters)] == [wanted.ref]


def test_refs_are_ranked_though_a_crowd_says_it_louder(store: Store) -> None:
    wanted = [store.record(f"the deploy of part {part} waits in the long queue behind the others") for part in "ab"]
    crowd(store)
    assert {hit.id for hit in store.recall("deploy", refs=wanted)} == {one.ref for one in wanted}


def test_repetitions_are_one_answer_and_hide_no_other(store: Store) -> None:
    other = store.record("after a deploy the cache is cold for some minutes, and pages are slow")
    store.episodes.record_many({"content": "deploy deploy on Tuesday", "session": f"s{at}"} for at in range(CROWD))
    found = store.recall("deploy", limit=3)
    assert [hit.text.split()[0] for hit in found] == ["deploy", "after"]
    assert found[1].id == other.ref


def test_what_is_in_quarantine_hides_nothing(store: Store) -> None:
    wanted = store.record("after a deploy the cache is cold for some minutes, and pages are slow")
    crowd(store)
    crowd(store)
    store.episodes.quarantine(source="ada")
    assert [hit.id for hit in store.recall("deploy")] == [wanted.ref]


@pytest.mark.parametrize("flushed", [True, False])
def test_what_is_in_quarantine_lends_nothing_to_its_neighbours(store: Store, flushed: bool) -> None:
    held = store.record("deploy on Tuesday", session="s1")
    store.record("lunch is at noon", session="s1")
    if flushed:
        store.episodes.record_many({"content": f"remark {at}", "session": "s2"} for at in range(300))
    assert len(store.recall("deploy")) == 2
    store.episodes.quarantine(held)
    assert len(store.recall("deploy")) == 0


def test_pages_of_a_filter_hold_every_answer_once(store: Store) -> None:
    crowd(store)
    dice = random.Random(3)
    wanted = [
        store.record(" ".join(["deploy", *dice.choices(WORDS, k=dice.randint(1, 30)), f"x{at}"]), tags=["ops"]).ref
        for at in range(90)
    ]
    seen: list[str] = []
    cursor = None
    while True:
        page = store.recall("deploy", tags=["ops"], limit=10, after=cursor)
        seen += [hit.id for hit in page]
        cursor = page.next
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) and sorted(seen) == sorted(wanted)


@pytest.mark.parametrize(("filters", "read"), [({"tags": ["ops"]}, False), ({"phrase": "long queue"}, True)])
def test_texts_of_candidates_are_read_for_a_phrase_only(
    store: Store, filters: dict[str, Any], read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd(store)
    wanted = store.record("the deploy of the web waits in the long queue behind the others", tags=["ops"])
    asked: list[bool] = []
    real = episode_rows.by_numbers

    def by_numbers(reader: Reader, numbers: Sequence[int], *, content: bool = True) -> list[dict[str, Any]]:
        asked.append(content)
        return real(reader, numbers, content=content)

    monkeypatch.setattr(episode_rows, "by_numbers", by_numbers)
    assert [hit.text for hit in store.recall("deploy", **filters)] == [wanted.content]
    assert set(asked) == {read}, "a thousand long texts in memory at once would be a gigabyte"


@pytest.mark.parametrize("first", [True, False], ids=["flushed", "in the tail"])
def test_what_shares_few_words_but_answers_the_best_turn_is_found_among_many_that_share_more(
    store: Store, first: bool
) -> None:
    """It ranks behind so many others by its words that only its place beside the question lifts it."""
    store.record("when is the release of the kitchen queue", session="talk", source="ada")
    answer = store.record("the release is the one with the wall, which bob will paint by hand", session="talk")
    store.episodes.record_many({"content": f"kitchen queue {at}"} for at in range(5))
    if first:
        store.episodes.record_many({"content": f"other {at}"} for at in range(600))
    found = store.recall("when is the release of the kitchen queue", limit=3)
    assert answer.ref in [hit.id for hit in found]
