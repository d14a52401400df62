"""Cuts out of a text what came from our own briefings, so that memory does not feed on itself.

In this order: fenced blocks; lines that carry a ref and say no more than what it stands for; and, in the words of
agents and tools, what the receipts say was shown. A person who repeats a remembered line is heard: only two such
lines in a row are a paste.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from re import Pattern

from assay.episodes import loading
from assay.errors import NotFound
from assay.model.constants import LOOP_COVER, MAX_IDS_PER_CALL
from assay.session.shown import Shown, quoted_text, texts_of
from assay.storage.reader import Reader
from assay.text import agrees, content_set, covers, near, sentences, values

__all__ = ["Kept", "without_loops"]

_OPEN, _CLOSE = "<memory-", "</memory-"
_FENCE_CHARS = 13
# Shorter than the shortest line that could be a quotation of five words or carry a ref.
_SHORTEST = 9


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of a text.

    Attributes:
        quoted: Full refs of what was cut out, and of what the rest refers to.
        cut: Whether anything was cut out.
    """

    text: str
    quoted: tuple[str, ...] = ()
    cut: bool = False


def without_loops(reader: Reader, shown: Shown, text: str, *, own_words: bool) -> Kept:
    """Cut out what our briefings brought in.

    Args:
        own_words: The text is what a person said.
    """
    if len(text) < _SHORTEST:
        return Kept(text)
    outside, inside = _unfenced(text)
    refs = dict.fromkeys(_resolved(reader, shown, inside).values())
    known = _resolved(reader, shown, outside)
    lines = outside.split("\n")
    judged = [_judge(reader, line, known) for line in lines]
    if not own_words:
        kept = [
            _without_shown(reader, shown, line, refs) if not verdict.cut else ""
            for line, verdict in zip(lines, judged, strict=True)
        ]
    else:
        kept = _without_pastes(reader, shown, lines, judged)
    for verdict in judged:
        refs |= dict.fromkeys(verdict.quoted)
    changed = inside != "" or kept != lines
    rest = "\n".join(line for line, before in zip(kept, lines, strict=True) if line or not before) if changed else text
    return Kept(rest if any(map(str.isalnum, rest)) else "", tuple(refs), changed)


def _unfenced(text: str) -> tuple[str, str]:
    """Separate what stands inside fences of ours from what does not; an opening without its end is one line."""
    if _OPEN not in text:
        return text, ""
    outside: list[str] = []
    inside: list[str] = []
    place = 0
    while (start := text.find(_OPEN, place)) >= 0:
        name = text[start + len(_OPEN) : start + len(_OPEN) + _FENCE_CHARS]
        closing = f"{_CLOSE}{name}>"
        end = text.find(closing, start) if len(name) == _FENCE_CHARS and name.isalnum() else -1
        if end < 0:
            outside.append(text[place : start + len(_OPEN)])
            place = start + len(_OPEN)
            continue
        outside.append(text[place:start])
        place = end + len(closing)
        inside.append(text[start:place])
    outside.append(text[place:])
    return "".join(outside), "\n".join(inside)


@cache
def _ref_form() -> Pattern[str]:
    import re

    return re.compile(r"(?<![0-9A-Za-z_])(?:ep|be)_[0-9a-hjkmnp-tv-z]{8,26}(?![0-9A-Za-z_])")


def _refs_in(text: str) -> list[str]:
    return _ref_form().findall(text) if "ep_" in text or "be_" in text else []


def _resolved(reader: Reader, shown: Shown, text: str) -> dict[str, str]:
    """Give the full ref of each ref in a text; of a flood of them only the first are looked up."""
    found = dict.fromkeys(_refs_in(text))
    return {ref: full for ref in islice(found, MAX_IDS_PER_CALL) if (full := _full(reader, shown, ref))}


def _full(reader: Reader, shown: Shown, ref: str) -> str | None:
    if ref.startswith("be_"):
        return next((full for full in shown.refs if full.startswith(ref)), None)
    try:
        return loading.resolve(reader, ref)
    except NotFound:
        return None


def _judge(reader: Reader, line: str, known: Mapping[str, str]) -> Kept:
    """Judge a line by the refs it carries."""
    carried = {ref: known[ref] for ref in _refs_in(line) if ref in known} if known else {}
    if not carried:
        return Kept(line)
    source = "\n".join(texts_of(reader, list(carried.values())).values())
    quotation = quoted_text(line)
    if quotation is not None and line.lstrip("->* ").startswith(tuple(carried)):
        said, behind = quotation
        rest = said if not any(map(str.isalnum, behind)) else f"{said} {behind}"
    else:
        rest = line
        for ref in carried:
            rest = rest.replace(ref, " ")
    return Kept(line, tuple(carried.values()), cut=_says_no_more(rest, source))


def _says_no_more(rest: str, source: str) -> bool:
    if not content_set(rest) or near(rest, source):
        return True
    known = {(value.type, value.norm) for value in values(source)}
    told = {(value.type, value.norm) for value in values(rest)}
    return told <= known and covers(source, rest) >= LOOP_COVER and agrees(rest, source)


def _without_shown(reader: Reader, shown: Shown, line: str, refs: dict[str, None]) -> str:
    """Cut the sentences of a line that were shown."""
    if not line.strip():
        return line
    if shown.frames(reader, line):
        return ""
    spoken = sentences(line)
    kept: list[str] = []
    for sentence in spoken:
        ref = shown.holds(reader, sentence)
        if ref is None:
            kept.append(sentence)
        elif ref:
            refs[ref] = None
    return line if len(kept) == len(spoken) else " ".join(kept)


def _without_pastes(reader: Reader, shown: Shown, lines: list[str], judged: list[Kept]) -> list[str]:
    """Cut lines that carry refs, and runs of two and more lines that were shown."""
    marks = [
        None if not line.strip() else verdict.cut or shown.frames(reader, line) or shown.holds(reader, line) is not None
        for line, verdict in zip(lines, judged, strict=True)
    ]
    solid = [place for place, mark in enumerate(marks) if mark is not None]
    pasted = {
        place
        for before, place, behind in zip([-1, *solid], solid, [*solid[1:], -1], strict=False)
        if marks[place] and ((before >= 0 and marks[before]) or (behind >= 0 and marks[behind]))
    }
    return [
        "" if verdict.cut or place in pasted else line
        for place, (line, verdict) in enumerate(zip(lines, judged, strict=True))
    ]
