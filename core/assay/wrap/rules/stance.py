"""B42: a line that rises says whether it contradicts another."""

from __future__ import annotations

from collections.abc import Collection

from assay.model.finding import Finding
from assay.text import skeleton
from assay.wrap.rules.level import Decision

__all__ = ["stances"]


def stances(decisions: list[Decision], known: Collection[str]) -> list[Finding]:
    """Report rising lines without a stance, and stances towards names that nobody holds."""
    findings: list[Finding] = []
    for decision in decisions:
        case = decision.case
        named = case.line.contradicts
        if named is None and decision.level > case.held:
            fix = "add [no-contradicts], or [contradicts: name] for the line that it speaks against"
            findings.append(case.found("stance-missing", "the line rises and takes no stance", fix))
        unknown = [name for name in named or () if skeleton(name) not in known]
        if unknown:
            message = f"contradicts {', '.join(name[:40] for name in unknown)}: no line has this name"
            findings.append(case.found("stance-missing", message, "name a line of the document"))
    return findings
