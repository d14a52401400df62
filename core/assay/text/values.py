"""Values that a text states: numbers, dates, versions, paths, names."""

from collections.abc import Iterator
from functools import cache, lru_cache
from re import Pattern

from assay.text.calendar import calendar_values, number_words
from assay.text.forms import ALTERNATIVES, read_form
from assay.text.names import names
from assay.text.normal import compatible, digits_to_ascii
from assay.text.value import Value, ValueType

__all__ = ["Value", "ValueType", "values"]


def values(text: str) -> tuple[Value, ...]:
    """Return the distinct values of a text, typed and normalised, in order of type and form (T6).

    Numbers in digits and words, percentages, money, dates, weekdays, months, times, versions, addresses, paths,
    identifiers and names; `1,000` is `1000`, `twenty seconds` is `20 s`. Caseless scripts yield no names.
    """
    return _short(text) if len(text) <= 2_048 else _read(text)


@lru_cache(maxsize=1_024)
def _short(text: str) -> tuple[Value, ...]:
    return _read(text)


def _read(text: str) -> tuple[Value, ...]:
    found: dict[tuple[str, str], Value] = {}
    for value in _all(text):
        found.setdefault((value.type, value.norm), value)
    return tuple(found[key] for key in sorted(found))


def _all(text: str) -> Iterator[Value]:
    plain = digits_to_ascii(compatible(_grouping().sub("", text)))
    rest: list[str] = []
    place = 0
    for match in _forms().finditer(plain):
        read = list(read_form(str(match.lastgroup), match))
        if read:
            yield from read
            rest.append(plain[place : match.start()])
            place = match.end()
    rest.append(plain[place:])
    # A form that was read says nothing more; the mark keeps what stood around it apart, within its sentence.
    left = " ; ".join(rest)
    yield from number_words(left)
    yield from calendar_values(left, plain)
    yield from names(left)


@cache
def _grouping() -> Pattern[str]:
    """Return what groups digits as 10 000 does: a space that does not break."""
    import re

    return re.compile("(?<=\\d)[\u00a0\u202f\u2009](?=\\d{3}(?!\\d))")


@cache
def _forms() -> Pattern[str]:
    import re

    return re.compile("|".join(f"(?P<{name}>{form})" for name, form in ALTERNATIVES.items()))
