"""B40: what was earned is not lost because a text leaves it out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import date
from itertools import accumulate

from assay.beliefs.history import History
from assay.model.constants import OMISSION_LEVEL
from assay.model.finding import Finding
from assay.model.labels import Residence
from assay.wrap.findings import found

__all__ = ["bounded", "carried_findings", "omitted"]


def omitted(histories: Iterable[History], present: Collection[str]) -> tuple[list[History], list[History]]:
    """Split the working beliefs that the text leaves out into those carried and those that rest."""
    carried: list[History] = []
    resting: list[History] = []
    for history in histories:
        belief = history.belief
        if belief.residence is Residence.WORKING and belief.ref not in present:
            earned = belief.level >= OMISSION_LEVEL or history.explanations
            (carried if earned else resting).append(history)
    return carried, resting


def bounded(carried: list[History], size: Callable[[History], int], cap: int) -> tuple[list[History], list[History]]:
    """Split the carried beliefs into those that fit under the cap, and the longest unverified, which move out."""
    newest = sorted(carried, key=lambda one: (one.verified or date.min, one.belief.ref), reverse=True)
    sizes = accumulate(size(one) for one in newest)
    fitting = {one.belief.ref for one, total in zip(newest, sizes, strict=True) if total <= cap}
    return [one for one in carried if one.belief.ref in fitting], [
        one for one in carried if one.belief.ref not in fitting
    ]


def carried_findings(carried: Iterable[History], moved: Iterable[History]) -> list[Finding]:
    """Report what was carried, and what moved to long-term memory because there was too much of it."""
    findings: list[Finding] = []
    for rule, histories, what in (
        ("omitted-carried", carried, "is carried forward"),
        ("omitted-moved", moved, "moves to long-term memory with its level"),
    ):
        for belief in (history.belief for history in histories):
            message = f"{belief.name[:80]!r} ({belief.level}x) was left out and {what}"
            fix = f'repeat the line, or write [retire: {belief.name[:80]} "reason"]'
            findings.append(found(rule, message, fix, section=belief.section, subject=belief.name))
    return findings
