"""Canonical, folded and look-alike forms of a text."""

from collections.abc import Callable
from functools import cache
from unicodedata import category, decimal, normalize

from assay.text.lexicon import entries

__all__ = ["canon", "compatible", "digits_to_ascii", "fold", "skeleton"]

_JOINERS = ("\u200c", "\u200d")  # ZWNJ, ZWJ
_REMEMBERED = 20_000  # characters kept in one table, so that hostile text cannot fill memory
# Drawn as nothing though Unicode calls them letters or marks (Default_Ignorable_Code_Point).
_INVISIBLE = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)]
)
_SELECTORS = range(0xE0100, 0xE01F0)
# Blocks whose scripts shape letters by ZWJ and ZWNJ: Arabic to N'Ko, Indic to Sinhala, Myanmar, Khmer, Mongolian.
_SHAPED = (range(0x0600, 0x0900), range(0x0900, 0x0E00), range(0x1000, 0x10A0), range(0x1780, 0x18B0))


class _Table(dict[int, int | str | None]):
    """A translation table that fills itself, one character at a time."""

    def __init__(self, rule: Callable[[str], int | str | None]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> int | str | None:
        image = self._rule(chr(code))
        if len(self) < _REMEMBERED:
            self[code] = image
        return image


def _canonical(char: str) -> int | str | None:
    if char in "\n\t" or char in _JOINERS:
        return char
    if char in "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029":
        return "\n"
    kind = category(char)
    if kind == "Zs" or char == "\x1f":  # str.split also takes US for a space
        return " "
    if kind in ("Cc", "Cf"):
        return None
    return "\ufffd" if kind == "Cs" else char  # a lone surrogate has no UTF-8 form


def _compatible(char: str) -> int | str | None:
    code = ord(char)
    if char in _JOINERS or code in _INVISIBLE or code in _SELECTORS:
        return None
    # NFKC would read a raised 2 after 10 as 102, and a half after 1 as 11/2.
    return " " + char if category(char) == "No" else char


_CANON = _Table(_canonical)
_COMPAT = _Table(_compatible)
_CONTROLS = {code: None for code in (*range(9), *range(14, 28), 127)} | dict.fromkeys((11, 12, 13, 28, 29, 30), "\n")
_CONTROLS[31] = " "


def canon(text: str) -> str:
    """Return the canonical form of a text: one line break, one space, nothing invisible (T1).

    Line separators become LF, other spaces U+0020; controls and format characters go, except tab and a
    ZWJ or ZWNJ between two letters of a script that needs it; a lone surrogate becomes U+FFFD. Idempotent.
    """
    if text.isascii():
        return text if text.isprintable() else text.replace("\r\n", "\n").translate(_CONTROLS)
    text = text.replace("\r\n", "\n").translate(_CANON)
    if _JOINERS[0] in text or _JOINERS[1] in text:
        return _drop_idle_joiners(text)
    return text


def _drop_idle_joiners(text: str) -> str:
    kept: list[str] = []
    held = ""
    for char in text:
        if char in _JOINERS:
            held = held or char
            continue
        if held and kept and _shapes(kept[-1]) and _shapes(char):
            kept.append(held)
        held = ""
        kept.append(char)
    return "".join(kept)


def _shapes(char: str) -> bool:
    code = ord(char)
    return category(char)[0] in "LM" and any(code in block for block in _SHAPED)


def fold(text: str) -> str:
    """Return the form in which texts are equal: canonical, NFKC, without case, spaces collapsed (T2).

    Dotted and dotless i are one letter, so that Turkish words meet their upper-case form.
    """
    if text.isascii():
        return " ".join(canon(text).lower().split())
    return " ".join(compatible(text).casefold().translate(_after_case()).split())


@cache
def _after_case() -> dict[int, int | str | None]:
    return {0x0131: "i", 0x0307: None} | dict.fromkeys(_INVISIBLE)


def compatible(text: str) -> str:
    """Return the canonical text in Unicode's compatibility form, with its case."""
    if text.isascii():
        return canon(text)
    return normalize("NFKC", canon(text).translate(_COMPAT))


def skeleton(text: str) -> str:
    """Return a form that is equal for texts that look alike (T2): folded, look-alikes to one Latin form.

    The table holds what is drawn alike in common typefaces (Unicode Technical Standard 39), not all of it.
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    return folded.translate(_LOOKALIKES)


@cache
def _lookalike_forms() -> dict[str, str]:
    return {char: form for form, listed in entries("confusables") for char in "".join(listed)}


def _lookalike(char: str) -> int | str | None:
    if char in (form := _lookalike_forms()):
        return form[char]
    digit = decimal(char, None)
    if digit is not None:
        return str(digit)
    return "-" if category(char) == "Pd" else char


_LOOKALIKES = _Table(_lookalike)


def digits_to_ascii(text: str) -> str:
    """Return the text with the decimal digits of every script written as 0 to 9."""
    return text if text.isascii() else text.translate(_DIGITS)


def _ascii_digit(char: str) -> int | str | None:
    digit = decimal(char, None)
    return char if digit is None else str(digit)


_DIGITS = _Table(_ascii_digit)
