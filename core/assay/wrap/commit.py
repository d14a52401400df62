"""Write the outcome of a text: beliefs, evidence, successions, document and wrap, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from assay.beliefs.reverting import snapshot
from assay.beliefs.saving import Standing, change, move_evidence, revise, stand
from assay.episodes.succession import supersede
from assay.model.episode import JsonValue
from assay.model.labels import Mark, Residence
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton
from assay.wrap.evaluate import Evaluation, Kept
from assay.wrap.material import Material

__all__ = ["commit", "digest"]


def commit(tx: Transaction, outcome: Evaluation, material: Material, *, actor: str, composer: str, text: str) -> int:
    """Write everything that a text earned and give the number of the new version."""
    version, wrap = material.version + 1, material.wrap
    rules = Counter(finding.rule for finding in outcome.findings)
    numbers: dict[str, JsonValue] = {"raised": len(outcome.raised), "dropped": len(outcome.dropped)}
    data: dict[str, JsonValue] = {"wrap": wrap.n, "version": version, "composer": composer, "rules": {**rules}}
    tx.entry("save", actor=actor, data=data | numbers)
    for succession in outcome.plan.successions:
        supersede(tx, succession.old, succession.new, reason="proposed in a wrap", made_by="wrap")
    _moves(tx, outcome, material)
    places = Counter[str]()
    for kept in outcome.kept:
        section = kept.decision.case.section
        places[section] += 1
        stand(tx, _standing(kept, places[section]), wrap.n)
    for history in outcome.carried:
        change(tx, history.belief, Residence.WORKING, Mark.CARRIED_FORWARD)
    for history in outcome.resting:
        change(tx, history.belief, Residence.REST)
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


def _moves(tx: Transaction, outcome: Evaluation, material: Material) -> None:
    """Move, rename and merge what the markers of the text name."""
    plan = outcome.plan
    for history in material.histories.values():
        belief = history.belief
        if belief.ref in plan.absorbed:
            move_evidence(tx, belief.ref, plan.absorbed[belief.ref])
            change(tx, belief, Residence.REST)
    for history in plan.histories.values():
        belief = history.belief
        revise(tx, belief, name=belief.name, name_key=skeleton(belief.name), level=belief.level)
        if belief.ref in plan.residences:
            change(tx, belief, plan.residences[belief.ref])


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
