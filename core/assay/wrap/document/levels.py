"""Find whatever reads as a level in a line, in any script, and make it unreadable as one where it was not earned."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from assay.model.constants import MAX_LEVEL_DIGITS
from assay.text import skeleton

__all__ = ["BARS", "LevelToken", "find_levels", "neutralise", "quote_spans"]

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


class _Shapes(dict[int, str]):
    """Give the part that a character plays: `d` a decimal digit, `n` another numeral, `m` a mark, `a` a letter."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isdecimal():
            part = "d"
        elif char.isnumeric():
            part = "n"
        elif char.isalnum():
            part = "x" if not char.isascii() and skeleton(char) == "x" else "a"
        else:
            part = "m" if unicodedata.category(char)[0] == "M" else "-"
        self[code] = part
        return part


_OPENING = re.compile(f"[{''.join(_QUOTES)}]")
_MAY_HOLD = re.compile(f"[{re.escape(_PARTS['|'] + _PARTS['('])}]")  # every level has one of these before it
_SHAPES = _Shapes({ord(char): part for part, chars in _PARTS.items() for char in chars})
_LEVEL = re.compile(
    r"\|[^|(adnx]*(?P<bar>[dn](?:[dn.m]*[dn])?)[ m]*x(?![adnx])|\([ m]*(?P<alone>[dn](?:[dn.m]*[dn])?)[ m]*x[ m]*\)"
)
_EXACT = re.compile(r"\| *[1-9][0-9]* ?x")


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


def find_levels(text: str) -> list[LevelToken]:
    """Find every level-looking token: after a bar, or alone in parentheses; linear in the text."""
    found: list[LevelToken] = []
    if _MAY_HOLD.search(text) is None:
        return found
    for match in _LEVEL.finditer(text.translate(_SHAPES)):
        start, end = match.span("bar" if match["bar"] else "alone")
        numeral = text[start:end]
        digits = "".join(str(unicodedata.decimal(char, "?")) for char in numeral)
        good = digits.isdecimal() and len(digits) <= MAX_LEVEL_DIGITS and digits[0] != "0"
        exact = _EXACT.fullmatch(text, *match.span()) is not None
        value = int(digits) if good else None
        found.append(LevelToken(*match.span(), value, exact, digits if good else numeral[:12]))
    return found


def neutralise(text: str) -> tuple[str, int]:
    """Rewrite every level-looking token as an unearned claim; give the text and how many there were."""
    tokens = find_levels(text)
    parts: list[str] = []
    place = 0
    for token in tokens:
        parts += [text[place : token.start].rstrip(), f" (unearned claim: {token.written})"]
        place = token.end
    joined = "".join([*parts, text[place:]])
    return (joined if text[:1].isspace() else joined.lstrip()), len(tokens)


def quote_spans(text: str) -> list[tuple[int, int]]:
    """Give the spans of quoted text; an opening quote without its closing one opens nothing."""
    spans: list[tuple[int, int]] = []
    missing: set[str] = set()
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        close = _QUOTES[opening[0]]
        end = text.find(close, opening.end()) if close not in missing else -1
        if end >= 0:
            spans.append((opening.start(), end + 1))
            place = end + 1
        else:
            missing.add(close)
            place = opening.end()
    return spans
