"""Judge a text against the store: what every line gets, what is carried, and the document that results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil

from assay.authority.watching import Held
from assay.beliefs.grounding import founding
from assay.beliefs.grounds import Ground
from assay.beliefs.history import History
from assay.beliefs.pairs import opposed, related
from assay.model.belief import Belief
from assay.model.finding import Action, Finding
from assay.model.labels import Mark, Residence
from assay.model.schema import Role
from assay.text import content_set, fold, near, skeleton
from assay.wrap.document import Document, Line, Note, Parsed, PatternLine, Section, render, render_line
from assay.wrap.findings import found
from assay.wrap.material import Material
from assay.wrap.rules.case import Case
from assay.wrap.rules.durable import held_facts, keep_facts
from assay.wrap.rules.existence import namespace
from assay.wrap.rules.judging import judge
from assay.wrap.rules.level import Decision, decide
from assay.wrap.rules.moves import Plan, plan_moves
from assay.wrap.rules.omission import bounded, carried_findings, omitted
from assay.wrap.rules.pooling import pooled
from assay.wrap.rules.probes import drifts
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
    """The whole outcome of one text, before anything is written.

    Attributes:
        carried: Beliefs that the text left out and that stay in the document.
        resting: Unsupported beliefs that it left out.
        dropped: Texts of the pinned facts that a marker drops.
    """

    document: Document
    body: str
    kept: tuple[Kept, ...]
    carried: tuple[History, ...]
    resting: tuple[History, ...]
    plan: Plan
    origins: Origins
    dropped: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Tell whether any finding forbids the save."""
        return any(finding.action is Action.REFUSE for finding in self.findings)

    @property
    def raised(self) -> tuple[str, ...]:
        """Give the names of the beliefs that rise."""
        return tuple(one.line.label for one in self.kept if one.decision.level > one.decision.case.held)


def evaluate(
    parsed: Parsed, material: Material, counter: Callable[[str], int], *, allow_shrink: bool = False
) -> Evaluation:
    """Run every rule on a text; nothing is read or written."""
    window, schema, before = material.window, material.wrap.schema, material.before
    counter = cache(counter)  # most sections are counted twice
    plan = plan_moves(parsed.moves, material.histories, material.successions, window)
    cases, barred, findings = _cases(parsed.document, plan)
    findings += [*parsed.findings, *material.findings, *plan.findings, *namespace(cases, window)]
    judged = pooled([judge(case, window) for case in cases])
    decisions = [decide(one, window, barred=one.case.line.key in barred) for one in judged]
    findings += [finding for decision in decisions for finding in decision.findings]
    findings += stances(decisions, plan.histories.keys() | {case.line.key for case in cases})
    staying = [one for one in decisions if not _leaves(one, plan)]
    kept = [_kept(decision, material, findings) for decision in staying]
    present = {one.case.history.belief.ref for one in staying if one.case.history}
    released = plan.residences.keys() | plan.absorbed.keys()
    carried, resting = omitted(plan.histories.values(), present | released)
    cap = ceil(material.settings.hard_factor * material.target)
    carried, crowded = bounded(carried, lambda one: counter(render_line(_carried_line(one))), cap)
    findings += [*carried_findings(carried, crowded), *_suspected_renames(kept, carried)]
    findings += _compared(kept, plan, material.pinned)
    plan.residences.update({one.belief.ref: Residence.CRYSTAL for one in crowded})
    warm = [ref for ref, residence in plan.residences.items() if residence is Residence.WORKING and ref not in present]
    carried += [history for history in plan.histories.values() if history.belief.ref in warm]
    document = _assembled(parsed.document, material, kept, carried, findings)
    held = held_facts(before, material.pinned)
    document, facts, dropped = keep_facts(held, document, tuple(plan.drops))
    document, origins, attributed = attribute(before, document, material.origins, window, (one.fact for one in held))
    sizes = measure(document, counter, {_carried_line(one).key for one in carried})
    findings += [*facts, *attributed, *size_findings(sizes, schema, material.settings, material.target)]
    findings += drifts(material.probes, {**material.watched, **_held(kept, carried, plan)}, document)
    if before is not None and not allow_shrink:
        left = [
            one.belief for one in material.histories.values() if one.belief.ref in plan.residences.keys() | released
        ]
        moved = {skeleton(one.name) for one in left}
        findings += shrink(before, document, counter, moved)
    told = {(one.line, one.rule, one.message): one for one in findings}
    ordered = tuple(told[key] for key in sorted(told))
    body = render(document)
    return Evaluation(
        document, body, tuple(kept), tuple(carried), tuple(resting), plan, origins, tuple(dropped), ordered
    )


