"""`valid_at` gives what was true of the world at a moment, `known_at` what the store knew at one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import pytest

from assay import Store
from assay.errors import Conflict, InvalidInput, NotFound

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class Calendar:
    """A clock that stands still until a test sets it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def day(self, number: int) -> datetime:
        """Go to a day, counted from the start, and give it."""
        self.now = START + number * DAY
        return self.now


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def store(calendar: Calendar) -> Iterator[Store]:
    with Store(":memory:", clock=calendar) as opened:
        yield opened


def on(number: int) -> datetime:
    return START + number * DAY


def texts(store: Store, question: str = "pool size", **arguments: object) -> list[str]:
    return sorted(hit.text for hit in store.recall(question, **arguments))  # type: ignore[arg-type]


@pytest.fixture
def sizes(store: Store, calendar: Calendar) -> Store:
    """Twenty from day 0; forty from day 10; on day 20 it turns out that it was thirty from day 5."""
    store.record("pool size is 20", state_key="db.pool")
    calendar.day(10)
    store.record("pool size is 40", state_key="db.pool")
    calendar.day(20)
    store.record("pool size is 30", state_key="db.pool", happened_at=on(5))
    calendar.day(30)
    return store


@pytest.mark.parametrize(
    ("at", "held"), [(0, "20"), (4, "20"), (5, "30"), (9, "30"), (10, "40"), (29, "40"), (3_000, "40")]
)
def test_the_value_that_held_at_a_moment_is_given(sizes: Store, at: int, held: str) -> None:
    assert texts(sizes, valid_at=on(at)) == [f"pool size is {held}"]
    assert texts(sizes, "", valid_at=on(at)) == [f"pool size is {held}"]


@pytest.mark.parametrize(
    ("valid", "known", "held"), [(7, 19, "20"), (7, 20, "30"), (12, 9, "20"), (12, 10, "40"), (3, 3, "20")]
)
def test_the_two_moments_combine(sizes: Store, valid: int, known: int, held: str) -> None:
    assert texts(sizes, valid_at=on(valid), known_at=on(known)) == [f"pool size is {held}"]


@pytest.mark.parametrize(("at", "held"), [(0, "20"), (9, "20"), (10, "40"), (20, "40"), (3_000, "40")])
def test_what_the_store_knew_at_a_moment_is_given(sizes: Store, at: int, held: str) -> None:
    assert texts(sizes, known_at=on(at)) == [f"pool size is {held}"]


def test_before_the_first_record_nothing_was_known_or_true(sizes: Store) -> None:
    before = START - timedelta(seconds=1)
    assert texts(sizes, valid_at=before) == texts(sizes, known_at=before) == texts(sizes, "", known_at=before) == []
    assert sizes.recall("pool size", known_at=before).nothing_relevant


def test_what_a_value_had_replaced_is_named_and_nothing_later(sizes: Store) -> None:
    (then,) = sizes.recall("pool size", valid_at=on(7))
    older = sizes.recall("20", history=True, valid_at=on(7))
    assert then.replaces == (next(hit.ref for hit in older if hit.text.endswith("20")),)
    (first,) = sizes.recall("pool size", valid_at=on(2))
    assert first.replaces == ()


def test_history_in_a_view_holds_what_was_replaced_by_then(sizes: Store) -> None:
    assert texts(sizes, valid_at=on(7), history=True) == ["pool size is 20", "pool size is 30"]
    assert texts(sizes, known_at=on(15), history=True) == ["pool size is 20", "pool size is 40"]


def test_a_correction_counts_from_when_it_was_made(store: Store, calendar: Calendar) -> None:
    wrong = store.record("Deploys go out on Tuesday")
    calendar.day(10)
    store.correct(wrong, "Deploys go out on Wednesday")
    assert texts(store, "deploys") == ["Deploys go out on Wednesday"]
    assert texts(store, "deploys", known_at=on(9)) == ["Deploys go out on Tuesday"]
    assert texts(store, "deploys", known_at=on(10)) == ["Deploys go out on Wednesday"]
    assert texts(store, "", known_at=on(9)) == ["Deploys go out on Tuesday"]


