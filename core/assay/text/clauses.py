"""Clauses, with what bears on their polarity: content words, negators and antonyms, by place."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from assay.text.content import is_stop, term_of
from assay.text.lexicon import entries, members
from assay.text.script import BIGRAM_SCRIPTS, Script
from assay.text.segment import Token, chunk_tokens
from assay.text.sentences import sentences
from assay.text.stems import stem

__all__ = ["Clause", "clauses"]

_MARKS = dict.fromkeys(map(ord, ",;:()[]，；：、،؛—–"), " \n ")
_LISTED = frozenset(
    [
        Script.LATIN,
        Script.CYRILLIC,
        Script.ARABIC,
        Script.HAN,
        Script.HIRAGANA,
        Script.KATAKANA,
        Script.HANGUL,
        Script.DEVANAGARI,
    ]
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch between clause marks; places count its tokens.

    `words` are (place, content word); `negators` (place, whether it denies what stands before it);
    `antonyms` (place, pair, sign). `listed` tells whether its script has lists.
    """

    words: tuple[tuple[int, str], ...]
    negators: tuple[tuple[int, bool], ...]
    antonyms: tuple[tuple[int, int, int], ...]
    spaceless: bool
    listed: bool


def clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of a text; a clause ends with its sentence, at a comma or the like, and at `but`."""
    for sentence in sentences(text):
        for stretch in sentence.translate(_MARKS).split("\n"):
            tokens: list[Token] = []
            for chunk in stretch.split():
                here = chunk_tokens(chunk)
                if here and here[0].word in members("contrast") and tokens:
                    yield _clause(tokens)
                    tokens = []
                tokens.extend(here)
            if tokens:
                yield _clause(tokens)


def _clause(tokens: list[Token]) -> Clause:
    words: list[tuple[int, str]] = []
    negators: list[tuple[int, bool]] = []
    antonyms: list[tuple[int, int, int]] = []
    previous = ""
    for place, token in enumerate(tokens):
        backward = _denies(token)
        if backward is not None:
            negators.append((place, backward))
        elif not token.whole and not is_stop(token):
            words.append((place, term_of(token)))
        side = _side(token, previous)
        if side:
            antonyms.append((place, *side))
        previous = token.word
    return Clause(
        tuple(words),
        tuple(negators),
        tuple(antonyms),
        spaceless=any(token.script in BIGRAM_SCRIPTS for token in tokens),
        listed=any(token.script in _LISTED for token in tokens),
    )


@cache
def _negators() -> dict[str, bool]:
    """Return each negator, and whether it denies what stands before it."""
    return {word: key.startswith("after") for key, listed in entries("negators") for word in listed}


def _denies(token: Token) -> bool | None:
    """Return None for no negator, else whether it reaches backward."""
    word = token.word
    if token.script is Script.HAN and len(word) == 2 and word not in members("undenied"):
        return _negators().get(word, _negators().get(word[0]))
    if token.script is Script.HANGUL and len(word) > 1 and word[0] in "않없":
        return True
    return _negators().get(word)


@cache
def _antonyms() -> dict[str, tuple[int, int]]:
    """Return the pair and sign of each form: its word or words, and its stem."""
    table: dict[str, tuple[int, int]] = {}
    for pair, (_, listed) in enumerate(entries("antonyms")):
        sign = 1
        for form in listed:
            if form == "/":
                sign = -1
                continue
            table.setdefault(form, (pair, sign))
            for token in chunk_tokens(form) if " " not in form else ():
                if not is_stop(token) and token.script not in BIGRAM_SCRIPTS:
                    table.setdefault(term_of(token), (pair, sign))
    return table


def _side(token: Token, previous: str) -> tuple[int, int] | None:
    table = _antonyms()
    if token.whole:
        return None
    found = table.get(f"{previous} {token.word}") or table.get(token.word)
    if found or token.script in BIGRAM_SCRIPTS:
        return found
    return table.get(stem(token.word, token.script))
