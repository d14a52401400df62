"""Strip what a model adds around a document: fences, chat, reasoning blocks, comments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.model.schema import Schema
from assay.text import canon
from assay.wrap.document.headings import read_headings

__all__ = ["Cleaned", "clean"]

_THOUGHTS = ("thinking", "think", "thought", "scratchpad", "reasoning", "analysis", "reflection")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Lines in canonical form; what was stripped is blank, so that line numbers stay those of the text."""

    lines: list[str]
    removed: Counter[str]


def clean(text: str, schema: Schema) -> Cleaned:
    """Bring a text into canonical form and blank out what is not part of the document."""
    removed: Counter[str] = Counter()
    if text.startswith("\ufeff"):
        removed["byte order mark"] += 1
    text = _without(canon(text), "<!--", "-->", "comment", removed)
    for name in _THOUGHTS:
        if f"<{name}" in text:
            text = _without(text, f"<{name}>", f"</{name}>", "reasoning block", removed)
    for opening in ("<!--", *(f"<{name}>" for name in _THOUGHTS)):
        text = text.replace(opening, f"< {opening[1:]}")
    lines = [line.rstrip() for line in text.split("\n")]
    _unwrap(lines, schema, removed)
    return Cleaned(lines, removed)


def _without(text: str, opening: str, closing: str, what: str, removed: Counter[str]) -> str:
    """Blank out every stretch from an opening to its closing."""
    parts: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        parts.append(text[place:start])
        parts.append("\n" * text.count("\n", start, end))
        removed[what] += 1
        place = end + len(closing)
    parts.append(text[place:])
    return "".join(parts)


def _unwrap(lines: list[str], schema: Schema, removed: Counter[str]) -> None:
    """Blank out a fence around the whole document, and what stands before the first heading and after the fence."""
    headings = read_headings(lines, schema)
    sections = [heading.index for heading in headings if heading.spec is not None]
    if not sections:
        return
    fences = [index for index, line in enumerate(lines) if line.strip()[:3] in ("```", "~~~")]
    outer = [index for index in fences if index < sections[0]]
    if len(outer) % 2 == 1:
        closing = [index for index in fences if index > sections[-1] and not lines[index].strip().strip("`~")]
        lines[outer[-1]] = ""
        removed["fence"] += 1
        if (len(fences) - len(outer)) % 2 == 1 and closing:
            _blank(lines, closing[-1], len(lines), removed)
    first = read_headings(lines, schema)[0].index
    _blank(lines, 0, first, removed)


def _blank(lines: list[str], start: int, end: int, removed: Counter[str]) -> None:
    for index in range(start, end):
        if lines[index].strip():
            removed["line around the document"] += 1
            lines[index] = ""
