"""The ids of everything that a check can find, and what each does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.model.episode import JsonValue
from assay.model.finding import Action, Finding

__all__ = ["MEANINGS", "RULES", "found"]

_ROWS = [
    line.split("\t")
    for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
RULES = {rule: Action(action) for action, rule, _ in _ROWS}
MEANINGS = {rule: meaning for _, rule, meaning in _ROWS}
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
