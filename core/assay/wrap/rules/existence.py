"""B1-B5: every cited id exists, and is one of the episodes frozen into this wrap."""

from __future__ import annotations

from assay.model.constants import MAX_IDS_PER_LINE
from assay.model.finding import Finding
from assay.wrap.findings import found
from assay.wrap.rules.case import Case, IdState, Pair, Step, Window

__all__ = ["existence", "namespace"]

_UNUSABLE = {
    IdState.AMBIGUOUS: ("citation-ambiguous", "begins several episodes"),
    IdState.STALE: ("citation-stale", "is not in this wrap's window"),
    IdState.SUPERSEDED: ("citation-superseded", "was replaced by a newer episode"),
    IdState.ERASED: ("citation-erased", "was erased"),
}
_FIX = "cite only refs that the package prints under episodes, as they are printed"


def existence(case: Case, window: Window) -> Step:
    """Resolve the ids of a line; one that never existed, or more than eight, voids its citation."""
    cited = [(one, citation.explanation) for citation in case.line.citations for one in citation.ids]
    if len(cited) > MAX_IDS_PER_LINE:
        message = f"{len(cited)} ids on one line, at most {MAX_IDS_PER_LINE} are read"
        return Step.void(case.found("citation-flood", message, "cite the two or three episodes that show it best"))
    unknown = [one[:40] for one, _ in cited if window.ids[one].state is IdState.UNKNOWN]
    if unknown:
        message = f"{', '.join(unknown)}: no such episode was ever in this store"
        return Step.void(case.found("citation-unknown", message, _FIX))
    pairs: list[Pair] = []
    findings: list[Finding] = []
    for one, explanation in cited:
        resolution = window.ids[one]
        if resolution.state is IdState.WINDOW:
            pairs.append(Pair(window.grounds[resolution.ref], explanation))
        else:
            rule, what = _UNUSABLE[resolution.state]
            findings.append(case.found(rule, f"{one[:40]} {what}", _FIX))
    return Step(tuple(dict.fromkeys(pairs)), (), "" if pairs else findings[0].rule, tuple(findings))


def namespace(cases: list[Case], window: Window) -> list[Finding]:
    """Report once when lines cite and not one id of the whole text resolves."""
    cited = any(case.line.citations for case in cases)
    if not cited or any(one.state is not IdState.UNKNOWN for one in window.ids.values()):
        return []
    example = next(iter(window.shown.values()), "ep_k3v9q2ma")
    message = f"no id in the text is an episode's; refs look like {example}"
    return [found("citation-namespace", message, "copy refs from the episodes of the package")]
