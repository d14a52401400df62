"""A19, A20, B36, B37, B41: what the markers of a text may do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from assay.beliefs.grounds import Ground
from assay.beliefs.history import History
from assay.model.finding import Finding
from assay.model.labels import BeliefKind, Mark, Residence, Trust
from assay.text import fold, skeleton
from assay.wrap.document import Move, MoveVerb
from assay.wrap.findings import found

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
        residences: Id of a belief -> where it goes, with the reason.
        absorbed: Id of a belief -> id of the one that takes its evidence.
        drops: Accepted markers that drop a pinned fact.
    """

    histories: dict[str, History]
    residences: dict[str, tuple[Residence, str]] = field(default_factory=dict[str, tuple[Residence, str]])
    absorbed: dict[str, str] = field(default_factory=dict[str, str])
    successions: list[Succession] = field(default_factory=list[Succession])
    drops: list[Move] = field(default_factory=list[Move])
    findings: list[Finding] = field(default_factory=list[Finding])


def plan_moves(
    moves: Iterable[Move],
    histories: Mapping[str, History],
    successions: Iterable[Succession],
    grounds: Iterable[Ground],
    *,
    strict: bool,
) -> Plan:
    """Accept or reject each marker; one that an untrusted episode holds has no power."""
    plan = Plan(dict(histories))
    untrusted = [fold(ground.text) for ground in grounds if ground.trust.rank < Trust.AGENT.rank]
    resolved = {id(one.move): one for one in successions}
    for move in moves:
        if any(fold(move.text) in text for text in untrusted):
            plan.findings.append(
                _finding("move-relayed", move, "an untrusted episode holds this marker; it has no power")
            )
        elif move.verb is MoveVerb.SUPERSEDES:
            _supersede(plan, move, resolved[id(move)])
        elif move.verb is MoveVerb.DROP_DURABLE:
            if strict:
                _reject(plan, move, "under the strict policy only the operator drops a pinned fact")
            else:
                plan.drops.append(move)
        else:
            _VERBS[move.verb](plan, move)
    return plan


def _supersede(plan: Plan, move: Move, succession: Succession) -> None:
    if succession.problem:
        plan.findings.append(_finding("supersession-rejected", move, succession.problem))
    else:
        plan.successions.append(succession)


def _retire(plan: Plan, move: Move) -> None:
    history = _held(plan, move, move.subjects[0])
    if history is None:
        return
    if not move.reason:
        _reject(plan, move, "a reason is needed", f'write [retire: {move.subjects[0]} "why it no longer holds"]')
        return
    plan.residences[history.belief.ref] = (Residence.REST, move.reason)


def _rename(plan: Plan, move: Move) -> None:
    history = _held(plan, move, move.subjects[0])
    target = skeleton(move.target)
    if history is None:
        return
    if target != skeleton(move.subjects[0]) and target in plan.histories:
        _reject(plan, move, f"the name {move.target[:40]!r} is taken", "choose a name that no line has")
        return
    del plan.histories[skeleton(move.subjects[0])]
    plan.histories[target] = replace(history, belief=replace(history.belief, name=move.target))


def _merge(plan: Plan, move: Move) -> None:
    members = [_held(plan, move, name) for name in move.subjects]
    present = [one for one in members if one is not None]
    if len(present) < 2 or len(present) < len(members):
        if len(present) == len(members):
            _reject(plan, move, "two lines are needed", "write [merge: a, b into a]")
        return
    target = skeleton(move.target)
    if target in plan.histories and plan.histories[target] not in present:
        _reject(plan, move, f"the name {move.target[:40]!r} belongs to another line", "merge that line as well")
        return
    head = plan.histories.get(target, present[0])
    others = [one for one in present if one is not head]
    level = min(one.belief.level for one in present)
    evidence = {past.ref: past for one in present for past in one.past}
    belief = replace(head.belief, name=move.target, level=level)
    for one in present:
        plan.histories.pop(skeleton(one.belief.name), None)
    wraps = max(one.wraps_verified for one in present)
    plan.histories[target] = History(belief, wraps, tuple(evidence.values()))
    for one in others:
        plan.absorbed[one.belief.ref] = head.belief.ref
        plan.residences[one.belief.ref] = (Residence.REST, f"merged into {move.target}")


def _crystallize(plan: Plan, move: Move) -> None:
    history = _held(plan, move, move.subjects[0])
    if history is None:
        return
    belief = history.belief
    if belief.level < 2 and belief.kind is BeliefKind.PATTERN and Mark.CANDIDATE not in belief.marks:
        _reject(plan, move, "only a line at 2x or more moves to long-term memory", "keep the line, or retire it")
        return
    plan.residences[belief.ref] = (Residence.CRYSTAL, "")


def _rewarm(plan: Plan, move: Move) -> None:
    history = _held(plan, move, move.subjects[0])
    if history is not None and history.belief.residence is Residence.WORKING:
        _reject(plan, move, "the line is in the document already", "leave the marker out")
    elif history is not None:
        plan.residences[history.belief.ref] = (Residence.WORKING, "")


_VERBS: dict[MoveVerb, Callable[[Plan, Move], None]] = {
    MoveVerb.RETIRE: _retire,
    MoveVerb.RENAME: _rename,
    MoveVerb.MERGE: _merge,
    MoveVerb.CRYSTALLIZE: _crystallize,
    MoveVerb.REWARM: _rewarm,
}


def _held(plan: Plan, move: Move, name: str) -> History | None:
    history = plan.histories.get(skeleton(name))
    if history is None:
        _reject(plan, move, f"no line has the name {name[:40]!r}", "name a line of the document exactly")
    return history


def _reject(plan: Plan, move: Move, message: str, fix: str = "") -> None:
    plan.findings.append(_finding("move-rejected", move, message, fix))


def _finding(rule: str, move: Move, message: str, fix: str = "") -> Finding:
    return found(rule, f"{move.text[:80]}: {message}", fix, section=move.section, line=move.line)
