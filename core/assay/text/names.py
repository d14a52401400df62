"""Names: identifiers, acronyms, and words written large within a sentence."""

from collections.abc import Iterator
from functools import cache

from assay.text.calendar import is_calendar
from assay.text.lexicon import entries, members
from assay.text.normal import fold
from assay.text.script import KINDS, Script
from assay.text.sentences import sentences
from assay.text.value import Value, ValueType

__all__ = ["names", "says_german"]

_CASED = frozenset([Script.LATIN, Script.CYRILLIC, Script.GREEK])
_CROWDED = 0.4  # share of capitalised words above which capitals mean nothing, as in a title
_OPENING = ":-–—•*>|(\"'“„«"


def names(text: str) -> Iterator[Value]:
    """Yield the names of a text (T6): CamelCase, snake_case, capitals, and capitalised words within a sentence.

    Capitalised words are no names where more than 40 % of a sentence has them, or where the text is German.
    """
    german = says_german(text)
    for sentence in sentences(text):
        marked = [(chunk, _bare(chunk)) for chunk in sentence.split()]
        cased = [word for _, word in marked if word and KINDS[word[0]] in _CASED]
        large = sum(word[0].isupper() for word in cased)
        quiet = german or large > _CROWDED * len(cased)
        shouted = sum(word.isupper() and len(word) > 1 for word in cased) > _CROWDED * len(cased)
        opens = True
        for chunk, word in marked:
            if word and KINDS[word[0]] in _CASED:
                if _is_identifier(word) or (_is_acronym(word) and not shouted) or (_is_large(word) and not (opens or quiet)):
                    yield Value(ValueType.NAME, fold(word), word)
                opens = False
            opens = opens or chunk[-1] in _OPENING or chunk in _OPENING


def says_german(text: str) -> bool:
    """Tell whether the stop words of a text are German rather than any other language's."""
    counts: dict[str, int] = {}
    for word in text.casefold().split():
        for language in _languages().get(word.strip(".,;:!?()\"'"), ()):
            counts[language] = counts.get(language, 0) + 1
    german = counts.pop("de", 0)
    return german > max(counts.values(), default=0)


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for language, listed in entries("stop"):
        for word in listed:
            table[word] = (*table.get(word, ()), language)
    return table


def _bare(chunk: str) -> str:
    start, end = 0, len(chunk)
    while start < end and not KINDS[chunk[start]]:
        start += 1
    while end > start and not KINDS[chunk[end - 1]]:
        end -= 1
    word = chunk[start:end].replace("’", "'")
    before, mark, after = word.partition("'")
    if mark and len(before) > 1:
        return before
    return after if mark and before.casefold() in members("elisions") and after else word


def _is_identifier(word: str) -> bool:
    if "_" in word:
        return True
    inner = word[1:]
    return word.isalnum() and not word.isupper() and any(map(str.isupper, inner)) and any(map(str.islower, word))


def _is_acronym(word: str) -> bool:
    return len(word) > 1 and word.isupper() and word.isalnum() and not _common(word)


def _is_large(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and not _common(word)


def _common(word: str) -> bool:
    """Tell a word that is no name however it is written: a stop word, a day, a number."""
    folded = fold(word)
    return folded in members("stop") or folded in members("numbers") or is_calendar(folded)
