"""Find whatever reads as a level in a line, in any script, and make it unreadable as one where it was not earned."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from assay.model.constants import MAX_LEVEL_DIGITS
from assay.text import skeleton

__all__ = ["LevelToken", "find_levels", "is_bar", "neutralise", "quote_spans"]

_BARS = frozenset("|｜¦￤│┃∣ǀ❘❙⏐∥‖︱")
_OPEN = {"(": ")", "（": "）", "❨": "❩", "﹙": "﹚", "⟮": "⟯", "⦅": "⦆"}
_TIMES = frozenset("xX×✕✖⨯╳❌✗✘хХχΧⅹⅩｘＸ᙭")
_SEPARATORS = frozenset(".,_'’٬٫·/⁄")
# Letters and symbols that show as blank: three Hangul fillers, their half-width form, the empty Braille cell.
_BLANKS = frozenset("\u3164\u115f\u1160\uffa0\u2800")
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "‹": "›", "＂": "＂"}


@dataclass(frozen=True, slots=True)
class LevelToken:
    """Something that reads as a level.

    Attributes:
        value: The level, or None when the numeral is no plain number from 1 to 9 digits.
        exact: Whether it is written as the grammar has it, ASCII bar, digits and `x`.
    """

    start: int
    end: int
    value: int | None
    exact: bool
    written: str


def is_bar(char: str) -> bool:
    """Tell whether a character is a vertical bar or looks like one."""
    return char in _BARS


def find_levels(text: str) -> list[LevelToken]:
    """Find every level-looking token: after a bar, or alone in parentheses; linear in the text."""
    found: list[LevelToken] = []
    place = 0
    while place < len(text):
        char = text[place]
        token = None
        if char in _BARS:
            token = _after_bar(text, place)
        elif char in _OPEN:
            token = _in_parentheses(text, place)
        if token is not None:
            found.append(token)
        place = token.end if token is not None else place + 1
    return found


def neutralise(text: str) -> tuple[str, int]:
    """Rewrite every level-looking token as an unearned claim; give the text and how many there were."""
    tokens = find_levels(text)
    if not tokens:
        return text, 0
    parts: list[str] = []
    place = 0
    for token in tokens:
        parts.append(text[place : token.start].rstrip())
        parts.append(f" (unearned claim: {token.written})")
        place = token.end
    parts.append(text[place:])
    joined = "".join(parts)
    return (joined if text[:1].isspace() else joined.lstrip()), len(tokens)


def quote_spans(text: str) -> list[tuple[int, int]]:
    """Give the spans of quoted text; an opening quote without its closing one opens nothing."""
    spans: list[tuple[int, int]] = []
    missing: set[str] = set()
    place = 0
    while place < len(text):
        close = _QUOTES.get(text[place])
        if close is not None and close not in missing:
            end = text.find(close, place + 1)
            if end >= 0:
                spans.append((place, end + 1))
                place = end
            else:
                missing.add(close)
        place += 1
    return spans


def _after_bar(text: str, bar: int) -> LevelToken | None:
    place = bar + 1
    while place < len(text) and not text[place].isalnum() and text[place] not in _BARS and text[place] not in _OPEN:
        place += 1
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    number = _numeral(text, place)
    if number is None:
        return None
    end = _times(text, number)
    if end is None:
        return None
    exact = text[bar] == "|" and text[end - 1] == "x" and text[bar + 1 : place].strip(" ") == ""
    return _token(text, bar, end, text[place:number], exact)


def _in_parentheses(text: str, opening: int) -> LevelToken | None:
    place = _skip_blank(text, opening + 1)
    number = _numeral(text, place)
    if number is None:
        return None
    end = _times(text, number)
    if end is None:
        return None
    close = _skip_blank(text, end)
    if text[close : close + 1] != _OPEN[text[opening]]:
        return None
    return _token(text, opening, close + 1, text[place:number], False)


def _numeral(text: str, place: int) -> int | None:
    """Give the end of a numeral that starts at `place`, with separators and combining marks inside it."""
    start = place
    last = place
    while place < len(text):
        char = text[place]
        if char.isnumeric():
            last = place + 1
        elif place == start or not (
            char in _SEPARATORS or unicodedata.combining(char) or unicodedata.category(char)[0] == "M"
        ):
            break
        place += 1
    return last if last > start else None


def _times(text: str, place: int) -> int | None:
    """Give the end of the multiplication sign after a numeral, or None when another word begins there."""
    place = _skip_blank(text, place)
    if place >= len(text) or not _is_times(text[place]):
        return None
    after = text[place + 1 : place + 2]
    return None if after.isalnum() else place + 1


def _is_times(char: str) -> bool:
    return char in _TIMES or (not char.isascii() and skeleton(char) == "x")


def _skip_blank(text: str, place: int) -> int:
    while place < len(text) and (
        text[place].isspace() or text[place] in _BLANKS or unicodedata.category(text[place])[0] == "M"
    ):
        place += 1
    return place


def _token(text: str, start: int, end: int, numeral: str, exact: bool) -> LevelToken:
    plain = numeral.isdecimal() and len(numeral) <= MAX_LEVEL_DIGITS
    value = int(numeral) if plain else 0
    good = plain and value > 0 and str(value) == "".join(str(unicodedata.decimal(char)) for char in numeral)
    written = str(value) if good else numeral[:12]
    return LevelToken(start, end, value if good else None, exact and numeral.isascii(), written)
