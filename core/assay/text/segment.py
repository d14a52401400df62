"""Words: runs of letters, marks and digits, in every script."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from re import Match

from assay.text.lexicon import members, pattern
from assay.text.normal import compatible, fold
from assay.text.script import SPACELESS, Script, classes

__all__ = ["CHUNK", "Token", "chunk_tokens", "humps", "plain", "text_tokens", "words"]

CHUNK = 48  # a chunk up to this many characters is cached: longer ones hardly ever come back
_WHOLE = 128  # longest identifier kept whole
_EDGES = ".,;:!?\"'()[]"  # marks that at an end of a chunk belong to no word
_ONE_APOSTROPHE = dict.fromkeys(map(ord, "\u2018\u2019\u02bc"), "'")
_NOT = (("can't", "can not"), ("won't", "will not"), ("n't", " not"))
_APOSTROPHE = r"(?<!\w)(\w+)'(\w+)"
# The patterns below read the classes of characters (`script.classes`).
_IDENTIFIER = r"[A-Za-z1](?:[A-Za-z1]|(?:_+|[./-])(?=[A-Za-z1])|(?<=1),(?=111(?!1)))*"
_SPACED = "|".join(f"[{x}{x.upper()}][{x}{x.upper()}1m]*" for x in "acdgkor")
_RUN = rf"[1m]*(?:{_SPACED})|([behilty])(?:\1|m)*|[1m]+"
_HUMP = r"[A-Z]{2,}[a-z]$|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z1]+|[A-Z]+[1m]*"


@dataclass(frozen=True, slots=True)
class Token:
    """One word and its script; `whole` marks an identifier kept beside its parts, `acronym` a word in capitals."""

    word: str
    script: Script
    whole: bool = False
    acronym: bool = False


def words(text: str) -> list[str]:
    """Split a text into folded words (T3).

    A word ends where the script changes; scripts without spaces give overlapping pairs of characters;
    identifiers are split and kept whole as well; an apostrophe ends its word (`Elena's` is `elena`).
    """
    return [token.word for token in text_tokens(text)]


def text_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text."""
    for chunk in text.split():
        yield from chunk_tokens(chunk)


def chunk_tokens(chunk: str) -> tuple[Token, ...]:
    """Return the tokens of a piece of text without spaces."""
    return _cached(chunk) if len(chunk) <= CHUNK else tuple(_tokens(chunk))


def plain(chunk: str) -> str:
    """Return the one folded word that a chunk of ASCII is, or "" if that takes a closer look."""
    core = chunk.strip(_EDGES)
    if core.isascii() and core.isalnum() and (core.isdigit() or core[1:].islower() or core.islower()):
        return core.lower()
    return ""


@lru_cache(maxsize=16_384)
def _cached(chunk: str) -> tuple[Token, ...]:
    return tuple(_tokens(chunk))


def humps(run: str, shape: str) -> list[str]:
    """Split camelCase, given the classes of its letters; `PDFs` and `API` are one word."""
    return [run[match.start() : match.end()] for match in pattern(_HUMP).finditer(shape)]


def _tokens(chunk: str) -> Iterator[Token]:
    if word := plain(chunk):
        yield Token(word, Script.LATIN)  # what nearly every new word of English is: the rules below, in short
        return
    text = _without_apostrophes(compatible(chunk))
    shapes = classes(text)
    for found in pattern(_IDENTIFIER).finditer(shapes):
        identifier, shape = text[found.start() : found.end()].replace(",", ""), found[0].replace(",", "")
        pieces = 0
        for run in pattern(_RUN).finditer(shape):
            letters = identifier[run.start() : run.end()]
            script = Script(run[0].lower().strip("1m")[:1] or Script.LATIN)
            if script in SPACELESS:
                yield from _pairs(fold(letters), script)
                continue
            split = humps(letters, run[0])
            pieces += len(split)
            for piece in split:
                yield Token(fold(piece), script, acronym=len(piece) > 1 and piece.isupper())
            if len(split) > 1 and len(letters) < len(identifier):
                yield Token(fold(letters), script, whole=True)
        if pieces > 1 and len(identifier) <= _WHOLE and SPACELESS.isdisjoint(shape):
            yield Token(fold(identifier), Script.LATIN, whole=True)


def _without_apostrophes(text: str) -> str:
    """Write an English `n't` as a word of its own, and apply every other apostrophe inside a word."""
    if not text.isascii():
        text = text.translate(_ONE_APOSTROPHE)
    if "'" not in text:
        return text
    if "n't" in (lower := text.lower()):
        for short, plain in _NOT:
            lower = lower.replace(short, plain)
        text = lower
    return pattern(_APOSTROPHE).sub(_apostrophe, text)


def _apostrophe(match: Match[str]) -> str:
    before, after = match[1], match[2]
    if before.casefold() in members("elisions"):
        return f"{before} {after}"
    # A letter of the word, as in Ukrainian, or a name such as O'Reilly; else the suffix of Elena's goes.
    return before + after if len(before) == 1 or before[-1] > "\u024f" else before


def _pairs(run: str, script: Script) -> Iterator[Token]:
    for place in range(max(1, len(run) - 1)):
        yield Token(run[place : place + 2], script)
