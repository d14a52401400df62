"""A19, A20, B36, B37, B41: what the markers of a text may do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from assay.beliefs.grounding import foreign
from assay.beliefs.history import History
from assay.model.finding import Finding
from assay.model.labels import BeliefKind, Mark, Residence, Trust
from assay.text import skeleton
from assay.wrap.document.lines import is_name
from assay.wrap.document.tree import Move, MoveVerb
from assay.wrap.findings import found
from assay.wrap.rules.case import Window, spelled

__all__ = ["Plan", "Succession", "plan_moves"]


@dataclass(frozen=True, slots=True)
class Succession:
    """A `supersedes` marker with its ids resolved, and why it cannot apply, or ""."""

    move: Move
    old: str
    new: str
    problem: str


@dataclass(slots=True)
class Plan:
    """What the accepted markers do.

    Attributes:
        histories: Beliefs by key, after renames and merges.
        residences: Id of a belief -> where it goes.
        reasons: Id of a retired belief -> why.
        absorbed: Id of a belief -> id of the one that takes its evidence.
        drops: Accepted markers that drop a pinned fact.
    """

    histories: dict[str, History]
    residences: dict[str, Residence] = field(default_factory=dict[str, Residence])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    absorbed: dict[str, str] = field(default_factory=dict[str, str])
    successions: list[Succession] = field(default_factory=list[Succession])
    drops: list[Move] = field(default_factory=list[Move])
    findings: list[Finding] = field(default_factory=list[Finding])


def plan_moves(
    moves: Iterable[Move], histories: Mapping[str, History], successions: Iterable[Succession], window: Window
) -> Plan:
    """Accept or reject each marker; one that an untrusted episode holds has no power."""
    plan, strict = Plan(dict(histories)), window.settings.policy == "strict"
    untrusted = [_said(ground.text) for ground in window.grounds.values() if ground.trust.rank < Trust.AGENT.rank]
    resolved = {id(one.move): one for one in successions}
    for move in moves:
        rule, problem = "move-rejected", ""
        unknown = [name for name in move.subjects if skeleton(name) not in plan.histories]
        if any(_said(move.text) in text for text in untrusted):
            rule, problem = "move-relayed", "an untrusted episode holds this marker; it has no power"
        elif move.verb is MoveVerb.SUPERSEDES:
            rule, problem = "supersession-rejected", resolved[id(move)].problem
            plan.successions += [] if problem else [resolved[id(move)]]
        elif move.verb is MoveVerb.DROP_DURABLE:
            problem = "under the strict policy only the operator drops a pinned fact" if strict else ""
            plan.drops += [] if problem else [move]
        elif unknown:
            problem = f"no line has the name {unknown[0][:40]!r}: name a line of the document exactly"
        else:
            problem = _VERBS[move.verb](plan, move)
        if problem:
            plan.findings.append(found(rule, f"{move.text[:80]}: {problem}", section=move.section, line=move.line))
    return plan


def _said(text: str) -> str:
    """Give the words of a text alone: whoever copies a marker may mend its brackets and quotes."""
    return re.sub(r"[\W_]+", " ", skeleton(text)).strip()


def _retire(plan: Plan, move: Move) -> str:
    history = plan.histories[skeleton(move.subjects[0])]
    if not move.reason:
        return f'a reason is needed: write [retire: {move.subjects[0][:40]} "why it no longer holds"]'
    plan.residences[history.belief.ref] = Residence.REST
    plan.reasons[history.belief.ref] = move.reason
    return ""


def _rename(plan: Plan, move: Move) -> str:
    old, new = skeleton(move.subjects[0]), skeleton(move.target)
    if not is_name(move.target) or (new != old and new in plan.histories):
        return f"the name {move.target[:40]!r} is taken or is no single word: choose another"
    history = plan.histories[old]
    known = "\n".join([history.belief.name, history.belief.text, *(ground.text for ground in history.counted)])
    if foreign(spelled(move.target), known, least=3):
        return f"the name {move.target[:40]!r} says what the line does not: choose a name of its own words"
    plan.histories[new] = plan.histories.pop(old).renamed(move.target)
    return ""


def _merge(plan: Plan, move: Move) -> str:
    members = list({key: plan.histories[key] for key in map(skeleton, move.subjects)}.values())
    target = skeleton(move.target)
    head = plan.histories.get(target, members[0])
    if len(members) < 2 or head not in members or not is_name(move.target):
        return "it needs two lines and a name, new or of one of them: write [merge: a, b into a]"
    for one in members:
        del plan.histories[skeleton(one.belief.name)]
        if one is not head:
            plan.absorbed[one.belief.ref] = head.belief.ref
    plan.histories[target] = head.merged(members, move.target)
    return ""


def _crystallize(plan: Plan, move: Move) -> str:
    belief = plan.histories[skeleton(move.subjects[0])].belief
    if belief.level < 2 and belief.kind is BeliefKind.PATTERN and Mark.CANDIDATE not in belief.marks:
        return "only a line at 2x or more moves to long-term memory: keep it, or retire it"
    plan.residences[belief.ref] = Residence.CRYSTAL
    return ""


def _rewarm(plan: Plan, move: Move) -> str:
    belief = plan.histories[skeleton(move.subjects[0])].belief
    if belief.residence is Residence.WORKING:
        return "the line is in the document already"
    plan.residences[belief.ref] = Residence.WORKING
    return ""


_VERBS: dict[MoveVerb, Callable[[Plan, Move], str]] = {
    MoveVerb.RETIRE: _retire,
    MoveVerb.RENAME: _rename,
    MoveVerb.MERGE: _merge,
    MoveVerb.CRYSTALLIZE: _crystallize,
    MoveVerb.REWARM: _rewarm,
}
