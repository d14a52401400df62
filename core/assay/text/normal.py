"""Canonical, folded and look-alike forms of a text."""

from functools import cache
from unicodedata import category, decimal, normalize

from assay.text.lexicon import entries, pattern
from assay.text.script import Table

__all__ = ["bare", "canon", "compatible", "digits_to_ascii", "fold", "skeleton"]

_BREAKS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_JOINERS = ("\u200c", "\u200d")  # ZWNJ, ZWJ
# Drawn as nothing though Unicode calls them letters or marks (Default_Ignorable_Code_Point).
_BLANK = {0x034F, 0x17B4, 0x17B5, 0x3164, 0xFFA0}  # that shape no other character: they can only hide
_INVISIBLE = {*_BLANK, 0x115F, 0x1160, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)}
_SELECTORS = range(0xE0100, 0xE01F0)
# ZWJ and ZWNJ shape letters of Arabic to N'Ko, of Indic scripts, Myanmar, Khmer and Mongolian; elsewhere they hide.
_SHAPED = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af"
_IDLE = f"(?<![{_SHAPED}])[\u200c\u200d]+|[\u200c\u200d]+(?![{_SHAPED}])"


def canon(text: str) -> str:
    """Return the canonical form of a text: one line break, one space, nothing invisible (T1).

    Line separators become LF, other spaces U+0020; controls and format characters go, except tab and a
    ZWJ or ZWNJ between two letters of a script that needs it; a lone surrogate becomes U+FFFD. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").translate(_CANON)
    return pattern(_IDLE).sub("", text) if _JOINERS[0] in text or _JOINERS[1] in text else text


def compatible(text: str) -> str:
    """Return the canonical text in Unicode's compatibility form, with its case."""
    return canon(text) if text.isascii() else normalize("NFKC", canon(text).translate(_COMPATIBLE))


def fold(text: str) -> str:
    """Return the form in which texts are equal: canonical, NFKC, without case, spaces collapsed (T2).

    Dotted and dotless i are one letter, so that Turkish words meet their upper-case form.
    """
    folded = compatible(text).casefold()
    return " ".join((folded if folded.isascii() else folded.translate(_AFTER_CASE)).split())


def skeleton(text: str) -> str:
    """Return a form that is equal for texts that look alike (T2): folded, look-alikes to one Latin form.

    The table holds what is drawn alike in common typefaces (Unicode Technical Standard 39), not all of it.
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    return normalize("NFC", normalize("NFD", folded).translate(_LOOKALIKE))


def digits_to_ascii(text: str) -> str:
    """Return the text with the decimal digits of every script written as 0 to 9."""
    return text if text.isascii() else text.translate(_DIGITS)


def bare(word: str) -> str:
    """Return a word without accents and vowel marks."""
    return word if word.isascii() else normalize("NFC", normalize("NFD", word).translate(_UNMARKED))


def _canonical(char: str) -> str | None:
    if char in "\n\t" or char in _JOINERS:
        return char
    if char in _BREAKS:
        return "\n"
    kind = category(char)
    if kind == "Zs" or char == "\x1f":  # str.split also takes US for a space
        return " "
    if kind in ("Cc", "Cf") or ord(char) in _BLANK:
        return None
    return "\ufffd" if kind == "Cs" else char  # a lone surrogate has no UTF-8 form


def _compatibility(char: str) -> str | None:
    if char in _JOINERS or ord(char) in _INVISIBLE or ord(char) in _SELECTORS:
        return None
    # NFKC would read a raised 2 after 10 as 102, and a half after 1 as 11/2.
    return " " + char if category(char) == "No" else char


def _ascii_digit(char: str) -> str | None:
    return char if decimal(char, None) is None else str(decimal(char))


def _look(char: str) -> str | None:
    return "-" if category(char) == "Pd" else _lookalikes().get(char, _ascii_digit(char))


@cache
def _lookalikes() -> dict[str, str]:
    return {char: form for form, listed in entries("confusables") for char in "".join(listed)}


_CANON = Table(_canonical)
_COMPATIBLE = Table(_compatibility)
_AFTER_CASE = Table(lambda char: "i" if char == "ı" else None if char == "\u0307" or ord(char) in _INVISIBLE else char)
_LOOKALIKE = Table(_look)
_DIGITS = Table(_ascii_digit)
_UNMARKED = Table(lambda char: None if category(char) == "Mn" else char)
