"""Recognise headings in every form that a model writes them, and match them to the sections of a schema."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from assay.model.schema import Schema, SectionSpec
from assay.text import skeleton

__all__ = ["Heading", "fence_end", "heading_key", "read_headings"]

_HASHES = frozenset("#＃﹟")
_DECORATION = {ord(char): None for char in "#*_`~"}
_ENDS = re.compile(r"^[\W_]+|[\W_]+$")
_CLOSING = re.compile(r"(?:[ \t]#{1,80}){1,80}[ \t]*$")
_ORDINAL = re.compile(r"^([0-9]{1,3}|[ivxlcdm]{1,7})[.):]\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line.

    Attributes:
        level: Number of `#`; 0 for a bold or underlined line, which counts only when it names a section.
        span: Number of lines it takes: 2 with an underline.
        spec: The section of the schema it stands for, or None.
        exact: Whether its key equals the key of that section.
        rivals: Headings of the schema that it contains, when there are several.
    """

    index: int
    level: int
    text: str
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
    spaced = {_spaced(key): section for key, section in keys.items()}
    every = [one for index in range(len(lines)) if (one := _heading(index, lines)) is not None]
    named = [replace(one, spec=keys.get(heading_key(one.text)), exact=True) for one in every]
    code = _code(lines, [one.index for one in named if one.spec is not None])
    present = {one.spec.heading for one in named if one.spec is not None}
    headings: list[Heading] = []
    for heading in named:
        if heading.spec is None:
            if heading.level == 0 or heading.index in code:
                continue
            key = _spaced(heading_key(heading.text))
            inside = [spec for name, spec in spaced.items() if name in key]
            absent = any(spec.heading not in present for spec in inside)
            only = inside[0] if absent and len(inside) == 1 else None
            rivals = tuple(spec.heading for spec in inside) if absent and only is None else ()
            present |= {only.heading} if only else set()
            heading = replace(heading, spec=only, exact=False, rivals=rivals)
        headings.append(heading)
    return headings


def fence_end(lines: list[str], start: int, end: int) -> int:
    """Give the line that closes the code block opened at `start`, or -1 when none does before `end`."""
    marks = lines[start].strip()[:3]
    if marks not in ("```", "~~~"):
        return -1
    return next((at for at in range(start + 1, end) if lines[at].strip() == marks), -1)


def _code(lines: list[str], borders: list[int]) -> set[int]:
    """Give the lines inside code blocks; a block that a section heading interrupts is none."""
    inside: set[int] = set()
    index = 0
    for border in [*borders, len(lines)]:
        while index < border:
            close = fence_end(lines, index, border)
            inside.update(range(index, close + 1))
            index = max(index, close) + 1
    return inside


def _heading(index: int, lines: list[str]) -> Heading | None:
    line = lines[index]
    stripped = line.strip()
    if not stripped:
        return None
    if stripped[0] in _HASHES and len(line) - len(line.lstrip(" ")) <= 3:
        normal = unicodedata.normalize("NFKC", stripped[:8]) + stripped[8:]
        text = normal.lstrip("#")
        level = len(normal) - len(text)
        text = _CLOSING.sub("", text).strip()
        return Heading(index, level, text) if level <= 6 and heading_key(text) else None
    inner = stripped.rstrip(":： ")
    if inner[:2] in ("**", "__") and len(inner) > 4 and inner.endswith(inner[:2]):
        return Heading(index, 0, inner)
    below = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return Heading(index, 0, stripped, span=2) if len(below) > 1 and set(below) in ({"="}, {"-"}) else None


@lru_cache(maxsize=4_096)
def _spaced(text: str) -> str:
    return f" {' '.join(''.join(char if char.isalnum() else ' ' for char in text).split())} "