def test_a_succession_stated_later_was_not_known_before(store: Store, calendar: Calendar) -> None:
    old = store.record("Deploys go out on Tuesday")
    calendar.day(5)
    new = store.record("Deploys go out on Wednesday")
    calendar.day(10)
    store.episodes.supersede(old, new)
    assert texts(store, "deploys", known_at=on(7)) == ["Deploys go out on Tuesday", "Deploys go out on Wednesday"]
    assert texts(store, "deploys", valid_at=on(7)) == ["Deploys go out on Wednesday"]
    assert texts(store, "deploys", valid_at=on(4)) == ["Deploys go out on Tuesday"]


def test_what_was_erased_is_in_no_view(sizes: Store) -> None:
    (forty,) = sizes.recall("pool size")
    sizes.erase(forty)
    assert texts(sizes, known_at=on(15)) == ["pool size is 20"]
    assert texts(sizes, valid_at=on(15)) == ["pool size is 30"]
    assert texts(sizes, known_at=on(25)) == ["pool size is 30"]
    with pytest.raises(NotFound, match="erased"):
        sizes.recall(refs=[forty.id], known_at=on(15))


def test_an_erased_link_of_a_chain_leaves_its_ends_in_order(store: Store, calendar: Calendar) -> None:
    first = store.record("Deploys go out on Monday")
    calendar.day(5)
    second = store.correct(first, "Deploys go out on Tuesday")
    calendar.day(10)
    store.correct(second, "Deploys go out on Wednesday")
    calendar.day(15)
    store.erase(second)
    assert texts(store, "deploys", known_at=on(12)) == ["Deploys go out on Wednesday"]
    assert texts(store, "deploys", valid_at=on(12)) == ["Deploys go out on Wednesday"]
    assert texts(store, "deploys", valid_at=on(3)) == ["Deploys go out on Monday"]


def test_a_value_that_is_trusted_less_held_at_no_time(store: Store, calendar: Calendar) -> None:
    store.record("pool size is 20", state_key="db.pool")
    calendar.day(5)
    store.record("pool size is 99", state_key="db.pool", trust="external")
    assert texts(store, valid_at=on(7)) == texts(store) == ["pool size is 20", "pool size is 99"]


def test_a_value_in_quarantine_is_in_no_view(sizes: Store) -> None:
    (forty,) = sizes.recall("pool size")
    sizes.episodes.quarantine(forty)
    assert texts(sizes, valid_at=on(15)) == ["pool size is 30"]
    assert texts(sizes, known_at=on(15)) == ["pool size is 20"]


def test_a_repetition_stands_for_itself_where_its_first_is_not_in_the_view(store: Store, calendar: Calendar) -> None:
    calendar.day(10)
    first = store.record("the office has moved")
    again = store.record("the office has moved", happened_at=on(3))
    assert [hit.id for hit in store.recall("office")] == [first.ref]
    assert [hit.id for hit in store.recall("office", valid_at=on(5))] == [again.ref]
    assert [hit.id for hit in store.recall("", valid_at=on(5))] == [again.ref]
    assert [hit.id for hit in store.recall("office", valid_at=on(10))] == [first.ref]


def test_an_operators_plan_is_not_yet_true(store: Store) -> None:
    store.record("pool size is 20", state_key="db.pool")
    store.record("pool size is 80", state_key="db.pool", origin="operator", happened_at=on(90))
    assert texts(store) == ["pool size is 80"]
    assert texts(store, valid_at=START) == ["pool size is 20"]
    assert texts(store, valid_at=on(90)) == ["pool size is 80"]


def test_a_date_is_the_end_of_that_day_and_an_age_counts_back(sizes: Store) -> None:
    assert texts(sizes, valid_at="2026-01-06") == texts(sizes, valid_at=date(2026, 1, 6)) == ["pool size is 30"]
    assert texts(sizes, valid_at="2026-01-05T23:59") == ["pool size is 20"]
    assert texts(sizes, known_at="21d") == ["pool size is 20"]


