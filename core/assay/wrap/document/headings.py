"""Recognise headings in every form that a model writes them, and match them to the sections of a schema."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from assay.model.schema import Schema, SectionSpec
from assay.text import skeleton

__all__ = ["Fences", "Heading", "heading_key", "read_headings", "section_at"]

_HASHES = frozenset("#＃﹟")
_FENCES = ("```", "~~~")
_DECORATION = {ord(char): None for char in "#*_`~"}
_ENDS = re.compile(r"^[\W_]+|[\W_]+$")
_ORDINAL = re.compile(r"^([0-9]{1,3}|[ivxlcdm]{1,7})[.):]\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line.

    Attributes:
        level: Number of `#`; 0 for a bold or underlined line, which counts only when it names a section.
        key: What two spellings of it share.
        span: Number of lines it takes: 2 with an underline.
        spec: The section of the schema it stands for, or None.
        exact: Whether its key equals the key of that section.
        rivals: Headings of the schema that it contains, when there are several.
    """

    index: int
    level: int
    text: str
    key: str
    span: int = 1
    spec: SectionSpec | None = None
    exact: bool = False
    rivals: tuple[str, ...] = ()


@lru_cache(maxsize=4_096)
def heading_key(text: str) -> str:
    """Give what two spellings of a heading share: no marks, no ordinal, no case, no look-alikes."""
    return _ORDINAL.sub("", _ENDS.sub("", skeleton(text.translate(_DECORATION))))


def read_headings(lines: list[str], schema: Schema) -> list[Heading]:
    """Find the headings, and give each section of the schema the ones that stand for it.

    A heading that only contains the name of one section stands for it when nothing else does. In a code block
    only a line that names a section counts: a comment in code stays code, and nothing can hide a section.
    """
    keys = {heading_key(section.heading): section for section in schema.sections}
    spaced = [(_spaced(key), section) for key, section in keys.items()]
    every = [one for index in range(len(lines)) if (one := _heading(index, lines, keys)) is not None]
    code = _code(lines, [one.index for one in every if one.spec is not None])
    present = {one.spec.heading for one in every if one.spec is not None}
    headings: list[Heading] = []
    for one in every:
        if one.spec is not None:
            headings.append(one)
        elif one.level > 0 and one.index not in code:
            key = _spaced(one.key)
            inside = [spec for name, spec in spaced if name in key]
            absent = any(spec.heading not in present for spec in inside)
            only = inside[0] if absent and len(inside) == 1 else None
            rivals = tuple(spec.heading for spec in inside) if absent and only is None else ()
            present |= {only.heading} if only else set()
            headings.append(Heading(one.index, one.level, one.text, one.key, one.span, only, False, rivals))
    return headings


def section_at(line: int, headings: list[Heading]) -> str:
    """Name the section of the schema that a line, counted from 1, stands in; empty before the first one."""
    sections = [heading for heading in headings if heading.spec is not None]
    before = sections[: bisect_left(sections, line, key=lambda heading: heading.index)]
    return before[-1].spec.heading if before and before[-1].spec else ""


class Fences:
    """The code blocks of some lines."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._closing: dict[str, list[int]] = {marks: [] for marks in _FENCES}
        for index, line in enumerate(lines):
            if line.strip() in self._closing:
                self._closing[line.strip()].append(index)

    def __bool__(self) -> bool:
        return any(self._closing.values())

    def end(self, start: int, end: int) -> int:
        """Give the line that closes the code block opened at `start`, or -1 when none does before `end`."""
        closing = self._closing.get(self._lines[start].strip()[:3], [])
        place = bisect_right(closing, start)
        return closing[place] if place < len(closing) and closing[place] < end else -1


def _code(lines: list[str], borders: list[int]) -> set[int]:
    """Give the lines inside code blocks; a block that a section heading interrupts is none."""
    inside: set[int] = set()
    fences = Fences(lines)
    if not fences:
        return inside
    index = 0
    for border in [*borders, len(lines)]:
        while index < border:
            close = fences.end(index, border)
            inside.update(range(index, close + 1))
            index = max(index, close) + 1
    return inside


def _heading(index: int, lines: list[str], keys: Mapping[str, SectionSpec]) -> Heading | None:
    """Read a line as a heading; a section of the schema is one in any form, in others only `#` makes one."""
    line = lines[index]
    stripped = line.strip()
    if not stripped:
        return None
    level, span, text = 0, 1, stripped
    inner = stripped.rstrip(":： ")
    if stripped[0] in _HASHES and len(line) - len(line.lstrip(" ")) <= 3:
        normal = unicodedata.normalize("NFKC", stripped[:8]) + stripped[8:]
        text = normal.lstrip("#")
        level = len(normal) - len(text)
        text = _without_closing(text)
    elif inner[:2] in ("**", "__") and len(inner) > 4 and inner.endswith(inner[:2]):
        text = inner
    elif _is_line_under(lines[index + 1] if index + 1 < len(lines) else ""):
        span = 2
    else:
        return None
    key = heading_key(text)
    spec = keys.get(key)
    return Heading(index, level, text, key, span, spec, True) if level <= 6 and (key or level == 0) else None


def _without_closing(text: str) -> str:
    """Take the hashes off that close a heading: those behind a blank."""
    kept = len(text.rstrip("# \t"))
    blank = next((at for at in range(kept, len(text)) if text[at] in " \t"), len(text))
    return text[:blank].strip()


def _is_line_under(line: str) -> bool:
    line = line.strip()
    return len(line) > 1 and line[0] in "=-" and not line.strip(line[0])


@lru_cache(maxsize=4_096)
def _spaced(text: str) -> str:
    return f" {' '.join(''.join(char if char.isalnum() else ' ' for char in text).split())} "
