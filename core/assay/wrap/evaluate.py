"""Judge a text against the store: what every line gets, what is carried, and the document that results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from assay.beliefs.grounds import Ground
from assay.beliefs.history import History
from assay.model.finding import Action, Finding
from assay.model.labels import Mark, Residence
from assay.model.schema import Role
from assay.text import fold, near
from assay.wrap.document import Document, Line, Note, Parsed, PatternLine, Section, render
from assay.wrap.findings import found
from assay.wrap.material import Material
from assay.wrap.rules.case import Case
from assay.wrap.rules.durable import keep_facts
from assay.wrap.rules.existence import namespace
from assay.wrap.rules.founding import founding
from assay.wrap.rules.judging import judge
from assay.wrap.rules.level import Decision, decide
from assay.wrap.rules.moves import Plan, plan_moves
from assay.wrap.rules.omission import omitted
from assay.wrap.rules.pooling import pooled
from assay.wrap.rules.rewriting import settled_text
from assay.wrap.rules.sizes import measure, shrink, size_findings
from assay.wrap.rules.sources import Origins, attribute
from assay.wrap.rules.stance import stances

__all__ = ["Evaluation", "Kept", "evaluate"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A line as it will stand, with what it rests on.

    Attributes:
        founded: Episodes that the engine found for a new line without a citation.
    """

    decision: Decision
    line: PatternLine
    founded: tuple[Ground, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The whole outcome of one text, before anything is written."""

    document: Document
    body: str
    kept: tuple[Kept, ...]
    carried: tuple[History, ...]
    resting: tuple[History, ...]
    plan: Plan
    origins: Origins
    dropped_facts: tuple[str, ...]
    findings: tuple[Finding, ...] = field(default=())

    @property
    def refused(self) -> bool:
        """Tell whether any finding forbids the save."""
        return any(finding.action is Action.REFUSE for finding in self.findings)


def evaluate(
    parsed: Parsed, material: Material, counter: Callable[[str], int], *, allow_shrink: bool = False
) -> Evaluation:
    """Run every rule on a text; nothing is read or written."""
    window = material.window
    findings = [*parsed.findings, *material.findings]
    strict = material.settings.policy == "strict"
    plan = plan_moves(parsed.moves, material.histories, material.successions, window.grounds.values(), strict=strict)
    findings += plan.findings
    cases, barred, named = _cases(parsed.document, plan)
    findings += [*named, *namespace(cases, window)]
    judged = pooled([judge(case, window) for case in cases])
    decisions = [decide(one, window, barred=barred.get(one.case.line.key, "")) for one in judged]
    findings += [finding for decision in decisions for finding in decision.findings]
    findings += stances(decisions, plan.histories.keys() | {case.line.key for case in cases})
    every = [_kept(decision, material, findings) for decision in decisions]
    kept = [one for one in every if not _leaves(one, plan)]
    leaving = [one.decision.case for one in every if _leaves(one, plan)]
    present = {one.decision.case.history.belief.ref for one in kept if one.decision.case.history}
    carried, resting, left_out = omitted(plan.histories.values(), present, plan.residences.keys())
    findings += [*left_out, *_suspected_renames(kept, carried)]
    warmed = [one for one in plan.histories.values() if _rewarmed(one, plan) and one.belief.ref not in present]
    document = _assembled(parsed.document, material, kept, leaving, [*carried, *warmed], findings)
    document, facts, dropped = keep_facts(material.before, document, tuple(plan.drops))
    document, origins, attributed = attribute(
        material.before, document, material.origins, tuple(window.grounds.values()), window.weights
    )
    findings += [*facts, *attributed]
    findings += _sized(document, material, counter, carried, plan, allow_shrink)
    ordered = tuple(
        sorted(dict.fromkeys(map(_Hashable, findings)), key=lambda one: (one.finding.line, one.finding.rule))
    )
    return Evaluation(
        document,
        render(document),
        tuple(kept),
        tuple([*carried, *warmed]),
        tuple(resting),
        plan,
        origins,
        tuple(dropped),
        tuple(one.finding for one in ordered),
    )


def _cases(document: Document, plan: Plan) -> tuple[list[Case], dict[str, str], list[Finding]]:
    """Give one case for each name; a name on two lines with different texts may not rise."""
    cases: dict[str, Case] = {}
    barred: dict[str, str] = {}
    findings: list[Finding] = []
    for section in document.with_role(Role.GRADUATING):
        for line in section.patterns:
            history = plan.histories.get(line.key)
            case = Case(line, section.heading, history)
            first = cases.setdefault(line.key, case)
            spelled = (
                first.line.name if first is not case else history.belief.name if history and line.name else line.name
            )
            if fold(spelled) != fold(line.name):
                message = f"{line.name[:40]!r} looks like {spelled[:40]!r} and is the same line"
                findings.append(case.found("name-confusable", message))
            if first is not case and fold(first.line.text) != fold(line.text):
                barred[line.key] = "name-duplicate"
                fix = "give each statement a name of its own, or join the two lines"
                message = f"{line.label[:60]!r} stands on two lines; neither rises"
                findings.append(case.found("name-duplicate", message, fix))
    return list(cases.values()), barred, findings


def _kept(decision: Decision, material: Material, findings: list[Finding]) -> Kept:
    case = decision.case
    text, finding = settled_text(decision)
    findings += [finding] if finding else []
    founded: tuple[Ground, ...] = ()
    if case.history is None and not case.line.citations:
        founded = founding(case, material.window)
        if not founded:
            message = f"no episode of the window says {case.line.label[:80]!r}"
            findings.append(case.found("entry-unsupported", message))
    verified = material.wrap.date if decision.verified else (case.history.verified if case.history else None)
    name = case.line.name
    if name and case.history is not None and fold(case.history.belief.name) != fold(name):
        name = case.history.belief.name
    line = PatternLine(
        name, text, decision.level, verified.isoformat() if verified else "", marks=decision.marks, line=case.line.line
    )
    return Kept(decision, line, founded)


def _leaves(kept: Kept, plan: Plan) -> bool:
    history = kept.decision.case.history
    goes = plan.residences.get(history.belief.ref) if history else None
    return goes is not None and goes[0] is not Residence.WORKING


def _rewarmed(history: History, plan: Plan) -> bool:
    return plan.residences.get(history.belief.ref, (None, ""))[0] is Residence.WORKING


def _suspected_renames(kept: list[Kept], carried: list[History]) -> list[Finding]:
    findings: list[Finding] = []
    for one in kept:
        case = one.decision.case
        old = next(
            (history for history in carried if case.history is None and near(history.belief.text, case.claim)), None
        )
        if old is not None:
            message = f"{case.line.label[:40]!r} says what {old.belief.name[:40]!r} says; both are kept"
            fix = f"to keep its level under the new name, write [rename: {old.belief.name} to {case.line.label}]"
            findings.append(case.found("rename-suspected", message, fix))
    return findings


def _assembled(
    document: Document,
    material: Material,
    kept: list[Kept],
    leaving: list[Case],
    carried: list[History],
    findings: list[Finding],
) -> Document:
    """Put the judged lines, the carried ones and the frozen sections in their places."""
    lines = {one.line.line: one.line for one in kept}
    texts = {one.line.key: fold(one.decision.case.line.text) for one in kept}
    released = {case.line.line for case in leaving}
    frozen = {section.heading: section for section in material.before.with_role(Role.FROZEN)} if material.before else {}
    homes = [section.heading for section in document.with_role(Role.GRADUATING)]
    sections: list[Section] = []
    for section in document.sections:
        if section.role is Role.GRADUATING:
            body = [one for line in section.body if (one := _placed(line, lines, texts, released)) is not None]
            mine = [one for one in carried if _home(one, homes) == section.heading]
            sections.append(replace(section, body=(*body, *(_carried_line(one) for one in mine))))
        elif section.heading in frozen and section.role is Role.FROZEN:
            if section.body and section.body != frozen[section.heading].body:
                message = "the section is fixed; its stored text is kept"
                findings.append(found("frozen-kept", message, section=section.heading, line=section.line))
            sections.append(frozen[section.heading])
        else:
            sections.append(section)
    return Document(tuple(sections), f"{material.project or 'Agent'}: continuity")


def _placed(line: Line, lines: dict[int, PatternLine], texts: dict[str, str], released: set[int]) -> Line | None:
    """Give the judged form of a line; another text under the same name stays as a note without a level."""
    if not isinstance(line, PatternLine) or line.line in lines:
        return lines[line.line] if isinstance(line, PatternLine) else line
    if line.line in released or texts.get(line.key) == fold(line.text):
        return None
    return Note(f"- {line.name}: {line.text}" if line.name else f"- {line.text}", line=line.line)


def _home(history: History, headings: list[str]) -> str:
    return history.belief.section if history.belief.section in headings else headings[0]


def _carried_line(history: History) -> PatternLine:
    belief = history.belief
    free = belief.text == belief.name
    marks = tuple(dict.fromkeys((*belief.marks, Mark.CARRIED_FORWARD)))
    verified = history.verified.isoformat() if history.verified else ""
    return PatternLine("" if free else belief.name, belief.text, belief.level, verified, marks=marks)


def _sized(
    document: Document,
    material: Material,
    counter: Callable[[str], int],
    carried: list[History],
    plan: Plan,
    allow_shrink: bool,
) -> list[Finding]:
    keys = frozenset(_carried_line(one).key for one in carried)
    sizes = measure(document, counter, keys)
    findings = size_findings(sizes, material.wrap.schema, material.settings, material.target)
    if material.before is not None and not allow_shrink:
        findings += shrink(material.before, document, material.wrap.schema, counter, len(plan.residences))
    return findings


class _Hashable:
    """A finding as a key: equal ones are told once."""

    __slots__ = ("finding",)

    def __init__(self, finding: Finding) -> None:
        self.finding = finding

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashable) and self.finding == other.finding

    def __hash__(self) -> int:
        return hash((self.finding.rule, self.finding.line, self.finding.message))
