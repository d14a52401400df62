"""Choose citations that will hold, by asking the rules themselves."""

from __future__ import annotations

from dataclasses import replace

from assay.beliefs.grounds import Ground, ground_of, suspected
from assay.beliefs.history import history_of
from assay.beliefs.pairs import opposed
from assay.model.constants import CLAIM_COVER
from assay.model.finding import Action
from assay.model.wrap import WrapPackage
from assay.text import agrees, canon, clip, covers, sentences, skeleton
from assay.wrap.document import Citation, PatternLine
from assay.wrap.document.lines import is_name
from assay.wrap.rules.case import Case, IdState, Resolution, Window
from assay.wrap.rules.judging import Judged, judge
from assay.wrap.rules.level import decide
from assay.wrap.rules.pooling import pooled

__all__ = ["cited_lines", "plain"]

_PLAIN = str.maketrans({**dict.fromkeys('"“”„「」『』«»', "'"), "[": "(", "]": ")", "<": "< "})
_QUOTE = 160  # characters of an explanation
_MOST = 2  # citations on one line
_MARGIN = 0.1  # word weights may shift between the package and the save


def cited_lines(package: WrapPackage, lines: list[PatternLine]) -> list[PatternLine]:
    """Cite, and ask for a level more, on each line where every rule lets it pass; leave the others as they are."""
    window = _window(package)
    grounds = {episode.ref: ground_of(episode) for episode in package.witnesses}
    held = {skeleton(belief.name): history_of(belief, package.evidence, grounds) for belief in package.beliefs}
    lines = [replace(line, level=held[line.key].belief.level if line.key in held else 1, marks=()) for line in lines]
    cases = [Case(line, "", held.get(line.key)) for line in lines]
    proposals = [_proposal(case, window, package) for case in cases]
    while True:
        judged = pooled([judge(replace(case, line=line), window) for case, line in zip(cases, proposals, strict=True)])
        failing = [place for place, one in enumerate(judged) if one.case.line.citations and not _holds(one, window)]
        if not failing:
            return proposals
        for place in failing:
            proposals[place] = lines[place]


def plain(text: str) -> str:
    """Give a text on one line, without what could be read as a tag, a comment or the end of a quotation."""
    return " ".join(canon(text).translate(_PLAIN).split())


def _proposal(case: Case, window: Window, package: WrapPackage) -> PatternLine:
    """Give the most that a line can ask for: a level more, or the level it has verified again, or nothing."""
    grounds = _supporting(case, window)[:_MOST]
    if not grounds or case.history is None:
        return case.line
    citations = tuple(Citation((window.shown[ground.ref],), _quote(ground.text, case.claim)) for ground in grounds)
    stance = _contradicted(case, package)
    for level in (case.held + 1, case.held):
        line = replace(case.line, level=level, citations=citations, contradicts=stance)
        if _holds(judge(replace(case, line=line), window), window):
            return line
    return case.line


def _holds(judged: Judged, window: Window) -> bool:
    if not judged.passed:
        return False
    decision = decide(judged, window)
    lowered = any(finding.action is Action.LOWER for finding in decision.findings)
    return not lowered and decision.level == judged.case.line.level


def _supporting(case: Case, window: Window) -> list[Ground]:
    """Give the episodes that say the claim, those of another session or source than the evidence first."""
    past = [link.ground for link in case.history.past] if case.history else []
    known = {(ground.session, ground.source) for ground in past}
    seen = {ground.ref for ground in past}
    found: list[tuple[bool, float, Ground]] = []
    for ground in window.grounds.values():
        if ground.blocked or ground.ref in seen:
            continue
        cover = covers(ground.text, case.claim, window.weights)
        if cover >= CLAIM_COVER + _MARGIN and agrees(case.claim, ground.text):
            found.append(((ground.session, ground.source) in known, -cover, ground))
    return [ground for _, _, ground in sorted(found, key=lambda one: (one[0], one[1], one[2].n))]


def _quote(text: str, claim: str) -> str:
    best = max(sentences(text), key=lambda sentence: covers(sentence, claim), default=text)
    return plain(clip(best, _QUOTE))


def _contradicted(case: Case, package: WrapPackage) -> tuple[str, ...]:
    others = [one for one in package.beliefs if one.text and skeleton(one.name) != case.line.key]
    return tuple(one.name for one in others if is_name(one.name) and opposed(one.text, case.claim))


def _window(package: WrapPackage) -> Window:
    grounds, _ = suspected(package.episodes)
    live = {episode.ref: grounds[episode.ref] for episode in package.episodes if episode.replaced_by is None}
    ids = {package.refs[ref]: Resolution(IdState.WINDOW, ref) for ref in live}
    return Window(package.date, live, ids, lambda word: package.weights.get(word, 1.0), package.refs, package.settings)
