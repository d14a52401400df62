"""Claims about the values a text states (T6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import Value, ValueType, values


def stated(text: str) -> set[tuple[str, str]]:
    return {(value.type.value, value.norm) for value in values(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("limit of 1,000 ms", {("number", "1000 ms")}),
        ("limit of 1000 milliseconds", {("number", "1000 ms")}),
        ("10\u00a0000 Dateien", {("number", "10000")}),
        ("das waren 1.000.000,5", {("number", "1000000.5")}),
        ("0,5 und 0.5", {("number", "0.5")}),
        ("from -5 to 007", {("number", "-5"), ("number", "7")}),
        ("between 10-20", {("number", "10"), ("number", "20")}),
        ("wait 5-10ms", {("number", "5 ms"), ("number", "10 ms")}),
        ("twenty-five seconds", {("number", "25 s")}),
        ("two hundred files, two hundred twenty-five bytes", {("number", "200"), ("number", "225 b")}),
        ("zwölf Stunden", {("number", "12 h")}),
        ("a single writer", {("number", "1")}),
        ("10k users", {("number", "10000")}),
        ("限制为512兆字节", {("number", "512 mb")}),
        ("タイムアウトは30秒", {("number", "30 s")}),
        ("제한은 30초", {("number", "30 s")}),
        ("٣٠ ثانية", {("number", "30 s")}),
        ("12.50 % of it", {("percent", "12.50")}),
        ("20 Prozent", {("percent", "20")}),
        ("costs $5.00", {("money", "5 usd")}),
        ("kostet 1.200.000 €", {("money", "1200000 eur")}),
        ("on 2024-05-01", {("date", "2024-05-01")}),
        ("am 1.5.2024", {("date", "2024-05-01")}),
        ("2024年5月1日", {("date", "2024-05-01")}),
        ("on 31/12/2024", {("date", "2024-12-31")}),
        ("at 3pm", {("time", "15:00")}),
        ("at 15:30", {("time", "15:30")}),
        ("um 15 Uhr", {("time", "15:00")}),
        ("on Fridays", {("weekday", "5")}),
        ("am Freitag", {("weekday", "5")}),
        ("в пятницу", {("weekday", "5")}),
        ("周五发布", {("weekday", "5")}),
        ("in October", {("month", "10")}),
        ("in may we may 5 May", {("month", "05"), ("number", "5")}),
        ("release v2.3.1", {("version", "2.3.1")}),
        ("release 2.3.1", {("version", "2.3.1")}),
        ("see https://Ex.org/A/b.", {("url", "https://ex.org/A/b")}),
        ("write to Ada@Example.com", {("email", "ada@example.com")}),
        ("on db.example.com:5432", {("host", "db.example.com:5432")}),
        ("at 10.0.0.7", {("host", "10.0.0.7")}),
        ("in /etc/app/conf.yml", {("path", "/etc/app/conf.yml")}),
        ("in settings.toml", {("path", "settings.toml")}),
        ("set db.pool_size", {("name", "db.pool_size")}),
        ("ref ep_k3v9q2ma", {("id", "ep_k3v9q2ma")}),
        ("commit 9f86d081", {("id", "9f86d081")}),
        ("the p95 rose", {("id", "p95")}),
        ("we use PostgreSQL and max_conn over TLS", {("name", "postgresql"), ("name", "max_conn"), ("name", "tls")}),
        ("yesterday Ada's team met Bob", {("name", "ada"), ("name", "bob")}),
        ("Deploy on approval", set()),
        ("Wir sind heute mit dem Zug nach Hause und in die Stadt", set()),
        ("Release Notes For The Great Team", set()),
        ("and/or, e.g. this", set()),
        ("服务器很快", set()),
    ],
)
def test_a_value_is_read_with_its_type_and_one_form(text: str, expected: set[tuple[str, str]]) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize(
    ("honest", "changed"),
    [
        ("timeout 30 seconds", "timeout 60 seconds"),
        ("limit 512", "limit 4096"),
        ("Python 3.1", "Python 3.10"),
        ("retry 10²", "retry 102"),
        ("on Monday", "on Tuesday"),
        ("v1.2.3", "v1.2.4"),
        ("at 3pm", "at 3am"),
        ("p95", "p99"),
        ("30 ms", "30 s"),
        ("-5", "5"),
        ("第5章", "第6章"),
        ("/etc/a.conf", "/etc/b.conf"),
        ("https://a.org/x", "https://a.org/y"),
    ],
)
def test_a_changed_value_shows(honest: str, changed: str) -> None:
    assert stated(honest) != stated(changed)


def test_a_bare_number_matches_one_with_a_unit_and_units_differ() -> None:
    bare, seconds, minutes = (Value(ValueType.NUMBER, norm, "") for norm in ("30", "30 s", "30 min"))
    assert bare.matches(seconds)
    assert seconds.matches(bare)
    assert not seconds.matches(minutes)
    assert not bare.matches(Value(ValueType.PERCENT, "30", ""))


@given(st.text(st.characters(), max_size=80))
def test_values_of_any_text_are_found_once_and_in_order(text: str) -> None:
    found = [(value.type, value.norm) for value in values(text)]
    assert found == sorted(set(found))


@given(st.text("0123456789.,:-/%$€vVhsamp @_xT年月日", max_size=40))
def test_no_arrangement_of_digits_and_marks_fails(text: str) -> None:
    assert all(value.norm for value in values(text))
