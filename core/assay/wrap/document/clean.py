"""Strip what a model adds around a document: fences, chat, reasoning blocks, comments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assay.model.schema import Schema
from assay.text import canon
from assay.wrap.document.headings import read_headings

__all__ = ["Cleaned", "clean"]

_THOUGHTS = ("thinking", "think", "thought", "scratchpad", "reasoning", "analysis", "reflection")
_BLOCKS = (("<!--", "-->", "comment"), *((f"<{name}>", f"</{name}>", "reasoning block") for name in _THOUGHTS))


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Lines in canonical form; what was stripped is blank, so that line numbers stay those of the text."""

    lines: list[str]
    removed: Counter[str]


def clean(text: str, schema: Schema) -> Cleaned:
    """Bring a text into canonical form and blank out what is not part of the document."""
    removed: Counter[str] = Counter({"byte order mark": 1} if text.startswith("\ufeff") else {})
    text = canon(text)
    for opening, closing, what in _BLOCKS:
        text = _without(text, opening, closing, what, removed) if opening in text else text
    for opening, _, _ in _BLOCKS:  # one that nothing closes stays, and cannot be read as one later
        text = text.replace(opening, f"< {opening[1:]}")
    lines = [line.rstrip() for line in text.split("\n")]
    _unwrap(lines, schema, removed)
    return Cleaned(lines, removed)


def _without(text: str, opening: str, closing: str, what: str, removed: Counter[str]) -> str:
    """Blank out every stretch from an opening to its closing."""
    parts: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        parts += [text[place:start], "\n" * text.count("\n", start, end)]
        removed[what] += 1
        place = end + len(closing)
    return "".join([*parts, text[place:]])


def _unwrap(lines: list[str], schema: Schema, removed: Counter[str]) -> None:
    """Blank out a fence around the whole document, and what stands before the first heading and after the fence."""
    headings = read_headings(lines, schema)
    sections = [heading.index for heading in headings if heading.spec is not None]
    if not sections:
        return
    fences = [index for index, line in enumerate(lines) if line.strip()[:3] in ("```", "~~~")]
    outer = [index for index in fences if index < sections[0]]
    outside: list[int] = []
    if len(outer) % 2 == 1:
        lines[outer[-1]] = ""
        removed["fence"] += 1
        closing = [index for index in fences if index > sections[-1] and not lines[index].strip().strip("`~")]
        if (len(fences) - len(outer)) % 2 == 1 and closing:
            outside += range(closing[-1], len(lines))
    outside += range(read_headings(lines, schema)[0].index if outer else headings[0].index)
    for index in outside:
        removed["line around the document"] += bool(lines[index].strip())
        lines[index] = ""
