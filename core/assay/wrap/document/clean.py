"""Strip what a model adds to a document: fences and chat around it, reasoning blocks, comments."""

from __future__ import annotations

from collections import Counter

from assay.model.schema import Schema
from assay.text import canon
from assay.wrap.document.headings import Heading, read_headings

__all__ = ["clean", "unwrap"]

_THOUGHTS = ("thinking", "think", "thought", "scratchpad", "reasoning", "analysis", "reflection")
_BLOCKS = (("<!--", "-->", "comment"), *((f"<{name}>", f"</{name}>", "reasoning block") for name in _THOUGHTS))


def clean(text: str) -> tuple[list[str], Counter[str]]:
    """Bring a text into canonical form and blank out what a model thought or remarked.

    Returns:
        The lines, still with the numbers that they had, and how much was stripped.
    """
    removed: Counter[str] = Counter({"byte order mark": 1} if text.startswith("\ufeff") else {})
    text = canon(text)
    for opening, closing, what in _BLOCKS:
        text = _without(text, opening, closing, what, removed) if opening in text else text
    for opening, _, _ in _BLOCKS:  # one that nothing closes stays, and cannot be read as one later
        text = text.replace(opening, f"< {opening[1:]}")
    return [line.rstrip() for line in text.split("\n")], removed


def _without(text: str, opening: str, closing: str, what: str, removed: Counter[str]) -> str:
    """Blank out every stretch from an opening to its closing."""
    parts: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        parts += [text[place:start], "\n" * text.count("\n", start, end)]
        removed[what] += 1
        place = end + len(closing)
    return "".join([*parts, text[place:]])


def unwrap(lines: list[str], schema: Schema, removed: Counter[str]) -> list[Heading]:
    """Blank out a fence around the whole document, and what stands before the first heading and after the fence.

    Returns:
        The headings of what is left.
    """
    headings = read_headings(lines, schema)
    sections = [heading.place for heading in headings if heading.spec is not None]
    if not sections:
        return headings
    fences = [index for index, line in enumerate(lines) if line.lstrip()[:3] in ("```", "~~~")]
    outer = [index for index in fences if index < sections[0]]
    end = len(lines)
    if len(outer) % 2 == 1:
        lines[outer[-1]] = ""
        removed["fence"] += 1
        closing = [index for index in fences if index > sections[-1] and not lines[index].strip().strip("`~")]
        if (len(fences) - len(outer)) % 2 == 1 and closing:
            end = closing[-1]
        headings = read_headings(lines, schema)
    for index in (*range(headings[0].place), *range(end, len(lines))):
        removed["line around the document"] += bool(lines[index])
        lines[index] = ""
    return read_headings(lines, schema) if end < len(lines) else headings
