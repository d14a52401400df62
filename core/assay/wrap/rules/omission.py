"""B40: what was earned is not lost because a text leaves it out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assay.beliefs.history import History
from assay.model.constants import OMISSION_LEVEL
from assay.model.finding import Finding
from assay.model.labels import Residence
from assay.wrap.findings import found

__all__ = ["omitted"]


def omitted(
    histories: Iterable[History], present: Collection[str], released: Collection[str]
) -> tuple[list[History], list[History], list[Finding]]:
    """Split the working beliefs that the text leaves out into those carried and those that rest.

    Args:
        histories: What the document held.
        present: Ids of the beliefs that the new text has.
        released: Ids of those that a move of the text takes away.
    """
    carried: list[History] = []
    resting: list[History] = []
    findings: list[Finding] = []
    for history in histories:
        belief = history.belief
        if belief.residence is not Residence.WORKING or belief.ref in present or belief.ref in released:
            continue
        if belief.level >= OMISSION_LEVEL or history.past:
            carried.append(history)
            message = f"{belief.name[:80]!r} ({belief.level}x) was left out and is carried forward"
            fix = f'repeat the line, or write [retire: {belief.name[:80]} "reason"]'
        else:
            resting.append(history)
            continue
        findings.append(found("omitted-carried", message, fix, section=belief.section, subject=belief.name))
    return carried, resting, findings
