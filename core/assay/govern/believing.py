"""What the operator says of a belief: lower it, let it rest, retire it, end it, or leave a contradiction be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from assay.beliefs.contradictions import SIDES, dismiss_pair
from assay.beliefs.facts import Fact, fact_rows
from assay.beliefs.facts import pin as pin_fact
from assay.beliefs.loading import find_belief
from assay.beliefs.saving import revise
from assay.errors import InvalidInput
from assay.govern.redrawing import between_wraps, redraw
from assay.model.belief import Belief
from assay.model.constants import MAX_BELIEF_CHARS, MAX_CUES
from assay.model.episode import JsonValue
from assay.model.labels import Mark, Residence
from assay.storage.database import Database
from assay.storage.transaction import Transaction
from assay.text import skeleton
from assay.wrap.document import FactLine, render_line
from assay.wrap.document.lines import read_fact
from assay.wrap.document.tags import take_moves

__all__ = ["dismiss", "pin", "rest", "retire", "set_level", "sever", "unpin"]


def set_level(database: Database, name: str, level: int, *, reason: str) -> Belief:
    """Lower a belief to a level; evidence alone raises one (B26).

    Raises:
        InvalidInput: The level is not below the one it has, or the reason is empty.
    """

    def write(tx: Transaction, belief: Belief) -> None:
        if isinstance(level, bool) or not 1 <= level < belief.level:
            raise InvalidInput(
                "level", f"at least 1 and below the {belief.level}x that it has: only evidence raises one"
            )
        revise(tx, belief, level=level, marks=json.dumps([mark.value for mark in belief.marks if mark != Mark.REVOKED]))
        _forget_revocation(tx, belief)

    return _changed(database, name, "level", _said(reason), write, level=level)


def rest(database: Database, name: str, *, reason: str = "") -> Belief:
    """Take a belief out of document and recall; a line that names it brings it back at its level (H13)."""
    return _changed(database, name, "rest", reason, _lay)


def retire(database: Database, name: str, *, reason: str) -> Belief:
    """Take a belief out because it no longer holds, and keep why (B41).

    Raises:
        InvalidInput: The reason is empty.
    """
    return _changed(database, name, "retire", _said(reason), _lay)


def sever(database: Database, name: str, *, reason: str = "") -> None:
    """End a belief with its evidence for good: a later line of its name is new, and no revert brings it back (B35)."""

    def write(tx: Transaction, belief: Belief) -> None:
        for row in tx.find("evidence", {"belief": belief.ref}):
            tx.delete("evidence", row["id"])
        for side in ("source", "target"):
            for row in tx.find("edge", {side: belief.ref, "kind": SIDES}):
                tx.delete("edge", row["id"])
        _forget_revocation(tx, belief)
        tx.delete("belief", belief.ref)

    _changed(database, name, "sever", reason, write)


def pin(database: Database, text: str, cues: Sequence[str] = ()) -> Belief:
    """Pin a fact: it stands in the durable section word for word until it is unpinned or dropped (J1).

    Raises:
        Conflict: A wrap is open.
        InvalidInput: The text would not come back from the document as one line, or there are too many cues.
    """
    line, findings = read_fact(f"- {text}")
    if line is None or line.text != text or findings or take_moves(text)[1] or len(text) > MAX_BELIEF_CHARS:
        raise InvalidInput("text", f"one line of at most {MAX_BELIEF_CHARS} characters, without level, marker or cues")
    bare = FactLine(text, tuple(" ".join(cue.split()) for cue in cues))
    if read_fact(render_line(bare))[0] != bare:
        raise InvalidInput("cues", f"at most {MAX_CUES} different words or phrases, without commas or dashes")

    def write(tx: Transaction) -> Belief:
        between_wraps(tx)
        row = fact_rows(tx).get(skeleton(text))
        tx.entry("belief", actor="host", data={"verb": "pin"})
        ref = pin_fact(tx, Fact(text, bare.cues, row["section"] if row else "", row["position"] if row else 0), row)
        redraw(tx, lambda sources: True)
        return find_belief(tx, ref)

    return database.mutate(write)


def unpin(database: Database, name: str, *, reason: str) -> Belief:
    """Let a pinned fact go (C7).

    Args:
        name: Its ref, or its text.

    Raises:
        InvalidInput: It is no pinned fact, or the reason is empty.
    """

    def write(tx: Transaction, belief: Belief) -> None:
        if belief.residence is not Residence.PINNED:
            raise InvalidInput("name", "it is not pinned")
        revise(tx, belief, residence=Residence.REST.value)

    return _changed(database, name, "unpin", _said(reason), write)


def dismiss(database: Database, one: str, other: str, *, reason: str) -> None:
    """Let two beliefs stand side by side: they are not shown as a contradiction any more (B42).

    Raises:
        InvalidInput: The reason is empty, or both names are of one belief.
    """
    _said(reason)

    def write(tx: Transaction) -> None:
        pair = find_belief(tx, one), find_belief(tx, other)
        if pair[0].ref == pair[1].ref:
            raise InvalidInput("other", "name another belief")
        refs: list[JsonValue] = [belief.ref for belief in pair]
        tx.entry("belief", actor="host", data={"verb": "dismiss", "beliefs": refs, "reason": reason})
        dismiss_pair(tx, pair[0].ref, pair[1].ref)

    database.mutate(write)


def _changed(
    database: Database,
    name: str,
    verb: str,
    reason: str,
    write: Callable[[Transaction, Belief], None],
    **data: JsonValue,
) -> Belief:
    """Change a belief under one audit entry, and draw the document anew; give the belief as it stood or stands.

    Raises:
        Conflict: A wrap is open.
        NotFound: No belief, or several, have this name or ref.
    """

    def apply(tx: Transaction) -> Belief:
        between_wraps(tx)
        belief = find_belief(tx, name)
        tx.entry("belief", actor="host", data={"verb": verb, "belief": belief.ref, "reason": reason, **data})
        write(tx, belief)
        redraw(tx, lambda sources: True)
        return find_belief(tx, belief.ref) if tx.get("belief", belief.ref) else belief

    return database.mutate(apply)


def _lay(tx: Transaction, belief: Belief) -> None:
    if belief.residence is Residence.PINNED:
        raise InvalidInput("name", "it is pinned: unpin it")
    revise(tx, belief, residence=Residence.REST.value)


def _said(reason: str) -> str:
    if not reason.strip():
        raise InvalidInput("reason", "say why: it is kept in the log")
    return reason


def _forget_revocation(tx: Transaction, belief: Belief) -> None:
    if tx.setting(f"revoked:{belief.ref}") is not None:
        tx.put_setting(f"revoked:{belief.ref}", None)
