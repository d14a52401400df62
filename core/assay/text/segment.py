"""Words: runs of letters, marks and digits, in every script."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from assay.text.lexicon import members
from assay.text.normal import compatible, fold
from assay.text.script import BIGRAM_SCRIPTS, DIGIT, KINDS, MARK, Script

__all__ = ["CHUNK", "Token", "chunk_tokens", "humps", "words"]

CHUNK = 48  # a chunk up to this many characters is cached: longer ones hardly ever come back
_WHOLE = 128  # longest identifier kept whole
_JOINING = "_.-/"
_ONE_APOSTROPHE = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\uff07"), "'")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, its script, and what is known of its written form.

    `whole` marks an identifier kept beside its parts, `acronym` a word in capitals of two letters or more.
    """

    word: str
    script: Script
    whole: bool = False
    acronym: bool = False


def words(text: str) -> list[str]:
    """Split a text into folded words (T3).

    A word ends where the script changes; scripts without spaces give overlapping pairs of characters;
    identifiers are split and kept whole as well; an apostrophe ends its word (`Elena's` is `elena`).
    """
    return [token.word for chunk in text.split() for token in chunk_tokens(chunk)]


def chunk_tokens(chunk: str) -> tuple[Token, ...]:
    """Return the tokens of a piece of text without spaces."""
    return _cached(chunk) if len(chunk) <= CHUNK else tuple(_tokens(chunk))


@lru_cache(maxsize=16_384)
def _cached(chunk: str) -> tuple[Token, ...]:
    return tuple(_tokens(chunk))


def _tokens(chunk: str) -> Iterator[Token]:
    for parts, whole in _identifiers(_plain(compatible(chunk))):
        spaceless = False
        pieces = 0
        for part in parts:
            for run, script in _runs(part):
                if script in BIGRAM_SCRIPTS:
                    spaceless = True
                    yield from _pairs(run, script)
                    continue
                split = humps(run)
                pieces += len(split)
                for piece in split:
                    yield Token(fold(piece), script, acronym=len(piece) > 1 and piece.isupper())
                if len(split) > 1 and len(parts) > 1:
                    yield Token(fold(run), script, whole=True)
        if pieces > 1 and not spaceless and len(whole) <= _WHOLE:
            yield Token(fold(whole), Script.LATIN, whole=True)


def _plain(text: str) -> str:
    """Write every apostrophe one way, and an English `n't` as a word of its own."""
    if not text.isascii():
        text = text.translate(_ONE_APOSTROPHE)
    if "'" in text and "n't" in (lower := text.lower()):
        return lower.replace("can't", "can not").replace("won't", "will not").replace("n't", " not")
    return text


def _identifiers(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield each identifier as its parts and its whole, both with case."""
    parts: list[str] = []
    part: list[str] = []
    whole: list[str] = []
    joint = ""
    length = len(text)
    place = 0
    while place < length:
        char = text[place]
        if KINDS[char]:
            if not part and joint and parts:
                whole.append(joint)
            joint = ""
            part.append(char)
            whole.append(char)
        elif char == "'" and part and _inside(text, place, part):
            place = _apostrophe(text, place, part)
        elif char == "," and part and _thousands(text, place):
            pass
        else:
            if part:
                parts.append("".join(part))
                part = []
            if char in _JOINING and (not joint or joint[-1] == char == "_"):
                joint += char
            elif parts:
                yield parts, "".join(whole)
                parts, whole, joint = [], [], ""
        place += 1
    if part:
        parts.append("".join(part))
    if parts:
        yield parts, "".join(whole)


def _thousands(text: str, place: int) -> bool:
    """Tell whether a comma at `place` groups digits, as in 1,000."""
    group = text[place + 1 : place + 5]
    return text[place - 1].isdecimal() and group[:3].isdecimal() and len(group) >= 3 and not group[3:].isdecimal()


def _inside(text: str, place: int, part: list[str]) -> bool:
    """Tell whether an apostrophe stands inside a word, and not after an elided article (l'hiver)."""
    following = text[place + 1 : place + 2]
    return bool(following and KINDS[following]) and "".join(part).casefold() not in members("elisions")


def _apostrophe(text: str, place: int, part: list[str]) -> int:
    """Return the last character that an apostrophe takes with it: the suffix of `Elena's`.

    Nothing goes where it is a letter of the word, as in Ukrainian, or in a name such as O'Reilly.
    """
    if KINDS[part[0]] != Script.LATIN or len(part) == 1:
        return place
    end = place + 1
    while end < len(text) and KINDS[text[end]]:
        end += 1
    return end - 1


def _runs(part: str) -> Iterator[tuple[str, Script]]:
    """Cut a part where its script changes; digits and marks go with the letters before them."""
    start = 0
    current: Script | None = None
    digits = False
    for place, char in enumerate(part):
        kind = KINDS[char]
        if kind == MARK:
            continue
        if kind == "":
            if place > start:
                yield part[start:place], current or Script.OTHER
            start, current, digits = place + 1, None, False
        elif kind == DIGIT:
            if current in BIGRAM_SCRIPTS:
                yield part[start:place], current
                start, current = place, None
            digits = True
        else:
            script = Script(kind)
            if current is None and digits and script in BIGRAM_SCRIPTS:
                yield part[start:place], Script.LATIN
                start = place
            elif current is not None and script is not current:
                yield part[start:place], current
                start = place
            current, digits = script, False
    if start < len(part):
        yield part[start:], current or Script.LATIN


def _pairs(run: str, script: Script) -> Iterator[Token]:
    run = fold(run)
    if len(run) < 3:
        yield Token(run, script)
        return
    for place in range(len(run) - 1):
        yield Token(run[place : place + 2], script)


def humps(run: str) -> list[str]:
    """Split camelCase; a run in one case, or with one capital in front, is left whole."""
    if run[1:].islower() or run.islower() or run.isupper() or not any(map(str.isupper, run[1:])):
        return [run]
    pieces: list[str] = []
    start = 0
    for place in range(1, len(run)):
        before, here, after = run[place - 1], run[place], run[place + 1 : place + 2]
        plural = run[place + 1 :] == "s"  # PDFs is one word
        if here.isupper() and (not before.isupper() or (after.islower() and not plural)):
            pieces.append(run[start:place])
            start = place
    pieces.append(run[start:])
    return pieces
