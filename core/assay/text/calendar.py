"""Numbers, weekdays and months written as words."""

from collections.abc import Iterator
from functools import cache

from assay.text.lexicon import entries, members
from assay.text.script import BIGRAM_SCRIPTS, KINDS, Script
from assay.text.segment import Token, chunk_tokens
from assay.text.stems import stem
from assay.text.value import Value, ValueType

__all__ = ["calendar_values", "is_calendar", "number_words"]


def number_words(text: str) -> Iterator[Value]:
    """Yield the numbers written as words, joined with the unit that follows (`two hundred files`, `30 s`)."""
    table = _numbers()
    units = _units()
    total: int | None = None
    said: list[str] = []
    for token in [*_tokens(text), Token("", Script.OTHER)]:
        if token.whole:
            continue
        size = table.get(token.word) if token.script is Script.LATIN else None
        if size is None:
            if total is not None:
                unit = units.get(token.word, "")
                yield Value(ValueType.NUMBER, f"{total} {unit}".rstrip(), " ".join(said))
            total, said = None, []
        elif total is None or (size >= total and size < 100) or (size < 100 and total % 10 and total < 100):
            if total is not None:
                yield Value(ValueType.NUMBER, str(total), " ".join(said))
            total, said = size, [token.word]
        else:
            total = total * size if size >= 100 and size > total else total + size
            said.append(token.word)


def calendar_values(text: str, plain: str) -> Iterator[Value]:
    """Yield the weekdays and months of a text; `plain` is the same text with its numbers."""
    names = _calendar()
    doubtful = members("months_doubtful")
    tokens = [token for token in _tokens(plain) if not token.whole]
    for place, token in enumerate(tokens):
        if token.script in BIGRAM_SCRIPTS:
            continue
        found = names.get(token.word) or names.get(stem(token.word, token.script))
        around = tokens[max(0, place - 1) : place] + tokens[place + 1 : place + 2]
        if found and (token.word not in doubtful or any(near.word.isdecimal() for near in around)):
            yield Value(*found, token.word)
    for form, found in names.items():
        if KINDS[form[0]] in BIGRAM_SCRIPTS and form in text:
            yield Value(*found, form)


def is_calendar(word: str) -> bool:
    """Tell whether a folded word names a weekday or a month, in the plural too."""
    names = _calendar()
    return word in names or stem(word, Script.LATIN) in names


def _tokens(text: str) -> list[Token]:
    return [token for chunk in text.split() for token in chunk_tokens(chunk)]


@cache
def _numbers() -> dict[str, int]:
    return {word: int(size) for size, listed in entries("numbers") for word in listed}


@cache
def _units() -> dict[str, str]:
    return {form: unit for unit, forms in entries("units") for form in forms}


@cache
def _calendar() -> dict[str, tuple[ValueType, str]]:
    table: dict[str, tuple[ValueType, str]] = {}
    for key, forms in entries("calendar"):
        kind, _, number = key.partition("-")
        for form in forms:
            table[form] = (ValueType(kind), number)
            for token in chunk_tokens(form):
                if token.script not in BIGRAM_SCRIPTS and not token.whole and "-" not in form:
                    table.setdefault(stem(token.word, token.script), table[form])
    return table
