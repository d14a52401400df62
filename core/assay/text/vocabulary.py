"""Content words, and the terms of the index."""

from collections.abc import Callable
from functools import lru_cache
from itertools import chain

from assay.text.lexicon import members
from assay.text.script import Script
from assay.text.segment import CHUNK, Token, chunk_tokens, plain
from assay.text.stems import stem

__all__ = ["content", "content_set", "is_stop", "query_terms", "term_of", "terms"]

_REMEMBERED = 2_048  # characters: longer texts are not kept by content_set
_LEARNED = 32_768  # chunks
_SPELLED = frozenset([Script.LATIN, Script.CYRILLIC, Script.GREEK, Script.ARABIC])


def content(text: str) -> list[str]:
    """Return the content words of a text, stemmed, in order, with repeats (T4).

    Stop words and light verbs are left out. A Latin, Cyrillic, Greek or Arabic word counts when it has three
    letters, a digit, or is an acronym of two capitals.
    """
    return list(chain.from_iterable(map(_content_of.__getitem__, text.split())))


def content_set(text: str) -> frozenset[str]:
    """Return the distinct content words of a text."""
    return _short_set(text) if len(text) <= _REMEMBERED else _set(text)


def terms(text: str) -> list[str]:
    """Return what the index holds of a text: content words, and short words and numbers too.

    The same function serves indexing and querying, so that both always agree.
    """
    return list(chain.from_iterable(map(_terms_of.__getitem__, text.split())))


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a question, in order."""
    return list(dict.fromkeys(terms(text)))


def is_stop(token: Token) -> bool:
    """Tell whether a token is a stop word or a form of a light verb."""
    if token.whole or (token.acronym and token.script is Script.LATIN and len(token.word) <= 3):
        return False  # IT and US are no pronouns
    return token.word in members("stop") or token.word in members("light")


def term_of(token: Token) -> str:
    """Return the form under which a token is compared: its stem, or itself for an identifier."""
    return token.word if token.whole and not token.word.isalpha() else stem(token.word, token.script)


class _Learned(dict[str, tuple[str, ...]]):
    """What a rule gives for each chunk met so far; long ones are not worth keeping, and a full table starts anew."""

    def __init__(self, rule: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = self._rule(chunk)
        if len(chunk) <= CHUNK:
            if len(self) >= _LEARNED:
                self.clear()
            self[chunk] = found
        return found


def _set(text: str) -> frozenset[str]:
    return frozenset(content(text))


def _content(chunk: str) -> tuple[str, ...]:
    return tuple(term_of(token) for token in chunk_tokens(chunk) if _counts(token) and not is_stop(token))


def _terms(chunk: str) -> tuple[str, ...]:
    if word := plain(chunk):  # what nearly every new chunk is: the rule below, in short
        if not word.isalpha():
            return (word,)
        return () if word in members("stop") or word in members("light") else (stem(word, Script.LATIN),)
    return tuple(term_of(token) for token in chunk_tokens(chunk) if not is_stop(token))


def _counts(token: Token) -> bool:
    if token.acronym or token.script not in _SPELLED or any(map(str.isdecimal, token.word)):
        return True
    return sum(map(str.isalpha, token.word)) >= 3


_content_of = _Learned(_content)
_terms_of = _Learned(_terms)
_short_set = lru_cache(maxsize=1_024)(_set)
