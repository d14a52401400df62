"""Saying that nothing bears on the question, and asking for no more than what does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay import Store
from assay.errors import InvalidInput
from assay.recall.relevance import BAR


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(":memory:") as opened:
        opened.record("The user prefers vintage band shirts and paint-splattered jeans")
        opened.record("The user drives north every October to an apple orchard and bakes pies")
        yield opened


UNRELATED = (
    "I have this awful persistent heartburn, a burning feeling that creeps up my chest every evening after a large "
    "dinner. Which effective home remedies soothe it, and when is an apple a bad idea?"
)


def test_a_question_of_another_domain_finds_nothing_relevant(store: Store) -> None:
    found = store.recall(UNRELATED)
    assert found.nothing_relevant and found.relevance < BAR
    assert len(found) == 1  # broad: what shares a word is there to be judged
    assert len(store.recall(UNRELATED, mode="precise")) == 0


def test_a_question_that_memory_answers_passes_the_bar_in_both_modes(store: Store) -> None:
    for mode in ("broad", "precise"):
        found = store.recall("Which orchard does the user drive to in October?", mode=mode)
        assert not found.nothing_relevant and found.relevance >= BAR
        assert "orchard" in found[0].text


def test_precise_leaves_out_what_scores_far_below_the_best(store: Store) -> None:
    question = "apple orchard October pies north"
    store.record("north of here it rains")
    assert len(store.recall(question, mode="precise")) == 1 < len(store.recall(question))


def test_the_bar_means_the_same_in_a_large_store(store: Store) -> None:
    store.episodes.record_many({"content": f"entry {at} of the ledger"} for at in range(400))
    assert store.recall(UNRELATED).nothing_relevant
    assert not store.recall("Where is the apple orchard?").nothing_relevant


def test_a_briefing_leaves_out_events_that_do_not_bear_on_the_goal(store: Store) -> None:
    assert "orchard" not in store.briefing(UNRELATED).text
    assert "orchard" in store.briefing("plan a day at the apple orchard").text
    assert "orchard" in store.briefing().text


def test_an_unknown_mode_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="mode"):
        store.recall("apple", mode="exact")


def test_a_phrase_must_be_held_word_for_word() -> None:
    with Store(":memory:") as store:
        store.record("the blue door is locked")
        wanted = store.record("he painted the door Blue, and a BLUE  door it is")
        store.record("the door is blue")
        assert [hit.id for hit in store.recall("which was painted?", phrase="a blue door")] == [wanted.ref]
        assert len(store.recall(phrase="a red door")) == 0
        assert len(store.recall('what is "the red door"?')) == 3, "quotes in a question are no filter"


def test_metadata_narrows(store: Store) -> None:
    wanted = store.record("apple harvest", metadata={"farm": "north", "rows": 3})
    store.record("apple harvest too", metadata={"farm": "south"})
    assert [hit.id for hit in store.recall("apple", metadata={"farm": "north"})] == [wanted.ref]
    assert [hit.id for hit in store.recall(metadata={"rows": 3})] == [wanted.ref]


def test_words_that_every_episode_holds_are_answered_by_any_of_them() -> None:
    with Store(":memory:") as store:
        store.episodes.record_many({"content": f"deploy number {at} went out"} for at in range(300))
        found = store.recall("deploy")
        assert len(found) == 10 and not found.nothing_relevant
        assert "deploy number" in store.briefing("deploy").text
        assert store.recall("deploy of the harbour crane").nothing_relevant


@pytest.mark.parametrize(
    ("argument", "value"),
    [("session", 5), ("source", b"ada"), ("phrase", 5), ("state_key", 5), ("limit", "9"), ("after", b"5")],
)
def test_an_argument_of_the_wrong_type_is_refused_by_name(store: Store, argument: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=argument):
        store.recall("orchard", **{argument: value})  # type: ignore[arg-type]


def test_a_question_or_a_budget_of_the_wrong_type_is_refused_by_name(store: Store) -> None:
    with pytest.raises(InvalidInput, match="text"):
        store.recall(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="text"):
        store.briefing(b"orchard")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="tokens"):
        store.briefing("orchard", tokens="9")  # type: ignore[arg-type]
