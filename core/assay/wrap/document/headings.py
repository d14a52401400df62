"""Recognise headings in every form that a model writes them, and match them to the sections of a schema."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from assay.model.schema import Schema, SectionSpec
from assay.text import skeleton

__all__ = ["Fences", "Heading", "heading_key", "read_headings", "section_at"]

_HASHES = frozenset("#＃﹟")
_FENCES = ("```", "~~~")
_DECORATION = {ord(char): None for char in "#*_`~"}
_OPENERS = frozenset("#＃﹟*_ \t")  # what a heading begins with, or what stands before it
_UNDER = frozenset("=- \t")
_SIGNS = re.compile(r"[\W_]+")
_LEADING = re.compile(r"^[\W_]+")
_ORDINAL = re.compile(r"^([0-9]{1,3}|[ivxlcdm]{1,7})[.):]\s*")


class Heading(NamedTuple):
    """A heading line.

    Attributes:
        level: Number of `#`; 0 for a bold or underlined line, which counts only when it names a section.
        key: What two spellings of it share.
        span: Number of lines it takes: 2 with an underline.
        spec: The section of the schema it stands for, or None.
        rivals: Headings of the schema that it contains, when there are several.
    """

    place: int
    level: int
    text: str
    key: str
    span: int = 1
    spec: SectionSpec | None = None
    rivals: tuple[str, ...] = ()


@lru_cache(maxsize=4_096)
def heading_key(text: str) -> str:
    """Give what two spellings of a heading share: no marks, no ordinal, no case, no look-alikes."""
    if text.isascii() and text.replace(" ", "").isalnum():
        return " ".join(text.lower().split())
    plain = _LEADING.sub("", skeleton(text.translate(_DECORATION)))
    return _ORDINAL.sub("", _LEADING.sub("", plain[::-1])[::-1])  # from behind: `[\W_]+$` takes the square of the time


def read_headings(lines: Sequence[str], schema: Schema) -> list[Heading]:
    """Find the headings, and give each section of the schema the ones that stand for it.

    A heading that only contains the name of one section stands for it when nothing else does. In a code block
    only a line that names a section counts: a comment in code stays code, and nothing can hide a section.
    """
    keys = {heading_key(section.heading): section for section in schema.sections}
    spaced = [(_spaced(key), section) for key, section in keys.items()]
    every: list[Heading] = []
    for index, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True)):
        if (
            line
            and (line[0] in _OPENERS or (below[:1] in _UNDER and len(below) > 1))
            and (one := _heading(index, line, below, keys))
        ):
            every.append(one)
    named = [one for one in every if one.spec is not None]
    code = _code(lines, [one.place for one in named])
    present = {one.spec.heading for one in named if one.spec}
    headings: list[Heading] = []
    contained: dict[str, list[SectionSpec]] = {}
    for one in every:
        if one.spec is not None:
            headings.append(one)
        elif one.level > 0 and one.place not in code:
            inside = contained.get(one.key)
            if inside is None:
                key = _spaced(one.key)
                inside = contained[one.key] = [spec for name, spec in spaced if name in key]
            absent = inside and any(spec.heading not in present for spec in inside)
            if absent and len(inside) == 1:
                present.add(inside[0].heading)
                one = one._replace(spec=inside[0])
            elif absent:
                one = one._replace(rivals=tuple(spec.heading for spec in inside))
            headings.append(one)
    return headings


def section_at(line: int, sections: Sequence[Heading]) -> str:
    """Name the section of the schema that a line, counted from 1, stands in; empty before the first one.

    Args:
        sections: The headings that stand for a section, in order.
    """
    place = bisect_left(sections, line, key=lambda heading: heading.place)
    spec = sections[place - 1].spec if place else None
    return spec.heading if spec else ""


class Fences:
    """The code blocks of some lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        marked = [(index, line.strip()) for index, line in enumerate(lines) if "```" in line or "~~~" in line]
        self.opening = {index: line[:3] for index, line in marked if line[:3] in _FENCES}
        self._closing = {marks: [index for index, line in marked if line == marks] for marks in _FENCES}

    def end(self, start: int, end: int) -> int:
        """Give the line that closes the code block opened at `start`, or -1 when none does before `end`."""
        closing = self._closing.get(self.opening.get(start, ""), [])
        place = bisect_right(closing, start)
        return closing[place] if place < len(closing) and closing[place] < end else -1


def _code(lines: Sequence[str], borders: list[int]) -> set[int]:
    """Give the lines inside code blocks; a block that a section heading interrupts is none."""
    inside: set[int] = set()
    fences = Fences(lines)
    for start in fences.opening:
        if start not in inside:
            border = min([len(lines), *borders[bisect_right(borders, start) :][:1]])
            inside.update(range(start, fences.end(start, border) + 1))
    return inside


def _heading(index: int, line: str, below: str, keys: Mapping[str, SectionSpec]) -> Heading | None:
    """Read a line as a heading; a section of the schema is one in any form, in others only `#` makes one."""
    text = line.strip()
    level, span = 0, 1
    if text[0] in _HASHES and len(line) - len(line.lstrip(" ")) <= 3:
        normal = text if text[:8].isascii() else unicodedata.normalize("NFKC", text[:8]) + text[8:]
        text = normal.lstrip("#")
        level = len(normal) - len(text)
        text = _without_closing(text) if text.endswith("#") else text.strip()
    elif (inner := text.rstrip(":： "))[:2] in ("**", "__") and len(inner) > 4 and inner.endswith(inner[:2]):
        text = inner
    elif _is_line(below):
        span = 2
    else:
        return None
    if level > 6:
        return None
    key = heading_key(text)
    spec = keys.get(key)
    return Heading(index, level, text, key, span, spec) if spec or (level and key) else None


def _without_closing(text: str) -> str:
    """Take the hashes off that close a heading: those behind a blank."""
    kept = len(text.rstrip("# \t"))
    blank = next((at for at in range(kept, len(text)) if text[at] in " \t"), len(text))
    return text[:blank].strip()


def _is_line(text: str) -> bool:
    text = text.strip()
    return len(text) > 1 and text[0] in "=-" and not text.strip(text[0])


@lru_cache(maxsize=4_096)
def _spaced(text: str) -> str:
    return f" {_SIGNS.sub(' ', text).strip()} "
