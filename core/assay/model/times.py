"""Points in time: aware datetimes outside, whole microseconds since 1970 inside."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from assay.errors import InvalidInput

__all__ = ["day_end", "from_us", "parse_time", "to_us"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def to_us(moment: datetime) -> int:
    """Turn an aware datetime into microseconds since 1970."""
    return (moment - _EPOCH) // _MICRO


def from_us(value: int) -> datetime:
    """Turn microseconds since 1970 into a datetime in UTC."""
    return _EPOCH + timedelta(microseconds=value)


def parse_time(field: str, value: datetime | date | str, *, now: datetime | None = None, end: bool = False) -> datetime:
    """Read a point in time.

    Args:
        field: Name of the argument, for the error.
        value: An aware datetime; a date (the whole day); or ISO 8601 text, without offset read as UTC; with
            `now` also an age such as `3d`, `12h`, `30m`, `2w`.
        now: What an age counts back from.
        end: For a bare date: its last microsecond rather than its first.

    Raises:
        InvalidInput: A naive datetime, or text that cannot be read.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise InvalidInput(field, "a datetime without time zone: use datetime.now(UTC) or .replace(tzinfo=UTC)")
        return _in_utc(field, value)
    if isinstance(value, date):
        return day_end(value) if end else datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field, f"a time is needed, not {type(value).__name__}")
    text = value.strip()
    if now is not None and text[:-1].isdecimal() and text[-1:] in _UNITS and len(text) <= 7:
        try:
            return now - timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
        except OverflowError as error:
            raise InvalidInput(field, f"{text} ago is before the year 1") from error
    try:
        if len(text) == len("2026-01-31"):
            return parse_time(field, date.fromisoformat(text), end=end)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        form = "ISO 8601, such as 2026-01-31T09:00:00+00:00"
        raise InvalidInput(field, f"{text[:40]!r} is not a time: use {form}") from error
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else _in_utc(field, moment)


def _in_utc(field: str, moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(field, "outside the years 1 to 9999 in UTC") from error


def day_end(day: date) -> datetime:
    """Give the last microsecond of a day in UTC."""
    return datetime(day.year, day.month, day.day, 23, 59, 59, 999_999, tzinfo=UTC)