def _cases(document: Document, plan: Plan) -> tuple[list[Case], set[str], list[Finding]]:
    """Give one case for each name; a name on two lines with different texts may not rise."""
    cases: dict[str, Case] = {}
    barred: set[str] = set()
    findings: list[Finding] = []
    for section in document.with_role(Role.GRADUATING):
        for line in section.patterns:
            history = plan.histories.get(line.key)
            case = Case(line, section.heading, history)
            first = cases.setdefault(line.key, case)
            known = [first.line.name, history.belief.name if history and line.name else line.name]
            other = next((name for name in known if name != line.name and fold(name) != fold(line.name)), None)
            if other is not None:
                message = f"{line.name[:40]!r} looks like {other[:40]!r} and is the same line"
                findings.append(case.found("name-confusable", message))
            if first.line.text != line.text and fold(first.line.text) != fold(line.text):
                barred.add(line.key)
                fix = "give each statement a name of its own, or join the two lines"
                message = f"{line.label[:60]!r} stands on two lines; neither rises"
                findings.append(case.found("name-duplicate", message, fix))
    return list(cases.values()), barred, findings


def _kept(decision: Decision, material: Material, findings: list[Finding]) -> Kept:
    """Give the line its settled text, level, marks and date; find what a new one rests on."""
    case, history = decision.case, decision.case.history
    text, finding = settled_text(decision)
    findings += [finding] if finding else []
    founded: tuple[Ground, ...] = ()
    if history is None and not case.line.citations:
        founded = founding(case.claim, tuple(material.window.grounds.values()), material.window.weights)
        if not founded:
            message = f"no episode of the window says {case.line.label[:80]!r}"
            findings.append(case.found("entry-unsupported", message))
    verified = material.wrap.date if decision.verified else (history.verified if history else None)
    name = history.belief.name if history and case.line.name else case.line.name
    date = verified.isoformat() if verified else ""
    line = PatternLine(name, text, decision.level, date, marks=decision.marks, line=case.line.line)
    return Kept(decision, line, founded)


def _held(kept: list[Kept], carried: list[History], plan: Plan) -> dict[str, Held]:
    """Say how every belief stands after the text, by full id; one that was merged stands as what took it in."""
    held = {
        one.decision.case.history.belief.ref: Held(one.decision.level, Residence.WORKING)
        for one in kept
        if one.decision.case.history
    }
    held |= {one.belief.ref: Held(one.belief.level, Residence.WORKING) for one in carried}
    for belief in (history.belief for history in plan.histories.values()):
        residence = plan.residences.get(belief.ref, belief.residence)
        if belief.ref not in held and residence is not Residence.WORKING:
            held[belief.ref] = Held(belief.level, residence, belief.ref in plan.reasons)
    return held | {ref: held[head] for ref, head in plan.absorbed.items() if head in held}


def _leaves(decision: Decision, plan: Plan) -> bool:
    history = decision.case.history
    return history is not None and plan.residences.get(history.belief.ref, Residence.WORKING) is not Residence.WORKING


