"""Sentences, and cutting a text where one ends."""

from collections.abc import Iterator
from itertools import pairwise
from unicodedata import category

from assay.text.lexicon import members, pattern

__all__ = ["clip", "sentences"]

_CLOSING = "\"'”’»)]}」』）】*_`"
_BREAKS = "\n\r\u2028\u2029\x85"
_ALWAYS = frozenset("。！？｡؟।॥۔։" + _BREAKS)  # end a sentence whatever follows


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, without the space around them.

    A line break ends one, and so does a full stop of any script, unless it stands in a number, a host, an
    initial or a listed abbreviation.
    """
    ends = [0, *_ends(text), len(text)]
    cut = (text[start:end].strip() for start, end in pairwise(ends))
    return [sentence for sentence in cut if sentence]


def clip(text: str, limit: int) -> str:
    """Cut a text to at most `limit` characters, at the end of a sentence, else of a word.

    An end in the first half of what fits is too early: without a later one the text is cut between characters.
    """
    limit = max(limit, 0)
    if len(text) <= limit:
        return text
    head = text[:limit]
    last = max((end for end in _ends(text[: limit + 1]) if end <= limit), default=0)
    space = limit if text[len(head)].isspace() else max(map(head.rfind, " \n\t\u3000"))
    for end in (last, space):
        if end > 0 and end * 2 >= limit:
            return head[:end].rstrip()
    cut = len(head)
    while cut > 0 and (category(text[cut])[0] == "M" or "\u200d" in text[cut - 1 : cut + 1]):
        cut -= 1
    return text[:cut].rstrip()


def _ends(text: str) -> Iterator[int]:
    """Yield the places where a sentence ends."""
    last = 0
    for match in pattern(f"[.!?…{''.join(_ALWAYS)}]").finditer(text):
        place, end = match.start(), match.end()
        while text[place] not in _BREAKS and end < len(text) and text[end] in _CLOSING:
            end += 1
        if place >= last and (text[place] in _ALWAYS or _stops(text, place, end)):
            yield (last := end)


def _stops(text: str, place: int, end: int) -> bool:
    """Tell whether a Latin full stop, with the closing marks up to `end`, ends its sentence."""
    if text[place] != "." or (end < len(text) and not text[end].isspace()):
        return end >= len(text) or text[end].isspace()
    before = text[max(0, place - 12) : place]
    word = before.split()[-1].lstrip("(\"'[") if before and not before[-1].isspace() else ""
    opens_line = before.rstrip(word).rstrip(" ")[-1:] in ("", *_BREAKS)
    numbered = word.isdecimal() and len(word) < 3 and opens_line
    return not (numbered or (len(word) == 1 and word.isupper()) or word.casefold() in members("abbreviations"))
