"""The checks of one line, in the order that is part of the contract: the first that fails names the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay.beliefs.grounds import Ground
from assay.model.finding import Finding
from assay.wrap.rules.case import Case, Pair, Step, Window
from assay.wrap.rules.claims import claimed, valued
from assay.wrap.rules.existence import existence
from assay.wrap.rules.grounding import explained, grounding
from assay.wrap.rules.meaning import agreeing, measured
from assay.wrap.rules.overlap import fresh
from assay.wrap.rules.trust import trusted

__all__ = ["Judged", "judge"]

_Check = Callable[[Case, tuple[Pair, ...], Window], Step]
STEPS: tuple[_Check, ...] = (explained, grounding, claimed, valued, agreeing, measured, trusted, fresh)


@dataclass(frozen=True, slots=True)
class Judged:
    """One line after the checks.

    Attributes:
        pairs: The citations that count.
        verdicts: Full id of each cited episode of the window -> `counted`, or the step that dropped it.
        failed: Id of the rule that voids the citation, or "".
    """

    case: Case
    pairs: tuple[Pair, ...]
    verdicts: dict[str, str]
    failed: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Tell whether the line cites and something counts."""
        return bool(self.pairs) and not self.failed

    @property
    def grounds(self) -> tuple[Ground, ...]:
        """Give the distinct episodes that count."""
        return tuple({pair.ground.ref: pair.ground for pair in self.pairs}.values())


def judge(case: Case, window: Window) -> Judged:
    """Check the citations of one line; a line without any passes nothing and fails nothing."""
    if not case.line.citations:
        return Judged(case, (), {}, "", ())
    step = existence(case, window)
    findings = list(step.findings)
    verdicts = {pair.ground.ref: "" for pair in step.pairs}
    name = "existence"
    for check in STEPS:
        if step.failed:
            break
        pairs = step.pairs
        step = check(case, pairs, window)
        name = check.__name__
        verdicts |= {ref: name for ref in step.dropped if ref in verdicts}
        findings += step.findings
    for ref, verdict in verdicts.items():
        verdicts[ref] = verdict or (step.failed or "counted")
    return Judged(case, () if step.failed else step.pairs, verdicts, step.failed, tuple(findings))
