"""Values that a text states: numbers, dates, versions, paths, names."""

from collections.abc import Iterator
from functools import cache, lru_cache

from assay.text.forms import Value, ValueType, read_form
from assay.text.lexicon import alternatives, entries, members, pattern, table
from assay.text.names import names
from assay.text.normal import compatible, digits_to_ascii, fold
from assay.text.script import SPACELESS, Script, classes
from assay.text.segment import Token, text_tokens
from assay.text.stems import stem

__all__ = ["values"]

_REMEMBERED = 2_048  # characters of a text whose values are kept
_GROUPING = "(?<=\\d)[\u00a0\u202f\u2009](?=\\d{3}(?!\\d))"  # 10 000, with a space that does not break


def values(text: str) -> tuple[Value, ...]:
    """Return the distinct values of a text, typed and normalised, in order of type and form (T6).

    Numbers in digits and words, percentages, money, dates, weekdays, months, times, versions, addresses, paths,
    identifiers and names; `1,000` is `1000`, `twenty seconds` is `20 s`. Caseless scripts yield no names.
    """
    return _kept(text) if len(text) <= _REMEMBERED else _read(text)


def _read(text: str) -> tuple[Value, ...]:
    found = {(value.type, value.norm): value for value in _all(text)}
    return tuple(found[key] for key in sorted(found))


_kept = lru_cache(maxsize=1_024)(_read)


def _all(text: str) -> Iterator[Value]:
    plain = digits_to_ascii(compatible(pattern(_GROUPING).sub("", text)))
    rest: list[str] = []
    place = 0
    for match in pattern(alternatives("forms")).finditer(plain):
        if read := list(read_form(str(match.lastgroup), match)):
            yield from read
            rest.append(plain[place : match.start()])
            place = match.end()
    # What was read says nothing more; the mark keeps what stood around it apart, within its sentence.
    left = " ; ".join([*rest, plain[place:]])
    yield from _number_words(left)
    yield from _calendar_words(left, plain)
    for name in names(left):
        if fold(name) not in members("numbers"):
            # A doubtful month that is written large within a sentence is one.
            yield Value(*(_calendar_value(fold(name)) or (ValueType.NAME, fold(name))), name)


def _number_words(text: str) -> Iterator[Value]:
    """Yield the numbers written as words, joined with the unit that follows (`two hundred files`, `thirty s`)."""
    total = 0
    said: list[str] = []
    for token in [*text_tokens(text), Token("", Script.OTHER)]:
        if token.whole:
            continue
        size = int(table("numbers")[token.word]) if token.word in table("numbers") else None
        added = size is not None and any(total >= unit > size and total % unit == 0 for unit in (10, 100, 1000))
        if said and not added and (size is None or size < 100 or size <= total):
            yield Value(ValueType.NUMBER, f"{total} {table('units').get(token.word, '')}".rstrip(), " ".join(said))
            said = []
        if size is not None:
            total = size if not said else total + size if added else total * size
            said.append(token.word)


def _calendar_words(text: str, plain: str) -> Iterator[Value]:
    """Yield the weekdays and months of a text; `plain` is the same text with its numbers."""
    tokens = [token for token in text_tokens(plain) if not token.whole]
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        counted = any(near is not None and near.word.isdecimal() for near in (before, after))
        if (found := _calendar_value(token.word)) and (counted or token.word not in members("months_doubtful")):
            yield Value(*found, token.word)
    for form, found in () if text.isascii() else _calendar().items():
        if classes(form[0]) in SPACELESS and form in text:
            yield Value(*found, form)


def _calendar_value(word: str) -> tuple[ValueType, str] | None:
    script = classes(word[:1]).lower()
    if script in SPACELESS or script not in list(Script):
        return None
    return _calendar().get(word) or _calendar().get(stem(word, Script(script)))


@cache
def _calendar() -> dict[str, tuple[ValueType, str]]:
    table: dict[str, tuple[ValueType, str]] = {}
    for key, forms in entries("calendar"):
        kind, _, number = key.partition("-")
        for form in forms:
            table[form] = (ValueType(kind), number)
            table.setdefault(stem(form, Script(classes(form[0]).lower())), table[form])
    return table
