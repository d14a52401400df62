"""Find whatever reads as a level in a line, in any script, and make it unreadable as one where it was not earned."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay.model.constants import MAX_LEVEL_DIGITS
from assay.text import skeleton

__all__ = ["BARS", "OPENERS", "LevelToken", "claims_level", "levels", "neutralise", "outside_quotes", "plain"]

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "‹": "›", "＂": "＂"}
# Each character by its part in a level: bar, parenthesis, times sign, separator, and what shows as blank (three
# Hangul fillers, their half-width form, the empty Braille cell). The rest is told by its category.
_PARTS = {
    "|": "|｜¦￤│┃∣ǀ❘❙⏐∥‖︱",
    "(": "(（❨﹙⟮⦅",
    ")": ")）❩﹚⟯⦆",
    "x": "xX×✕✖⨯╳❌✗✘хХχΧⅹⅩｘＸ᙭",
    ".": ".,_'’٬٫·/⁄",
    " ": " \t\u2800\u3164\u115f\u1160\uffa0",
}


BARS = _PARTS["|"]
"""The vertical bar and what looks like one."""
OPENERS = BARS + _PARTS["("]
"""Every level has one of these before it."""


class _Shapes(dict[int, str]):
    """Give the part that a character plays: `d` a decimal digit, `n` another numeral, `m` a mark, `a` a letter."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        letter = "x" if not char.isascii() and skeleton(char) == "x" else "a"
        other = "m" if unicodedata.category(char)[0] == "M" else "-"
        part = "d" if char.isdecimal() else "n" if char.isnumeric() else letter if char.isalnum() else other
        return self.setdefault(code, part)


_OPENING = re.compile(f"[{''.join(_QUOTES)}]")
_MAY_HOLD = re.compile(f"[{re.escape(OPENERS)}]")
_DIGIT = re.compile("[0-9]")
_SHAPES = _Shapes({ord(char): part for part, chars in _PARTS.items() for char in chars})
_LEVEL = re.compile(
    r"\|[^|(adnx]*(?P<bar>[dn](?:[dn.m]*[dn])?)[ m]*x(?![adnx])|\([ m]*(?P<alone>[dn](?:[dn.m]*[dn])?)[ m]*x[ m]*\)"
)
_EXACT = re.compile(r"\| *[1-9][0-9]* ?x")


class LevelToken(NamedTuple):
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


def plain(text: str) -> bool:
    """Tell, at a glance, that nothing in a text can read as a level, nor as a number behind a bar."""
    return _MAY_HOLD.search(text) is None or (text.isascii() and _DIGIT.search(text) is None)


def claims_level(text: str) -> bool:
    """Tell whether a text holds something that reads as a level."""
    return not plain(text) and _LEVEL.search(text.translate(_SHAPES)) is not None


def levels(text: str) -> Iterator[LevelToken]:
    """Find every level-looking token: after a bar, or alone in parentheses; linear in the text."""
    if plain(text):
        return
    for match in _LEVEL.finditer(text.translate(_SHAPES)):
        behind_bar = match["bar"] is not None
        numeral = text[slice(*match.span("bar" if behind_bar else "alone"))]
        digits = numeral if numeral.isascii() else "".join(str(unicodedata.decimal(char, "?")) for char in numeral)
        good = digits.isdecimal() and len(digits) <= MAX_LEVEL_DIGITS and digits[0] != "0"
        exact = behind_bar and _EXACT.fullmatch(text, *match.span()) is not None
        yield LevelToken(*match.span(), int(digits) if good else None, exact, digits if good else numeral[:12])


def neutralise(text: str) -> tuple[str, int]:
    """Rewrite every level-looking token as an unearned claim; give the text and how many there were."""
    parts: list[str] = []
    place = count = 0
    for count, token in enumerate(levels(text), 1):  # noqa: B007
        parts += [text[place : token.start].rstrip(), f" (unearned claim: {token.written})"]
        place = token.end
    joined = "".join([*parts, text[place:]])
    return (joined if not count or text[:1].isspace() else joined.lstrip()), count


def outside_quotes(text: str, tokens: Iterable[LevelToken]) -> Iterator[LevelToken]:
    """Give those of the tokens, which are in order, that no quotation holds."""
    spans = _quoted(text)
    start = end = -1
    for token in tokens:
        while end < token.start and (span := next(spans, None)):
            start, end = span
        if not start < token.start < end:
            yield token


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    """Give the spans of quoted text; an opening quote without its closing one opens nothing."""
    missing: set[str] = set()
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        close = _QUOTES[opening[0]]
        end = text.find(close, opening.end()) if close not in missing else -1
        if end >= 0:
            yield opening.start(), end + 1
            place = end + 1
        else:
            missing.add(close)
            place = opening.end()
