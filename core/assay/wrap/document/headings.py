"""Recognise headings in every form that a model writes them, and match them to the sections of a schema."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from assay.model.schema import Schema, SectionSpec
from assay.text import skeleton

__all__ = ["Heading", "fence_end", "heading_key", "match_headings", "read_headings"]

_ROMAN = frozenset("ivxlcdm")
_HASHES = frozenset("#＃﹟")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line.

    Attributes:
        level: Number of `#`; 2 for an underlined or bold line.
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


def heading_key(text: str) -> str:
    """Give what two spellings of a heading share: no marks, no ordinal, no case, no look-alikes."""
    key = skeleton(text.translate({ord(char): None for char in "#*_`~"}))
    start, end = 0, len(key)
    while start < end and not key[start].isalnum():
        start += 1
    while end > start and not key[end - 1].isalnum():
        end -= 1
    key = key[start:end]
    ordinal = next((place for place, char in enumerate(key[:8]) if char in ".):"), -1)
    if ordinal > 0 and (key[:ordinal].isdigit() or set(key[:ordinal]) <= _ROMAN):
        key = key[ordinal + 1 :].strip()
    return key


def read_headings(lines: list[str], schema: Schema) -> list[Heading]:
    """Find the heading lines; bold and underlined lines count when they name a section of the schema.

    In a code block only a line that names a section counts, so that a comment in code stays code and yet
    nothing can hide a section.
    """
    keys = {heading_key(section.heading): section for section in schema.sections}
    candidates = [heading for index, line in enumerate(lines) if (heading := _heading(index, line, lines)) is not None]
    named = [heading for heading in candidates if heading.key in keys]
    code = _code(lines, {heading.index for heading in named})
    found: list[Heading] = []
    for heading in candidates:
        spec = keys.get(heading.key)
        if spec is not None:
            found.append(Heading(heading.index, heading.level, heading.text, heading.key, heading.span, spec, True))
        elif heading.index not in code and lines[heading.index].lstrip(" ")[0] in _HASHES:
            found.append(heading)
    return found


def fence_end(lines: list[str], start: int, end: int) -> int:
    """Give the line that closes the code block opened at `start`, or -1 when none does before `end`."""
    marks = lines[start].strip()[:3]
    if marks not in ("```", "~~~"):
        return -1
    return next((at for at in range(start + 1, end) if lines[at].strip() == marks), -1)


def match_headings(headings: list[Heading], schema: Schema) -> list[Heading]:
    """Give headings that contain the name of one section that is otherwise absent to that section."""
    keys = {heading_key(section.heading): section for section in schema.sections}
    present = {heading.spec.heading for heading in headings if heading.spec is not None}
    matched: list[Heading] = []
    for heading in headings:
        if heading.spec is None:
            inside = [spec for key, spec in keys.items() if _contains(heading.key, key)]
            absent = [spec for spec in inside if spec.heading not in present]
            if len(inside) > 1 and absent:
                heading = _with(heading, None, tuple(spec.heading for spec in inside))
            elif len(inside) == 1 and absent:
                heading = _with(heading, inside[0], ())
                present.add(inside[0].heading)
        matched.append(heading)
    return matched


def _heading(index: int, line: str, lines: list[str]) -> Heading | None:
    stripped = line.strip()
    if not stripped:
        return None
    return _hashes(index, line, stripped) or _bold(index, stripped) or _underlined(index, stripped, lines)


def _code(lines: list[str], borders: set[int]) -> set[int]:
    """Give the lines inside code blocks; a block that a section heading interrupts is none."""
    inside: set[int] = set()
    index = 0
    for border in [*sorted(borders), len(lines)]:
        while index < border:
            close = fence_end(lines, index, border)
            inside.update(range(index, close + 1) if close >= 0 else ())
            index = max(index, close) + 1
    return inside


def _with(heading: Heading, spec: SectionSpec | None, rivals: tuple[str, ...]) -> Heading:
    return Heading(heading.index, heading.level, heading.text, heading.key, heading.span, spec, False, rivals)


def _hashes(index: int, line: str, stripped: str) -> Heading | None:
    if len(line) - len(line.lstrip(" ")) > 3 or stripped[0] not in _HASHES:
        return None
    normal = unicodedata.normalize("NFKC", stripped[:8]) + stripped[8:]
    level = len(normal) - len(normal.lstrip("#"))
    text = normal.lstrip("#").strip().rstrip("#").strip()
    return Heading(index, level, text, heading_key(text)) if 1 <= level <= 6 and text else None


def _bold(index: int, stripped: str) -> Heading | None:
    inner = stripped.rstrip(":： ")
    for wrapper in ("**", "__"):
        if len(inner) > 2 * len(wrapper) and inner.startswith(wrapper) and inner.endswith(wrapper):
            return Heading(index, 2, inner, heading_key(inner))
    return None


def _underlined(index: int, stripped: str, lines: list[str]) -> Heading | None:
    below = lines[index + 1].strip() if index + 1 < len(lines) else ""
    if len(below) < 2 or set(below) not in ({"="}, {"-"}):
        return None
    return Heading(index, 2, stripped, heading_key(stripped), span=2)


def _contains(key: str, name: str) -> bool:
    def spaced(text: str) -> str:
        return f" {' '.join(''.join(char if char.isalnum() else ' ' for char in text).split())} "

    return spaced(name) in spaced(key)
