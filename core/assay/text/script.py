"""What kind of character a character is, in terms of words."""

from enum import StrEnum
from unicodedata import category, name

__all__ = ["BIGRAM_SCRIPTS", "DIGIT", "KINDS", "MARK", "Script"]


class Script(StrEnum):
    """Script class of a run of letters; `OTHER` is every script without rules of its own."""

    LATIN = "latin"
    CYRILLIC = "cyrillic"
    GREEK = "greek"
    ARABIC = "arabic"
    DEVANAGARI = "devanagari"
    HANGUL = "hangul"
    HAN = "han"
    HIRAGANA = "hiragana"
    KATAKANA = "katakana"
    THAI = "thai"
    LAO = "lao"
    KHMER = "khmer"
    MYANMAR = "myanmar"
    OTHER = "other"


# Scripts written without spaces between words.
BIGRAM_SCRIPTS = frozenset(
    [Script.HAN, Script.HIRAGANA, Script.KATAKANA, Script.THAI, Script.LAO, Script.KHMER, Script.MYANMAR]
)
MARK = "mark"
DIGIT = "digit"
_BY_NAME = {script.name: script for script in Script if script is not Script.OTHER} | {
    "CJK": Script.HAN,
    "IDEOGRAPHIC": Script.HAN,
    "KATAKANA-HIRAGANA": Script.KATAKANA,
}


class _Kinds(dict[str, Script | str]):
    """Kind of each character: a script for letters, `MARK`, `DIGIT`, or "" for what separates words."""

    def __missing__(self, char: str) -> Script | str:
        kind = category(char)
        answer: Script | str = ""
        if kind == "Nd":
            answer = DIGIT
        elif kind[0] == "M":
            answer = MARK
        elif kind[0] == "L" or kind == "Nl":
            # A character's name begins with its script (Unicode Standard, 4.8).
            answer = _BY_NAME.get(name(char, "").partition(" ")[0], Script.OTHER)
        self[char] = answer
        return answer


KINDS = _Kinds()