def test_the_document_and_the_counts_of_a_moment_are_given_without_what_was_erased(
    store: Store, calendar: Calendar
) -> None:
    store.record("Deploys go out on Tuesday")
    secret = store.record("The launch codeword is xylophone")
    calendar.day(5)
    assert store.wrap().version == 1
    calendar.day(10)
    store.record("Deploys go out on Wednesday")
    assert store.wrap().version == 2
    first = store.history.as_of(on(7))
    assert (first.version, first.episodes, first.erased) == (1, 2, 0)
    assert first.document == store.continuity.text(1) and "xylophone" in first.document
    assert store.history.as_of(on(4)).version == 0
    calendar.day(20)
    store.erase(secret)
    then = store.history.as_of(on(7))
    assert (then.at, then.version, then.episodes, then.erased) == (on(7), 1, 1, 1)
    assert "xylophone" not in then.document
    assert store.history.as_of(on(20)).erased == 0
    with pytest.raises(InvalidInput, match="time zone"):
        store.history.as_of(datetime(2026, 1, 1))


@pytest.mark.parametrize("field", ["valid_at", "known_at"])
@pytest.mark.parametrize("value", [datetime(2026, 1, 1), "soon", 5, ""])
def test_a_moment_that_is_none_is_refused_by_name(store: Store, field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=field) as caught:
        store.recall("x", **{field: value})  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize("seed", range(12))
def test_a_view_equals_the_recall_of_then(store: Store, calendar: Calendar, seed: int) -> None:
    dice = random.Random(seed)
    answers: dict[datetime, list[str]] = {}
    refs: list[str] = []
    for at in range(40):
        calendar.day(at)
        key = dice.choice([None, "a", "b"])
        text = f"pool size is {dice.randint(1, 9)}" if key else f"pool size is {at}"
        back = None if dice.random() < 0.6 else on(dice.randint(0, at))
        trust = dice.choice(["agent", "agent", "agent", "tool"])
        refs.append(store.record(text, state_key=key, happened_at=back, trust=trust).ref)
        with suppress(Conflict):
            store.episodes.supersede(dice.choice(refs), dice.choice(refs))
        answers[calendar.now] = sorted(hit.id for hit in store.recall("pool size", limit=100))
    for moment, expected in answers.items():
        assert sorted(hit.id for hit in store.recall("pool size", limit=100, known_at=moment)) == expected
        assert sorted(hit.id for hit in store.recall("", limit=100, known_at=moment)) == expected


@pytest.mark.parametrize("seed", range(12))
def test_the_view_of_now_equals_a_plain_recall_whatever_was_done(store: Store, calendar: Calendar, seed: int) -> None:
    dice = random.Random(seed)
    refs: list[str] = []
    for at in range(60):
        calendar.day(at)
        step = dice.random() if refs else 0.0
        if step < 0.7:
            text, back = f"pool size is {dice.randint(1, 6)}", on(dice.randint(0, at))
            key, trust = dice.choice([None, "a", "b"]), dice.choice(["agent", "agent", "tool"])
            refs.append(store.record(text, state_key=key, happened_at=back, trust=trust).ref)
        elif step < 0.8:
            gone = store.erase(dice.choice(refs)).erased
            refs = [ref for ref in refs if ref not in gone]
        elif step < 0.9:
            store.episodes.quarantine(dice.choice(refs), release=dice.random() < 0.5)
        else:
            store.authority.set_trust(dice.choice(refs), dice.choice(["agent", "tool"]))
        for question in ("pool size", ""):
            plain = {hit.id for hit in store.recall(question, limit=100)}
            assert {hit.id for hit in store.recall(question, limit=100, known_at=calendar.now)} == plain
            assert {hit.id for hit in store.recall(question, limit=100, valid_at=calendar.now)} == plain
