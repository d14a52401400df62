"""Render findings so that a model can act on them."""

from __future__ import annotations

from collections.abc import Iterable

from assay.model.finding import Action, Finding

__all__ = ["feedback", "holding"]


def holding(findings: Iterable[Finding]) -> list[Finding]:
    """Give the findings that another text could avoid: refusals, and levels held for a reason that can be mended."""
    return [one for one in findings if one.action is Action.REFUSE or (one.action is Action.LOWER and one.fixable)]


def feedback(findings: Iterable[Finding]) -> str:
    """Give one paragraph for each finding: what is wrong, where, and what to do about it."""
    parts = ["The document was not saved. Change the lines below and answer with the whole document again."]
    for number, one in enumerate(findings, 1):
        place = f"line {one.line}" if one.line else "the document"
        where = f"{place}, section {one.section}" if one.section else place
        text = f"{number}. [{one.rule}] {where}: {one.message}."
        parts.append(f"{text} Do this: {one.fix}." if one.fix else text)
    return "\n".join(parts)
