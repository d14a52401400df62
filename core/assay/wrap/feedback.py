"""Render findings so that a model can act on them, and read what it answers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.model.finding import Action, Finding

__all__ = ["feedback", "holding", "mended"]

_REPLACEMENT = re.compile(r"(?:line )?([0-9]{1,5}):(?: (.*))?", re.IGNORECASE)
_SHOWN = 600  # characters of a line; the whole text stands above
_TASK = """\
The document was not saved. Change the lines below and answer with the whole document again, or with nothing but the
changed lines, each as `NUMBER: the new line`; a number twice puts two lines in its place, a number alone removes it."""


def holding(findings: Iterable[Finding]) -> list[Finding]:
    """Give the findings that another text could avoid: refusals, and levels held for a reason that can be mended."""
    return [one for one in findings if one.action is Action.REFUSE or (one.action is Action.LOWER and one.fixable)]


def feedback(findings: Iterable[Finding], text: str) -> str:
    """Give one paragraph for each finding: what is wrong, where in the text, and what to do about it."""
    lines = text.split("\n")
    parts = [_TASK]
    for number, one in enumerate(findings, 1):
        place = f"line {one.line}" if one.line else "the document"
        where = f"{place}, section {one.section}" if one.section else place
        parts.append(f"{number}. [{one.rule}] {where}: {one.message}.{f' Do this: {one.fix}.' if one.fix else ''}")
        parts += [f"{one.line}: {lines[one.line - 1][:_SHOWN]}"] if 0 < one.line <= len(lines) else []
    return "\n".join(parts)


def mended(text: str, answer: str) -> str:
    """Give the document that an answer to the feedback means: itself, or the text with the lines that it replaces."""
    said = [_REPLACEMENT.fullmatch(line.strip()) for line in answer.splitlines() if line.strip()]
    lines = text.split("\n")
    replaced: dict[int, list[str]] = {}
    for line in said:
        if line is None or not 0 < int(line[1]) <= len(lines):
            return answer
        replaced.setdefault(int(line[1]), []).append(line[2] or "")
    return "\n".join(new for at, old in enumerate(lines, 1) for new in replaced.get(at, [old])) if replaced else answer
