"""B26-B31: the level that a line gets, from what is held, what it asks and what its evidence allows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from assay.beliefs.ceiling import Ceiling, ceiling
from assay.model.constants import CRYSTALLIZE_LEVEL
from assay.model.finding import Action, Finding
from assay.model.labels import Mark
from assay.wrap.rules.case import Case, Window
from assay.wrap.rules.claims import is_label
from assay.wrap.rules.judging import Judged

__all__ = ["Decision", "decide"]

# These rules withhold a raise; they take nothing of what was earned.
_MARKS = {
    "polarity": Mark.CONTESTED,
    "overreach": Mark.CONTESTED,
    "uncorroborated": Mark.UNCORROBORATED,
    "overlap": Mark.OVERLAP,
    "pool": Mark.SHARED_EVIDENCE,
    "reuse": Mark.SHARED_EVIDENCE,
}
# What a line without evidence does not change.
_LASTING = (Mark.CONTESTED, Mark.USER_ONLY, Mark.SELF_GROUNDED, Mark.REVOKED)


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


def decide(judged: Judged, window: Window, *, barred: bool = False) -> Decision:
    """Give the level of a line; `barred` when no line of its name may rise."""
    if judged.passed:
        return _passed(judged, window, barred)
    return _failed(judged, window) if judged.case.line.citations else _bare(judged, window)


def _passed(judged: Judged, window: Window, barred: bool) -> Decision:
    case = judged.case
    asked, held = case.line.level, case.held
    if asked < held:
        return _lowered(judged, verified=True)
    grounds = tuple({ground.ref: ground for ground in (*case.past, *judged.grounds)}.values())
    wraps = (case.history.wraps_verified if case.history else 0) + 1
    labelled = is_label(case, [ground.text for ground in judged.grounds])
    limit = ceiling(grounds, wraps, window.settings.conversation_cap, labelled=labelled)
    allowed = held if barred or case.history is None else max(held, min(held + 1, limit.level))
    level = min(asked, allowed)
    findings, marks = list(judged.findings), [limit.mark] if limit.mark and level >= limit.level else []
    if asked > level and not barred:
        findings.append(_held_back(judged, level, limit, window))
        marks.append(limit.mark if limit.mark and findings[-1].rule == limit.rule else Mark.LEVEL_CAPPED)
    return Decision(judged, level, True, tuple(dict.fromkeys(marks)), tuple(findings))


def _held_back(judged: Judged, level: int, limit: Ceiling, window: Window) -> Finding:
    case = judged.case
    written = f"written {case.line.level}x, kept at {level}x"
    if case.history is None:
        return case.found("level-capped", f"{written}: it is new and enters at 1x")
    if limit.level > case.held:
        return case.found("level-capped", f"{written}: one step in one wrap")
    if limit.rule != "single-source":
        return case.found(limit.rule, f"{written}: {limit.why}")
    # Only when the window holds another ground can another text mend it.
    known = {(ground.session, ground.source) for ground in judged.grounds}
    others = any((one.session, one.source) not in known and not one.blocked for one in window.grounds.values())
    fix = "cite an episode of another session or source as well, or leave the level as it is"
    return replace(case.found(limit.rule, f"{written}: {limit.why}", fix), fixable=others)


def _failed(judged: Judged, window: Window) -> Decision:
    case = judged.case
    level, findings = case.held, list(judged.findings)
    if judged.failed == "citation-unknown":
        level = max(1, case.held - 1)
    elif case.line.level < case.held:
        level = case.held - 1
    elif judged.failed not in _MARKS and not case.raising and not window.recent(case.history):
        level = max(1, case.held - 1)
    if (case.raising or level < case.held) and not any(finding.action is Action.LOWER for finding in findings):
        findings.append(case.found("ungrounded", "no cited episode counts", "cite episodes that the package prints"))
    marks = dict.fromkeys((*_lasting(case), _MARKS.get(judged.failed, Mark.UNGROUNDED)))
    return Decision(judged, level, False, tuple(marks), tuple(findings))


def _lasting(case: Case) -> list[Mark]:
    return [mark for mark in (case.history.belief.marks if case.history else ()) if mark in _LASTING]


def _bare(judged: Judged, window: Window) -> Decision:
    """Decide on a line without evidence: it keeps what is held, and gains nothing."""
    case = judged.case
    asked, held = case.line.level, case.held
    marks = _lasting(case)
    findings = list(judged.findings)
    if asked < held:
        return _lowered(judged, verified=False)
    if asked > held and not window.first:
        message = f"written {asked}x, kept at {held}x: {'it cites nothing' if case.history else 'it is new'}"
        fix = 'cite an episode of the window that shows it: [evidence: REF "words copied from it"]'
        findings.append(case.found("needs-evidence", message, fix if case.history else "write new lines at 1x"))
        marks = [Mark.NEEDS_EVIDENCE]
    elif asked > held:
        findings.append(case.found("level-capped", f"written {asked}x, kept at {held}x: it is new and enters at 1x"))
    elif held > 1 and not window.first:
        marks.append(Mark.CARRIED_FORWARD)
        if window.recent(case.history):
            findings.append(case.found("carried-forward", f"kept at {held}x without new evidence"))
        else:
            since = case.history.verified if case.history else None
            findings.append(case.found("cold", f"kept at {held}x; last verified {since or 'never'}"))
            if held >= CRYSTALLIZE_LEVEL and not case.line.provenance:
                fix = f"write [crystallize: {case.line.label[:60]}] to move it to long-term memory"
                findings.append(case.found("crystallize-suggested", f"kept at {held}x without new evidence", fix))
    return Decision(judged, held, False, tuple(marks), tuple(findings))


def _lowered(judged: Judged, *, verified: bool) -> Decision:
    case = judged.case
    level = case.held - 1
    message = f"written {case.line.level}x, held {case.held}x: lowered to {level}x at the author's wish"
    return Decision(judged, level, verified, (), (*judged.findings, case.found("lowered-by-author", message)))