def _compared(kept: list[Kept], plan: Plan, pinned: Sequence[Belief]) -> list[Finding]:
    """Report new and changed lines that say what another belief says, or speak against it (B43, B44)."""
    findings: list[Finding] = []
    beliefs = [*(history.belief for history in plan.histories.values() if history.belief.text), *pinned]
    listed = [(content_set(one.text), one) for one in beliefs]
    for case, text in ((one.decision.case, one.line.text) for one in kept if one.line.text):
        if case.history is not None and fold(case.history.belief.text) == fold(text):
            continue
        mine = case.history.belief.ref if case.history else ""
        for other in (one for one in related(text, listed) if one.ref != mine):
            name = other.name[:40] or "a pinned fact"
            if near(text, other.text):
                message = f"{case.line.label[:40]!r} says what {name!r} says"
                findings.append(case.found("duplicate-candidate", message, "merge the two lines if they are one"))
            elif opposed(text, other.text):
                message = f"{case.line.label[:40]!r} speaks against {name!r}: {other.text[:60]!r}"
                fix = f"say which of the two holds: write [contradicts: {name}], or retire one"
                if not other.name:
                    fix = f"if the fact no longer holds, write [drop-durable: {other.text[:80]}]"
                findings.append(case.found("conflict-candidate", message, fix))
    return findings


def _suspected_renames(kept: list[Kept], carried: list[History]) -> list[Finding]:
    findings: list[Finding] = []
    for case in (one.decision.case for one in kept if one.decision.case.history is None):
        old = next((one.belief.name for one in carried if near(one.belief.text, case.claim)), None)
        if old is not None:
            message = f"{case.line.label[:40]!r} says what {old[:40]!r} says; both are kept"
            fix = f"to keep its level under the new name, write [rename: {old} to {case.line.label}]"
            findings.append(case.found("rename-suspected", message, fix))
    return findings


def _assembled(
    document: Document, material: Material, kept: list[Kept], carried: list[History], findings: list[Finding]
) -> Document:
    """Put the judged lines, the carried ones and the frozen sections in their places."""
    lines = {one.line.line: one.line for one in kept}
    texts = {one.line.key: fold(one.decision.case.line.text) for one in kept}
    frozen = {section.heading: section for section in material.before.with_role(Role.FROZEN)} if material.before else {}
    homes = [section.heading for section in document.with_role(Role.GRADUATING)]
    sections: list[Section] = []
    for section in document.sections:
        if section.role is Role.GRADUATING:
            body = [one for line in section.body if (one := _placed(line, lines, texts)) is not None]
            mine = [one for one in carried if _home(one, homes) == section.heading]
            section = replace(section, body=(*body, *map(_carried_line, mine)))
        elif section.role is Role.FROZEN and section.heading in frozen:
            if section.body and section.body != frozen[section.heading].body:
                message = "the section is fixed; its stored text is kept"
                findings.append(found("frozen-kept", message, section=section.heading, line=section.line))
            section = frozen[section.heading]
        sections.append(section)
    return Document(tuple(sections), f"{material.project or 'Agent'}: continuity")


def _placed(line: Line, lines: dict[int, PatternLine], texts: dict[str, str]) -> Line | None:
    """Give the judged form of a line; another text under the same name stays as a note without a level."""
    if not isinstance(line, PatternLine):
        return line
    if line.line in lines or texts.get(line.key, fold(line.text)) == fold(line.text):
        return lines.get(line.line)
    return Note(f"- {line.name}: {line.text}" if line.name else f"- {line.text}", line=line.line)


def _home(history: History, headings: list[str]) -> str:
    return history.belief.section if history.belief.section in headings else headings[0]


def _carried_line(history: History) -> PatternLine:
    belief = history.belief
    marks = tuple(dict.fromkeys((*belief.marks, Mark.CARRIED_FORWARD)))
    verified = history.verified.isoformat() if history.verified else ""
    name = "" if belief.text == belief.name else belief.name
    return PatternLine(name, belief.text, belief.level, verified, marks=marks)
