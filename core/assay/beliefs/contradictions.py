"""Contradictions between beliefs: stated in a document or found by comparing texts, kept until one side gives way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.beliefs.pairs import Pair
from assay.episodes.succession import link
from assay.model.belief import Belief
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["SIDES", "Contradiction", "contradictions", "dismiss_pair", "kept", "oppose", "put_back"]

_OPEN, _DISMISSED = "contradicts", "dismissed"
SIDES = (_OPEN, _DISMISSED)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two beliefs that speak against each other; it is over when one rests, is merged, or the operator dismisses it.

    Attributes:
        stated: Whether a document said so; False when only their texts were compared.
    """

    one: Belief
    other: Belief
    stated: bool


def contradictions(reader: Reader, beliefs: Sequence[Belief], against: Iterable[Pair]) -> list[Contradiction]:
    """Give the open contradictions: those that a document stated, oldest first, then those that were found (B42, B43).

    Args:
        beliefs: What is neither at rest nor erased.
        against: Pairs of them whose texts speak against each other.
    """
    known = {belief.ref: belief for belief in beliefs}
    rows = _rows(reader)
    stated = [row for row in rows if row["kind"] == _OPEN and {row["source"], row["target"]} <= known.keys()]
    told = {_pair(row["source"], row["target"]) for row in rows}
    found = [pair for pair in against if _pair(pair[0].ref, pair[1].ref) not in told]
    return [
        *(Contradiction(known[row["source"]], known[row["target"]], stated=True) for row in stated),
        *(Contradiction(one, other, stated=False) for one, other in found),
    ]


def oppose(tx: Transaction, pairs: Iterable[tuple[str, str]]) -> None:
    """Open a contradiction for each pair of ids that has none, open or dismissed."""
    known = {_pair(row["source"], row["target"]) for row in _rows(tx)}
    for one, other in pairs:
        if one != other and _pair(one, other) not in known:
            link(tx, _OPEN, one, other, made_by="wrap")
            known.add(_pair(one, other))


def dismiss_pair(tx: Transaction, one: str, other: str) -> None:
    """Close the contradiction of two beliefs, stated or not; no document opens it again."""
    row = next((row for row in _rows(tx) if _pair(row["source"], row["target"]) == _pair(one, other)), None)
    if row is None:
        link(tx, _DISMISSED, one, other, made_by="operator")
    elif row["kind"] == _OPEN:
        tx.update("edge", row["id"], {"kind": _DISMISSED})


def kept(reader: Reader) -> list[list[str]]:
    """Give what `put_back` needs: both sides of each contradiction, and whether it is open."""
    return [[row["source"], row["target"], row["kind"]] for row in _rows(reader)]


def put_back(tx: Transaction, before: Sequence[Sequence[str]]) -> None:
    """Make the contradictions those of an earlier moment."""
    wanted: Mapping[frozenset[str], Sequence[str]] = {_pair(one[0], one[1]): one for one in before}
    present: set[frozenset[str]] = set()
    for row in _rows(tx):
        pair = _pair(row["source"], row["target"])
        present.add(pair)
        if pair not in wanted:
            tx.delete("edge", row["id"])
        elif row["kind"] != wanted[pair][2]:
            tx.update("edge", row["id"], {"kind": wanted[pair][2]})
    for pair, (one, other, kind) in wanted.items():
        if pair not in present and all(tx.get("belief", ref) for ref in pair):
            link(tx, kind, one, other, made_by="wrap")


def _rows(reader: Reader) -> list[dict[str, Any]]:
    return sorted(reader.find("edge", {"kind": SIDES}), key=lambda row: (row["made"], row["id"]))


def _pair(one: str, other: str) -> frozenset[str]:
    return frozenset((one, other))
