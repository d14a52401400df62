"""Names: identifiers, acronyms, and words written large within a sentence."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

from assay.text.clipping import sentences
from assay.text.lexicon import entries, members
from assay.text.normal import fold
from assay.text.script import classes

__all__ = ["language", "names"]

_CASED = frozenset("acgACG")  # Latin, Cyrillic, Greek
_CROWDED = 0.4  # share of capitalised words above which capitals mean nothing, as in a title
_OPENING = ":-–—•*>|(\"'“„«"


def names(text: str) -> Iterator[str]:
    """Yield the names of a text (T6): CamelCase, snake_case, capitals, and capitalised words within a sentence.

    Capitalised words are no names where more than 40 % of a sentence has them, or where the text is German.
    """
    german = language(text) == "de"
    for sentence in sentences(text):
        found = [(chunk, _bare(chunk)) for chunk in sentence.split()]
        cased = [word for _, word in found if classes(word[:1]) in _CASED]
        quiet = german or sum(word[0].isupper() for word in cased) > _CROWDED * len(cased)
        shouted = sum(word.isupper() for word in cased) > _CROWDED * len(cased)
        opens = True
        for chunk, word in found:
            if classes(word[:1]) in _CASED:
                if _is_identifier(word) or (not (shouted if word.isupper() else opens or quiet) and _is_large(word)):
                    yield word
                opens = False
            opens = opens or chunk[-1] in _OPENING


def _bare(chunk: str) -> str:
    """Strip the marks around a word, what an apostrophe ends, and an elided article."""
    shape = classes(chunk)
    letters = [place for place, kind in enumerate(shape) if kind.isalnum()] or [-1]
    before, mark, after = chunk[letters[0] : letters[-1] + 1].replace("’", "'").partition("'")
    return after if mark and before.casefold() in members("elisions") else before if len(before) > 1 else before + after


def _is_identifier(word: str) -> bool:
    mixed = any(map(str.isupper, word[1:])) and any(map(str.islower, word))
    return "_" in word or (word.isalnum() and mixed)


def _is_large(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and fold(word) not in members("stop")


def language(text: str) -> str:
    """Return the language of most stop words of a text, "" when two have as many."""
    counts = Counter(one for word in text.casefold().split() for one in _languages().get(word.strip(".,;:!?()\"'"), ()))
    most = [one for one, count in counts.items() if count == max(counts.values())]
    return most[0] if len(most) == 1 else ""


@cache
def _languages() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for language, listed in entries("stop"):
        for word in listed:
            table.setdefault(word, []).append(language)
    return table
