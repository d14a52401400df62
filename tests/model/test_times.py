"""Times are read strictly and kept to the microsecond."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInput
from assay.model.times import from_us, parse_time, to_us


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_a_time_survives_the_round_trip(moment: datetime) -> None:
    assert from_us(to_us(moment)) == moment
    assert parse_time("t", moment.isoformat()) == moment


def test_the_forms_of_a_time() -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert parse_time("t", "2026-01-31T12:00:00") == noon
    assert parse_time("t", "2026-01-31T13:00:00+01:00") == noon
    assert parse_time("t", noon.astimezone(timezone(timedelta(hours=-5)))) == noon
    assert parse_time("t", date(2026, 1, 31)) == parse_time("t", "2026-01-31") == datetime(2026, 1, 31, tzinfo=UTC)
    assert parse_time("t", "2026-01-31", end=True) == datetime(2026, 1, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert parse_time("t", "3d", now=noon) == noon - timedelta(days=3)
    assert parse_time("t", "90m", now=noon) == noon - timedelta(minutes=90)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "2026-13-01",
        "2026-02-30",
        "31.01.2026",
        "3d",
        "99999999999d",
        "0001-01-01T00:00:00+14:00",
        "2026-W05-1T99",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_time("since", text)
    assert caught.value.field == "since"


def test_a_naive_datetime_is_refused_with_the_fix() -> None:
    with pytest.raises(InvalidInput, match=r"datetime\.now\(UTC\)"):
        parse_time("t", datetime(2026, 1, 31))
