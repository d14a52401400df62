"""Characters: tables that translate them, and what kind each is in terms of words."""

from collections.abc import Callable
from enum import StrEnum
from unicodedata import category, name

__all__ = ["SPACELESS", "Script", "Table", "classes"]

_REMEMBERED = 20_000  # characters kept in one table, so that hostile text cannot fill memory


class Table(dict[int, str | None]):
    """A table for `str.translate` that asks a rule for each character, once; None drops the character."""

    def __init__(self, rule: Callable[[str], str | None]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str | None:
        image = self._rule(chr(code))
        if len(self) < _REMEMBERED:
            self[code] = image
        return image


class Script(StrEnum):
    """Script class of a run of letters; `OTHER` is every script without rules of its own."""

    LATIN = "a"
    MYANMAR = "b"
    CYRILLIC = "c"
    DEVANAGARI = "d"
    KHMER = "e"
    GREEK = "g"
    HAN = "h"
    HIRAGANA = "i"
    HANGUL = "k"
    LAO = "l"
    OTHER = "o"
    ARABIC = "r"
    KATAKANA = "t"
    THAI = "y"


# Scripts written without spaces between words.
SPACELESS = frozenset("behilty")
_ALIASES = {"CJK": Script.HAN, "IDEOGRAPHIC": Script.HAN, "KATAKANA-HIRAGANA": Script.KATAKANA}


def classes(text: str) -> str:
    """Return a text of equal length with a class for each character, for patterns that hold in every script.

    A letter is the value of its script, in upper case when it is a capital; `m` a combining mark, `1` a digit;
    a mark that may join words is itself, and anything else is a space.
    """
    return text.translate(_CLASSES)


def _class(char: str) -> str:
    kind = category(char)
    if kind[0] == "L" or kind == "Nl":
        # A character's name begins with its script (Unicode Standard, 4.8).
        first = name(char, "").partition(" ")[0]
        script = _ALIASES.get(first) or Script.__members__.get(first, Script.OTHER)
        return script.upper() if kind in ("Lu", "Lt") else script.value
    if kind == "Nd":
        return "1"
    return "m" if kind[0] == "M" else char if char in "_.-/'," else " "


_CLASSES = Table(_class)
