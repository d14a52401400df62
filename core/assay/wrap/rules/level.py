"""B26-B31: the level that a line gets, from what is held, what it asks and what its evidence allows."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.model.finding import Action, Finding
from assay.model.labels import Mark
from assay.wrap.rules.case import Case, Window
from assay.wrap.rules.ceiling import Ceiling, ceiling
from assay.wrap.rules.judging import Judged

__all__ = ["Decision", "decide"]

_MARKS = {
    "polarity": Mark.CONTESTED,
    "overreach": Mark.CONTESTED,
    "uncorroborated": Mark.UNCORROBORATED,
    "overlap": Mark.OVERLAP,
    "pool": Mark.SHARED_EVIDENCE,
    "reuse": Mark.SHARED_EVIDENCE,
}
# These withhold a raise; they take nothing of what was earned.
_WITHHOLDING = frozenset({"polarity", "overreach", "uncorroborated", "overlap", "pool", "reuse"})


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one line.

    Attributes:
        verified: Whether its evidence was verified in this wrap.
        marks: The marks that the line carries from now on.
    """

    judged: Judged
    level: int
    verified: bool = False
    marks: tuple[Mark, ...] = ()
    findings: tuple[Finding, ...] = field(default=())

    @property
    def case(self) -> Case:
        """Give the line as it came."""
        return self.judged.case


def decide(judged: Judged, window: Window, *, barred: str = "") -> Decision:
    """Give the level of a line.

    Args:
        judged: The line after the checks.
        window: The facts of the save.
        barred: A rule that forbids any line of this name to rise, or "".
    """
    case = judged.case
    if judged.passed:
        return _passed(judged, window, barred)
    if judged.case.line.citations:
        return _failed(judged, window)
    if case.history is None:
        return _entered(judged, window)
    return _bare(judged, window)


def _passed(judged: Judged, window: Window, barred: str) -> Decision:
    case = judged.case
    asked, held = case.line.level, case.held
    if asked < held:
        return _lowered(judged, verified=True)
    limit = ceiling(case, judged.grounds, window)
    allowed = held if barred or case.history is None else max(held, min(held + 1, limit.level))
    level = min(asked, allowed)
    findings = list(judged.findings)
    marks = [limit.mark] if limit.mark and level >= limit.level else []
    if asked > level and not barred:
        findings.append(_held_back(case, level, limit, allowed))
        marks.append(Mark.LEVEL_CAPPED if findings[-1].rule == "level-capped" else limit.mark or Mark.LEVEL_CAPPED)
    return Decision(judged, level, True, tuple(dict.fromkeys(marks)), tuple(findings))


def _held_back(case: Case, level: int, limit: Ceiling, allowed: int) -> Finding:
    asked, name = case.line.level, case.line.label[:80]
    if case.history is None:
        return case.finding(
            "level-capped", Action.LOWER, f"{name!r} is new and enters at 1x, not {asked}x", fixable=False
        )
    if allowed > case.held or limit.level > case.held:
        message = f"written {asked}x, held {case.held}x, capped to {level}x: one step in one wrap"
        return case.finding("level-capped", Action.LOWER, message, fixable=False)
    message = f"written {asked}x, kept at {level}x: {limit.why}"
    fixable = limit.rule == "single-source"
    fix = "cite an episode of another session or source as well, or leave the level as it is" if fixable else ""
    return case.finding(limit.rule, Action.LOWER, message, fix, fixable=fixable)


def _failed(judged: Judged, window: Window) -> Decision:
    case = judged.case
    mark = _MARKS.get(judged.failed, Mark.UNGROUNDED)
    level = case.held
    findings = list(judged.findings)
    if judged.failed == "citation-unknown":
        level = max(1, case.held - 1)
    elif case.line.level < case.held:
        level = case.held - 1
    elif judged.failed not in _WITHHOLDING and not case.raising and not _recent(case, window):
        level = max(1, case.held - 1)
    if level < case.held and not any(finding.action is Action.LOWER for finding in findings):
        findings.append(
            case.finding("ungrounded", Action.LOWER, "no cited episode counts", "cite episodes of the window")
        )
    elif case.raising and not any(finding.action is Action.LOWER for finding in findings):
        message = f"written {case.line.level}x, kept at {level}x: no cited episode counts"
        findings.append(case.finding("level-capped", Action.LOWER, message, "cite episodes of the window"))
    return Decision(judged, level, False, (mark,), tuple(findings))


def _entered(judged: Judged, window: Window) -> Decision:
    case = judged.case
    if case.line.level == 1 or window.first:
        return Decision(judged, 1, findings=judged.findings)
    message = f"{case.line.label[:80]!r} is new and enters at 1x, not {case.line.level}x"
    finding = case.finding("needs-evidence", Action.LOWER, message, "write new lines at 1x")
    return Decision(judged, 1, False, (Mark.NEEDS_EVIDENCE,), (*judged.findings, finding))


def _bare(judged: Judged, window: Window) -> Decision:
    case = judged.case
    asked, held = case.line.level, case.held
    if asked < held:
        return _lowered(judged, verified=False)
    if asked > held:
        if window.first:
            return Decision(judged, held, findings=judged.findings)
        message = f"written {asked}x, kept at {held}x: it cites nothing"
        fix = 'cite an episode of the window that shows it: [evidence: REF "words copied from it"]'
        finding = case.finding("needs-evidence", Action.LOWER, message, fix)
        return Decision(judged, held, False, (Mark.NEEDS_EVIDENCE,), (*judged.findings, finding))
    if window.first or held == 1:
        kept = tuple(mark for mark in _kept_marks(case) if mark is not Mark.CARRIED_FORWARD)
        return Decision(judged, held, False, kept, judged.findings)
    findings = list(judged.findings)
    if _recent(case, window):
        findings.append(case.finding("carried-forward", Action.MARK, f"kept at {held}x without new evidence"))
    else:
        since = case.history.verified.isoformat() if case.history and case.history.verified else "never"
        findings.append(case.finding("cold", Action.REPORT, f"kept at {held}x; last verified {since}"))
    marks = dict.fromkeys((*_kept_marks(case), Mark.CARRIED_FORWARD))
    return Decision(judged, held, False, tuple(marks), tuple(findings))


def _lowered(judged: Judged, *, verified: bool) -> Decision:
    case = judged.case
    level = case.held - 1
    message = f"written {case.line.level}x, held {case.held}x: lowered to {level}x at the author's wish"
    finding = case.finding("lowered-by-author", Action.REPORT, message)
    return Decision(judged, level, verified, (), (*judged.findings, finding))


def _kept_marks(case: Case) -> tuple[Mark, ...]:
    """Give the marks whose state a line without evidence does not change."""
    lasting = (Mark.CONTESTED, Mark.USER_ONLY, Mark.SELF_GROUNDED, Mark.REVOKED)
    return tuple(mark for mark in case.history.belief.marks if mark in lasting) if case.history else ()


def _recent(case: Case, window: Window) -> bool:
    days = window.settings.carry_days
    verified = case.history.verified if case.history else None
    return days is not None and verified is not None and (window.date - verified).days <= days
