"""B19, B20: one episode carries only so many claims, alone or together with others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from assay.beliefs.grounds import pools
from assay.model.constants import POOL_SLACK, REUSE_LIMIT
from assay.wrap.rules.judging import Judged

__all__ = ["pooled"]


def pooled(lines: list[Judged]) -> list[Judged]:
    """Fail the raising lines that lean on an episode cited too often, or on too few episodes together."""
    uses = Counter(ref for line in lines for ref in {pair.ground.ref for pair in line.pairs})
    kept = [_without_reused(line, uses) for line in lines]
    raising = [place for place, line in enumerate(kept) if line.passed and line.case.raising]
    for members, episodes in pools([kept[place].grounds for place in raising]):
        message = f"{len(members)} lines ask to rise on {episodes} distinct episodes"
        for line in (raising[member] for member in members):
            if len(members) > episodes + POOL_SLACK:
                fix = "raise only the lines that each have an episode of their own"
                kept[line] = _failed(kept[line], "pool", message, fix)
            elif len(members) > episodes:
                finding = kept[line].case.found("shared-evidence", message)
                kept[line] = replace(kept[line], findings=(*kept[line].findings, finding))
    return kept


def _without_reused(line: Judged, uses: Counter[str]) -> Judged:
    pairs = tuple(pair for pair in line.pairs if uses[pair.ground.ref] < REUSE_LIMIT)
    if not line.case.raising or len(pairs) == len(line.pairs):
        return line
    fix = "cite each episode on the one or two lines that it shows best"
    message = f"its episodes are cited on {REUSE_LIMIT} lines or more, and then raise none"
    return replace(line, pairs=pairs) if pairs else _failed(line, "reuse", message, fix)


def _failed(line: Judged, rule: str, message: str, fix: str) -> Judged:
    findings = (*line.findings, line.case.found(rule, message, fix))
    return replace(line, pairs=(), failed=rule, verdicts=dict.fromkeys(line.verdicts, rule), findings=findings)
