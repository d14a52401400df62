"""B19-B21: one episode carries only so many claims, alone or in rotation with others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from assay.beliefs.grounds import groups
from assay.model.constants import POOL_SLACK, REUSE_LIMIT
from assay.wrap.rules.judging import Judged

__all__ = ["pooled"]


def pooled(lines: list[Judged]) -> list[Judged]:
    """Fail the raising lines that lean on an episode cited too often, or on too few episodes together."""
    uses = Counter(ref for line in lines for ref in {pair.ground.ref for pair in line.pairs})
    reduced = [_without_reused(line, uses) for line in lines]
    raising = [line for line in reduced if line.passed and line.case.raising]
    failed: dict[int, Judged] = {}
    for component, episodes in _components(raising):
        if len(component) <= episodes:
            continue
        over = len(component) > episodes + POOL_SLACK
        for line in component:
            failed[id(line)] = _concentrated(line, len(component), episodes, over)
    return [failed.get(id(line), line) for line in reduced]


def _without_reused(line: Judged, uses: Counter[str]) -> Judged:
    reused = [pair.ground.ref for pair in line.pairs if uses[pair.ground.ref] >= REUSE_LIMIT]
    if not reused or not line.case.raising:
        return line
    pairs = tuple(pair for pair in line.pairs if pair.ground.ref not in reused)
    verdicts = line.verdicts | dict.fromkeys(reused, "reuse")
    if pairs:
        return replace(line, pairs=pairs, verdicts=verdicts)
    message = f"its only episode is cited on {uses[reused[0]]} lines; one that is cited on {REUSE_LIMIT} raises none"
    fix = "cite each episode on the one or two lines that it shows best"
    finding = line.case.found("reuse", message, fix)
    return replace(line, pairs=(), verdicts=verdicts, failed="reuse", findings=(*line.findings, finding))


def _components(lines: list[Judged]) -> list[tuple[list[Judged], int]]:
    """Give the sets of lines that share evidence, each with its number of distinct episodes."""
    distinct = groups(list({ground.ref: ground for line in lines for ground in line.grounds}.values()))
    group_of = {ground.ref: place for place, group in enumerate(distinct) for ground in group}
    components: list[tuple[list[Judged], set[int]]] = []
    for line in lines:
        mine = {group_of[ground.ref] for ground in line.grounds}
        joined = [one for one in components if one[1] & mine]
        merged = ([*(member for one in joined for member in one[0]), line], mine.union(*(one[1] for one in joined)))
        components = [one for one in components if not one[1] & mine] + [merged]
    return [(members, len(episodes)) for members, episodes in components]


def _concentrated(line: Judged, lines: int, episodes: int, over: bool) -> Judged:
    message = f"{lines} lines ask to rise on {episodes} distinct episodes"
    if not over:
        finding = line.case.found("shared-evidence", message)
        return replace(line, findings=(*line.findings, finding))
    fix = "raise only the lines that each have an episode of their own"
    finding = line.case.found("pool", message, fix)
    verdicts = line.verdicts | {ground.ref: "pool" for ground in line.grounds}
    return replace(line, pairs=(), verdicts=verdicts, failed="pool", findings=(*line.findings, finding))
