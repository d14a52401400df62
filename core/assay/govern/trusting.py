"""Take trust from an episode, or everything that came from a source out of memory; both can be undone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.beliefs.facts import fact_rows, is_fact
from assay.beliefs.history import grounds_of
from assay.beliefs.loading import all_beliefs, as_belief, evidence_of
from assay.beliefs.saving import change, revise
from assay.beliefs.standing import recheck
from assay.episodes.draft import as_member
from assay.episodes.lineage import descendants
from assay.episodes.loading import resolve
from assay.episodes.succession import resettle
from assay.errors import Conflict, InvalidInput, NotAuthorised
from assay.govern.redrawing import redraw, write_version
from assay.model.labels import Mark, Residence, Trust
from assay.storage import episode_rows
from assay.storage.database import Database
from assay.storage.document_rows import newest_body
from assay.storage.transaction import Transaction

__all__ = ["Quarantine", "quarantine", "set_trust", "take_out"]

_WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Quarantine:
    """What a quarantine took out of memory, or let back.

    Attributes:
        episodes: Full ids, those of what was made from them included.
        beliefs: Names of the beliefs whose level changed.
        lines: Lines of the document that went or came.
    """

    episodes: tuple[str, ...]
    beliefs: tuple[str, ...] = ()
    lines: tuple[str, ...] = field(default=(), repr=False)


def set_trust(
    database: Database, ref: str, level: Trust | str, *, expect: Trust | str | None = None, ceiling: Trust
) -> list[str]:
    """Change the trust of an episode, and of all that was made from it; levels and successions follow at once (G6).

    Returns:
        The names of the beliefs whose level changed, and the facts that are no longer pinned, or are again.

    Raises:
        Conflict: It no longer has the trust that the caller expects.
        NotAuthorised: The level is above the ceiling of this store.
        NotFound: The ref names no live episode.
    """
    to = as_member("level", level, Trust)
    wanted = None if expect is None else as_member("expect", expect, Trust)
    if to.rank > ceiling.rank:
        raise NotAuthorised(f"{to.value} is above this store's ceiling, {ceiling.value}")

    def write(tx: Transaction) -> list[str]:
        full = resolve(tx, ref)
        held = episode_rows.by_ids(tx, [full])[0]["trust"]
        if wanted is not None and held != wanted.value:
            raise Conflict(f"{full} has the trust {held!r} by now, not {wanted.value!r}")
        tx.entry("set_trust", actor="host", trust=to, data={"from": held, "to": to.value})
        tx.update("episode", full, {"trust": to.value})
        reached = [full, *descendants(tx, [full])]
        resettle(tx, reached)
        changed = recheck(tx, reached) + _recheck_facts(tx, reached)
        redraw(tx, lambda sources: True)
        return changed

    return database.mutate(write)


def quarantine(
    database: Database, refs: Sequence[str], source: str, reason: str, *, release: bool, dry_run: bool
) -> Quarantine:
    """Take episodes and all that was made from them out of recall, briefing and document, or let them back (G8).

    Raises:
        InvalidInput: Neither a source nor a ref is named.
        NotFound: A ref names no live episode.
    """
    if not source and not refs:
        raise InvalidInput("source", "name a source, or the refs of episodes")

    def write(tx: Transaction) -> Quarantine:
        roots = [resolve(tx, ref) for ref in refs]
        roots += [row["id"] for row in tx.find("episode", {"source": source})] if source else []
        ids = list(dict.fromkeys([*roots, *descendants(tx, roots)]))
        if release:  # what another quarantine holds as well stays out
            others = [row["id"] for row in tx.find("episode", {"quarantined": 1}) if row["id"] not in ids]
            ids = [ref for ref in ids if ref not in set(descendants(tx, others))]
        tx.entry("quarantine", actor="host", data={"reason": reason, "release": release, "episodes": len(ids)})
        flag = 0 if release else 1
        rows = {row["id"]: row for row in episode_rows.by_ids(tx, ids)}
        touched = [ref for ref in ids if rows[ref]["quarantined"] != flag]
        for ref in touched:
            tx.update("episode", ref, {"quarantined": flag})
        resettle(tx, touched)
        changed = recheck(tx, touched)
        lines = _let_back(tx) if release else take_out(tx)
        done = Quarantine(tuple(touched), tuple(changed), tuple(lines))
        if dry_run:
            raise _Undone(done)
        return done

    try:
        return database.mutate(write)
    except _Undone as rehearsal:
        return rehearsal.done


class _Undone(Exception):
    """Rolls a rehearsal back, and carries what it would have done."""

    def __init__(self, done: Quarantine) -> None:
        self.done = done


def _recheck_facts(tx: Transaction, episodes: Sequence[str]) -> list[str]:
    """Lay a pinned fact to rest when no trusted episode states it any more; pin it again when one does (A23)."""
    touched = {row["belief"] for row in tx.find("evidence", {"episode": list(episodes)})}
    changed: list[str] = []
    for fact in (as_belief(row) for row in fact_rows(tx).values() if row["id"] in touched):
        grounds = grounds_of(tx, [link.episode for link in evidence_of(tx, fact.ref)]).values()
        stands = any(ground.trust.rank >= Trust.AGENT.rank and not ground.erased for ground in grounds)
        if not stands and fact.residence is Residence.PINNED:
            change(tx, fact, Residence.REST, Mark.REVOKED)
        elif stands and Mark.REVOKED in fact.marks and fact.residence is Residence.REST:
            revise(tx, fact, residence=Residence.PINNED.value, marks="[]")
        else:
            continue
        changed.append(fact.text)
    return changed


def _withheld(tx: Transaction) -> dict[str, list[Any]]:
    """Give the ids of the beliefs, and section and text of the lines, that a quarantine took out."""
    kept: dict[str, list[Any]] | None = tx.setting(_WITHHELD)
    return kept or {"beliefs": [], "lines": []}


def _held(tx: Transaction) -> set[str]:
    return {row["id"] for row in tx.find("episode", {"quarantined": 1})}


def take_out(tx: Transaction) -> list[str]:
    """Rest the beliefs, and withhold the lines, that nothing but quarantined episodes says."""
    held = _held(tx)
    resting: list[str] = []
    for belief in all_beliefs(tx, Residence.WORKING, Residence.PINNED):
        grounds = {link.episode for link in evidence_of(tx, belief.ref)}
        if grounds and grounds <= held:
            change(tx, belief, Residence.REST)
            resting.append(belief.ref)
    lines = redraw(tx, lambda sources: not held.issuperset(sources))
    before = _withheld(tx)
    known = {tuple(line) for line in before["lines"]}
    every = before["lines"] + [line for line in lines if line not in known]
    if resting or lines:
        tx.put_setting(_WITHHELD, {"beliefs": [*dict.fromkeys([*before["beliefs"], *resting])], "lines": every})
    return [text for _, text in lines]


def _let_back(tx: Transaction) -> list[str]:
    """Bring back the beliefs that have a ground again, and the lines once nothing is withheld any more."""
    held = _held(tx)
    withheld = _withheld(tx)
    free = [one for one in all_beliefs(tx, Residence.REST) if one.ref in withheld["beliefs"]]
    free = [one for one in free if not held.issuperset(link.episode for link in evidence_of(tx, one.ref))]
    for belief in free:
        change(tx, belief, Residence.PINNED if is_fact(belief) else Residence.WORKING)
    back = [] if held else [(heading, text) for heading, text in withheld["lines"]]
    rows = tx.find("document", order="version DESC", limit=1)
    if rows and (back or free):
        added: dict[str, list[str]] = {}
        for heading, text in back:
            added.setdefault(heading, []).append(text)
        for belief in (one for one in free if not is_fact(one)):
            added.setdefault(belief.section, []).append(f"- {belief.name}: {belief.text} | {belief.level}x")
        write_version(tx, _inserted(newest_body(tx), added), json.loads(rows[0]["detail"]))
        redraw(tx, lambda sources: not held.issuperset(sources))
    left = [ref for ref in withheld["beliefs"] if ref not in {one.ref for one in free}]
    tx.put_setting(_WITHHELD, {"beliefs": left, "lines": withheld["lines"] if held else []})
    return [text for _, text in back]


def _inserted(body: str, added: dict[str, list[str]]) -> str:
    lines: list[str] = []
    for line in body.split("\n"):
        lines.append(line)
        if line.startswith("## "):
            lines += ["", *added.get(line[3:], ())]
    return "\n".join(lines)
