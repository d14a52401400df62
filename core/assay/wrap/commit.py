"""Write the outcome of a text: beliefs, evidence, successions, document and wrap, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping

from assay.beliefs.history import History
from assay.beliefs.loading import as_belief
from assay.beliefs.saving import add, add_evidence, change, move_evidence, revise
from assay.episodes.succession import supersede
from assay.model.belief import Belief
from assay.model.episode import JsonValue
from assay.model.labels import Mark, Residence
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton
from assay.wrap.diff import raised
from assay.wrap.evaluate import Evaluation, Kept
from assay.wrap.material import Material

__all__ = ["commit"]


def commit(tx: Transaction, evaluation: Evaluation, material: Material, *, actor: str, composer: str, text: str) -> int:
    """Write everything that a text earned and give the number of the new version."""
    version = material.version + 1
    rules = Counter(finding.rule for finding in evaluation.findings)
    data: dict[str, JsonValue] = {
        "wrap": material.wrap.n,
        "version": version,
        "composer": composer,
        "raised": len(raised(evaluation)),
        "rules": dict(sorted(rules.items())),
        "dropped": len(evaluation.dropped_facts),
    }
    tx.entry("save", actor=actor, data=data)
    for succession in evaluation.plan.successions:
        supersede(tx, succession.old, succession.new, reason="proposed in a wrap", made_by="wrap")
    _residences(tx, evaluation)
    position = Counter[str]()
    for kept in evaluation.kept:
        section = kept.decision.case.section
        position[section] += 1
        _belief(tx, kept, material, position[section])
    for history in evaluation.carried:
        marks = tuple(dict.fromkeys((*history.belief.marks, Mark.CARRIED_FORWARD)))
        change(tx, history.belief, marks=marks, residence=Residence.WORKING)
    for history in evaluation.resting:
        change(tx, history.belief, residence=Residence.REST)
    _document(tx, evaluation, material, version)
    digest = hashlib.sha256(text.encode()).hexdigest()
    detail = {
        "text": digest,
        "version": version,
        "raised": list(raised(evaluation)),
        "max_tokens": material.wrap.max_tokens,
    }
    columns: dict[str, Value] = {
        "state": "committed",
        "ended": tx.now,
        "detail": json.dumps(detail, ensure_ascii=False),
    }
    tx.update("wrap", material.wrap.ref, columns)
    for row in tx.find("draft"):
        tx.delete("draft", row["id"])
    return version


def _residences(tx: Transaction, evaluation: Evaluation) -> None:
    """Move, rename and merge what the markers of the text name."""
    plan = evaluation.plan
    for source, target in plan.absorbed.items():
        move_evidence(tx, source, target)
        revise(tx, _stored(tx, source), residence=Residence.REST.value)
    for history in plan.histories.values():
        belief = history.belief
        goes = plan.residences.get(belief.ref)
        revise(tx, belief, name=belief.name, name_key=skeleton(belief.name), level=belief.level)
        if goes is not None:
            change(tx, belief, residence=goes[0])


def _belief(tx: Transaction, kept: Kept, material: Material, position: int) -> None:
    decision = kept.decision
    case = decision.case
    text = kept.line.text or ""
    if case.history is None:
        ref = add(tx, kept.line.label, text, section=case.section, position=position)
        history = None
    else:
        history = case.history
        ref = history.belief.ref
        revise(tx, history.belief, text=text, section=case.section, position=position)
    _change(tx, ref, history, kept)
    _evidence(tx, ref, kept, material)


def _change(tx: Transaction, ref: str, history: History | None, kept: Kept) -> None:
    decision = kept.decision
    belief = history.belief if history else _stored(tx, ref)
    change(
        tx,
        belief,
        level=decision.level,
        residence=Residence.WORKING,
        marks=decision.marks,
        verified=decision.verified,
    )


def _evidence(tx: Transaction, ref: str, kept: Kept, material: Material) -> None:
    decision = kept.decision
    rows = [(pair.ground, pair.explanation) for pair in decision.judged.pairs] if decision.verified else []
    rows += [(ground, "") for ground in kept.founded]
    checks: Mapping[str, JsonValue] = dict(decision.judged.verdicts)
    for ground, explanation in rows:
        detail: dict[str, JsonValue] = {"class": ground.kind.value, "trust": ground.trust.value, "checks": dict(checks)}
        add_evidence(
            tx, ref, ground.ref, wrap=material.wrap.n, explanation=explanation, earned=decision.level, detail=detail
        )


def _document(tx: Transaction, evaluation: Evaluation, material: Material, version: int) -> None:
    origins = evaluation.origins
    detail = {
        "sources": {key: list(refs) for key, refs in origins.sources.items() if refs},
        "relayed": sorted(origins.relayed),
    }
    tx.insert(
        "document",
        tx.new_id("dc"),
        {
            "version": version,
            "body": evaluation.body,
            "wrap": material.wrap.n,
            "digest": hashlib.sha256(evaluation.body.encode()).hexdigest(),
            "made": tx.now,
            "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True),
        },
    )


def _stored(tx: Transaction, ref: str) -> Belief:
    row = tx.get("belief", ref)
    if row is None:
        raise LookupError(f"belief {ref} does not exist")
    return as_belief(row)
