"""Write the outcome of a text: beliefs, evidence, successions, document and wrap, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assay.audit.folding import folded
from assay.beliefs.contradictions import oppose
from assay.beliefs.facts import Fact, settle_facts
from assay.beliefs.reverting import snapshot
from assay.beliefs.saving import Standing, change, move_evidence, revise, stand
from assay.episodes.succession import supersede
from assay.model.episode import JsonValue
from assay.model.labels import Mark, Residence
from assay.model.schema import Role
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton
from assay.wrap.document import Document
from assay.wrap.evaluate import Evaluation, Kept
from assay.wrap.material import Material
from assay.wrap.rules.sources import line_key

__all__ = ["commit", "digest", "settle_pins"]


def commit(tx: Transaction, outcome: Evaluation, material: Material, *, actor: str, composer: str, text: str) -> int:
    """Write everything that a text earned and give the number of the new version."""
    version, wrap = material.version + 1, material.wrap
    rules = Counter(finding.rule for finding in outcome.findings)
    numbers: dict[str, JsonValue] = {"raised": len(outcome.raised), "dropped": len(outcome.dropped)}
    data: dict[str, JsonValue] = {"wrap": wrap.n, "version": version, "composer": composer, "rules": {**rules}}
    tx.entry("save", actor=actor, data=data | numbers | folded(tx, wrap.ref))
    for succession in outcome.plan.successions:
        supersede(tx, succession.old, succession.new, reason="proposed in a wrap", made_by="wrap")
    _moves(tx, outcome, material)
    places = Counter[str]()
    refs = {key: history.belief.ref for key, history in {**material.histories, **outcome.plan.histories}.items()}
    for kept in outcome.kept:
        section = kept.decision.case.section
        places[section] += 1
        refs[kept.line.key] = stand(tx, _standing(kept, places[section]), wrap.n)
    oppose(tx, _contradicted(outcome, refs))
    for history in outcome.carried:
        change(tx, history.belief, Residence.WORKING, Mark.CARRIED_FORWARD)
    for history in outcome.resting:
        change(tx, history.belief, Residence.REST)
    settle_pins(tx, outcome.document, outcome.origins.sources, wrap.n)
    _document(tx, outcome, wrap.n, version)
    detail = {"text": digest(text), "version": version, "raised": outcome.raised, "reasons": outcome.plan.reasons}
    ended: dict[str, Value] = {"state": "committed", "ended": tx.now}
    tx.update("wrap", wrap.ref, {**ended, "detail": json.dumps(detail, ensure_ascii=False)})
    for row in tx.find("draft"):
        tx.delete("draft", row["id"])
    return version


def digest(text: str) -> str:
    """Give the SHA-256 of a text in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def settle_pins(tx: Transaction, document: Document, sources: Mapping[str, Sequence[str]], wrap: int) -> None:
    """Let the pinned facts be the bullets of the durable sections, each on the episodes that state it."""
    sections = document.with_role(Role.DURABLE)
    if sections:
        facts = (
            Fact(line.text, line.cues, section.heading, place, tuple(sources.get(line_key(line.text), ())))
            for section in sections
            for place, line in enumerate(section.facts, 1)
        )
        settle_facts(tx, facts, wrap)


def _moves(tx: Transaction, outcome: Evaluation, material: Material) -> None:
    """Move, rename and merge what the markers of the text name."""
    plan = outcome.plan
    for history in material.histories.values():
        belief = history.belief
        if belief.ref in plan.absorbed:
            move_evidence(tx, belief.ref, plan.absorbed[belief.ref])
            change(tx, belief, Residence.REST)
    as_it_was = {history.belief for history in material.histories.values()}
    beliefs = (history.belief for history in plan.histories.values())
    for belief in (one for one in beliefs if one not in as_it_was or one.ref in plan.residences):
        revise(tx, belief, name=belief.name, name_key=skeleton(belief.name), level=belief.level)
        if belief.ref in plan.residences:
            change(tx, belief, plan.residences[belief.ref])


def _contradicted(outcome: Evaluation, refs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the ids of each line and of the beliefs that it says to contradict."""
    for kept in outcome.kept:
        for name in kept.decision.case.line.contradicts or ():
            if skeleton(name) in refs:
                yield refs[kept.line.key], refs[skeleton(name)]


def _standing(kept: Kept, position: int) -> Standing:
    decision, line = kept.decision, kept.line
    history = decision.case.history
    cited = [(pair.ground, pair.explanation) for pair in decision.judged.pairs if decision.verified]
    return Standing(
        history.belief if history else None,
        line.label,
        line.text,
        decision.case.section,
        position,
        decision.level,
        decision.marks,
        decision.verified,
        (*cited, *((ground, "") for ground in kept.founded)),
        decision.judged.verdicts,
    )


def _document(tx: Transaction, outcome: Evaluation, wrap: int, version: int) -> None:
    sources = {key: refs for key, refs in outcome.origins.sources.items() if refs}
    told = {"sources": sources, "relayed": sorted(outcome.origins.relayed), **snapshot(tx)}
    detail = json.dumps(told, ensure_ascii=False)
    row: dict[str, Value] = {"version": version, "body": outcome.body, "digest": digest(outcome.body), "detail": detail}
    tx.insert("document", tx.new_id("dc"), {**row, "wrap": wrap, "made": tx.now})
