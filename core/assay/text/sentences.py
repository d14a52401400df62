"""Sentences, and cutting a text where one ends."""

from functools import cache
from re import Pattern
from unicodedata import category

from assay.text.lexicon import members

__all__ = ["clip", "sentences"]

_CLOSING = "\"'\u201d\u2019\u00bb)]}\u300d\u300f\uff09\u3011*_`"
_ALWAYS = frozenset("。！？｡؟।॥۔։\n\r\u2028\u2029\u0085")  # end a sentence whatever follows


@cache
def _ends() -> Pattern[str]:
    import re

    return re.compile("[.!?…。！？｡؟।॥۔։\n\r\u2028\u2029\u0085]")


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, without the space around them.

    A line break ends one, and so does a full stop of any script, unless it stands in a number, a host, an
    initial or a listed abbreviation.
    """
    found: list[str] = []
    start = 0
    for end in _breaks(text):
        sentence = text[start:end].strip()
        if sentence:
            found.append(sentence)
        start = end
    sentence = text[start:].strip()
    if sentence:
        found.append(sentence)
    return found


def _breaks(text: str) -> list[int]:
    places: list[int] = []
    last = 0
    for match in _ends().finditer(text):
        place = match.start()
        if place < last:
            continue
        end = place + 1
        if text[place] != "\n":
            while end < len(text) and text[end] in _CLOSING:
                end += 1
        if text[place] in _ALWAYS or _stops(text, place, end):
            places.append(end)
            last = end
    return places


def _stops(text: str, place: int, end: int) -> bool:
    """Tell whether a Latin full stop, with the closing marks up to `end`, ends its sentence."""
    if end < len(text) and not text[end].isspace():
        return False
    if text[place] != ".":
        return True
    start = place
    while start > 0 and place - start < 12 and not text[start - 1].isspace():
        start -= 1
    word = text[start:place].lstrip("(\"'[").casefold()
    initial = len(word) == 1 and word.isalpha() and text[place - 1].isupper()
    listed = len(word) == 1 and word.isdecimal() and (start == 0 or text[start - 1] == "\n")
    return not (initial or listed or word in members("abbreviations"))


def clip(text: str, limit: int) -> str:
    """Cut a text to at most `limit` characters, at the end of a sentence, else of a word.

    A place in the first half is not taken: then a later word end, and at last any character that opens one, serves.
    """
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    head = text[:limit]
    ends = [end for end in _breaks(text[: limit + 1]) if end <= limit]
    if ends and ends[-1] * 2 >= limit:
        return head[: ends[-1]].rstrip()
    if text[limit].isspace():
        return head.rstrip()
    space = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"), head.rfind("\u3000"))
    if space * 2 >= limit:
        return head[:space].rstrip()
    cut = limit
    while cut > 0 and (category(text[cut])[0] == "M" or text[cut] == "\u200d" or text[cut - 1] == "\u200d"):
        cut -= 1
    return text[:cut].rstrip()
