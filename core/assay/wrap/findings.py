"""The ids of everything that a check can find, and what each does."""

from __future__ import annotations

from collections.abc import Mapping

from assay.model.episode import JsonValue
from assay.model.finding import Action, Finding

__all__ = ["RULES", "found"]

_IDS = {
    Action.REFUSE: """
        text-empty text-too-large section-missing heading-ambiguous line-unparsable evidence-malformed size-hard
        shrink wrap-none wrap-token wrap-superseded authority compose-failed
    """,
    Action.LOWER: """
        level-malformed name-duplicate citation-ambiguous citation-unknown citation-flood explanation-missing
        ungrounded claim-ungrounded value-unsupported polarity overreach uncorroborated overlap reuse pool
        single-source self-grounded user-only level-capped needs-evidence
    """,
    Action.MARK: """
        marker-outside marker-extra line-relayed durable-relayed durable-restored carried-forward omitted-carried
        omitted-moved rename-suspected
    """,
    Action.REPORT: """
        heading-normalised heading-duplicate output-cleaned frozen-kept marker-normalised name-confusable
        line-anonymous move-rejected move-relayed line-unsourced citation-stale citation-superseded citation-erased
        citation-namespace name-unchecked overgeneral suspected-derived shared-evidence entry-unsupported cold
        lowered-by-author stance-missing size-target durable-untracked durable-budget durable-duplicate
        supersession-rejected
    """,
}
RULES = {rule: action for action, ids in _IDS.items() for rule in ids.split()}
# What another text cannot mend in this wrap.
_FINAL = {"wrap-none", "wrap-token", "wrap-superseded", "authority", "compose-failed", "uncorroborated"} | {
    *("self-grounded", "user-only", "level-capped"),
}


def found(
    rule: str,
    message: str,
    fix: str = "",
    *,
    section: str = "",
    line: int = 0,
    subject: str = "",
    data: Mapping[str, JsonValue] | None = None,
) -> Finding:
    """Build a finding; its action, and whether another text could avoid it, follow from the rule."""
    action = RULES[rule]
    fixable = action in (Action.REFUSE, Action.LOWER) and rule not in _FINAL
    return Finding(rule, action, message, fix, section, line, subject[:80], fixable, data or {})
