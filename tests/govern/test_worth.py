"""What became of what was shown is counted once for each briefing, and moves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Kind, Store
from assay.govern.worth import Rate
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy

FACT = "Deploys of the billing service go out on Tuesday"


def _runs(path: Path, ends: list[bool | None], *, results: dict[int, list[bool]]) -> str:
    """Brief one run after another; give the id of what every briefing showed."""
    options = SessionOptions(wrap=WrapPolicy.manual())
    with StoreRouter(path) as router:
        ref = ""
        for day, end in enumerate(ends):
            session = router.session(SessionKey("ada", f"s{day}"), options=options)
            if not day:
                session.user_message(FACT)
                session.close_run()
            session.run_started()
            assert "Tuesday" in session.briefing("when does billing deploy?").text
            with session.conversation.home.store() as store:
                ref = ref or next(one.ref for one in store.episodes.list() if one.content == FACT)
                for worked in results.get(day, ()):
                    store.result(ref, worked=worked)
                if end is not None:
                    run = session.conversation.run
                    assert run is not None
                    store.record(
                        f"Run {day} ended", kind=Kind.OUTCOME, success=end, session=f"s{day}", run=run.id, origin="host"
                    )
            session.close_run()
    return ref


def test_results_and_outcomes_are_told_apart_by_whether_it_was_acted_on(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    ref = _runs(path, [None, True, False, None], results={0: [False, True]})
    with Store(path) as store:
        (found,) = [one for one in store.beliefs.worth() if one.ref == ref]
        assert (found.exposed, found.followed, found.ignored) == (4, 1, 3)
        assert (found.when_followed.worked, found.when_followed.cases) == (1, 1)  # the later result holds
        assert (found.when_not.worked, found.when_not.cases) == (1, 2)
        assert found.when_followed.too_few and found.when_not.too_few


def test_a_store_that_briefed_nobody_has_nothing_to_report() -> None:
    with Store(":memory:") as store:
        store.record(FACT)
        assert store.beliefs.worth() == []


@pytest.mark.parametrize(
    ("worked", "cases", "low", "high"), [(8, 10, 0.490, 0.943), (0, 5, 0.0, 0.434), (5, 5, 0.566, 1.0)]
)
def test_the_interval_is_that_of_wilson(worked: int, cases: int, low: float, high: float) -> None:
    rate = Rate.of([True] * worked + [False] * (cases - worked))
    assert (rate.worked, rate.cases, rate.too_few) == (worked, cases, False)
    assert rate.low == pytest.approx(low, abs=5e-4) and rate.high == pytest.approx(high, abs=5e-4)


def test_without_a_case_nothing_is_known() -> None:
    assert Rate.of([]) == Rate(0, 0, 0.0, 1.0, True)
