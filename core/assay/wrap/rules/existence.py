"""B1-B5: every cited id exists, and is one of the episodes frozen into this wrap."""

from __future__ import annotations

from assay.model.constants import MAX_IDS_PER_LINE
from assay.model.finding import Action, Finding
from assay.wrap.rules.case import Case, IdState, Pair, Step, Window

__all__ = ["existence", "namespace"]

_REPORTED = {
    IdState.STALE: ("citation-stale", "is not in this wrap's window"),
    IdState.SUPERSEDED: ("citation-superseded", "was replaced by a newer episode"),
    IdState.ERASED: ("citation-erased", "was erased"),
}
_FIX = "cite only refs that the package prints under episodes"


def existence(case: Case, window: Window) -> Step:
    """Resolve the ids of a line; one that never existed, or more than eight, voids its citation."""
    written = [one for citation in case.line.citations for one in citation.ids]
    if len(written) > MAX_IDS_PER_LINE:
        message = f"{len(written)} ids on one line, at most {MAX_IDS_PER_LINE} are read"
        return _void(case, "citation-flood", message, "cite the two or three episodes that show it best")
    unknown = [one for one in written if window.ids[one].state is IdState.UNKNOWN]
    if unknown:
        message = f"{', '.join(one[:40] for one in unknown)}: no such episode was ever in this store"
        return _void(case, "citation-unknown", message, _FIX)
    pairs: dict[tuple[str, str], Pair] = {}
    findings: list[Finding] = []
    dropped: list[str] = []
    for citation in case.line.citations:
        for one in citation.ids:
            resolution = window.ids[one]
            if resolution.state is IdState.WINDOW:
                pairs[resolution.ref, citation.explanation] = Pair(window.grounds[resolution.ref], citation.explanation)
            elif resolution.state is IdState.AMBIGUOUS:
                message = f"{one[:40]}: several episodes begin with this ref"
                findings.append(
                    case.finding("citation-ambiguous", Action.LOWER, message, "give the ref as the package prints it")
                )
            else:
                rule, what = _REPORTED[resolution.state]
                findings.append(case.finding(rule, Action.REPORT, f"{one[:40]} {what}", _FIX))
                dropped.append(one)
    failed = "" if pairs else findings[0].rule
    return Step(tuple(pairs.values()), tuple(dropped), failed, tuple(findings))


def namespace(cases: list[Case], window: Window) -> list[Finding]:
    """Report once when lines cite and not one id of the whole text resolves."""
    cited = any(case.line.citations for case in cases)
    if not cited or any(one.state is not IdState.UNKNOWN for one in window.ids.values()):
        return []
    example = next(iter(window.shown.values()), "ep_k3v9q2ma")
    message = f"no id in the text is an episode's; refs look like {example}"
    return [Finding("citation-namespace", Action.REPORT, message, "copy refs from the episodes of the package")]


def _void(case: Case, rule: str, message: str, fix: str) -> Step:
    return Step((), failed=rule, findings=(case.finding(rule, Action.LOWER, message, fix),))
