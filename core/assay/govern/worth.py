"""J5: what became of what briefings showed: how often it was acted on, and how that went; no rule reads it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from assay.model.labels import Kind
from assay.storage import audit_rows
from assay.storage.reader import Reader

__all__ = ["Rate", "Worth", "worth"]

_FEW = 5  # cases below which a rate says nothing
_Z = 1.96  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of some cases went well.

    Attributes:
        low: Lower end of the 95 % interval of the share, 0 to 1, by Wilson's score (E. B. Wilson, 1927).
        high: Upper end of it.
        too_few: Whether there are fewer than five cases.
    """

    worked: int
    cases: int
    low: float
    high: float
    too_few: bool

    @classmethod
    def of(cls, went: Iterable[bool]) -> Rate:
        """Count some cases."""
        listed = list(went)
        n, k = len(listed), sum(listed)
        if not n:
            return cls(0, 0, 0.0, 1.0, True)
        share, square = k / n, _Z * _Z
        middle = (share + square / (2 * n)) / (1 + square / n)
        reach = _Z / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
        return cls(k, n, max(0.0, middle - reach), min(1.0, middle + reach), n < _FEW)


@dataclass(frozen=True, slots=True)
class Worth:
    """What became of one belief or episode that briefings showed.

    Attributes:
        ref: Its full id.
        exposed: How many briefings showed it, of those whose receipts are kept.
        followed: Of these, how many a result speaks of; each result speaks of the last briefing before it.
        when_followed: How acting on it went.
        when_not: How the runs went, by their last witnessed outcome, in which it was shown and not acted on.
    """

    ref: str
    exposed: int
    followed: int
    when_followed: Rate
    when_not: Rate

    @property
    def ignored(self) -> int:
        """Give how many of the briefings no result speaks of."""
        return self.exposed - self.followed


@dataclass(slots=True)
class _Exposure:
    """One item in one briefing."""

    run: tuple[str, str | None]
    made: int
    worked: bool | None = None


def worth(reader: Reader) -> list[Worth]:
    """Report on everything that a kept receipt names, the most shown first."""
    shown: dict[str, list[_Exposure]] = defaultdict(list)
    for _, session, run, made, refs, *_ in audit_rows.receipts(reader, 0):
        for ref in dict.fromkeys(json.loads(str(refs))):
            shown[ref].append(_Exposure((str(session), None if run is None else str(run)), int(str(made))))
    for row in reader.find("result", order="made"):
        before = [one for one in shown.get(row["subject"], ()) if one.made <= row["made"]]
        if before:
            before[-1].worked = bool(row["worked"])  # of several results of one exposure the last holds
    ends = _ends(reader)
    found = [_worth(ref, exposures, ends) for ref, exposures in shown.items()]
    return sorted(found, key=lambda one: (-one.exposed, one.ref))


def _worth(ref: str, exposures: list[_Exposure], ends: dict[tuple[str, str | None], tuple[int, bool]]) -> Worth:
    followed = [one.worked for one in exposures if one.worked is not None]
    ignored = (ends.get(one.run, (0, False)) for one in exposures if one.worked is None and _ended(one, ends))
    return Worth(ref, len(exposures), len(followed), Rate.of(followed), Rate.of(well for _, well in ignored))


def _ended(one: _Exposure, ends: dict[tuple[str, str | None], tuple[int, bool]]) -> bool:
    return one.run in ends and ends[one.run][0] >= one.made


def _ends(reader: Reader) -> dict[tuple[str, str | None], tuple[int, bool]]:
    """Give, for each run of a session, when its last outcome was recorded, and whether it was a success."""
    rows: list[dict[str, Any]] = reader.find("episode", {"kind": Kind.OUTCOME.value}, order="n")
    told = (row for row in rows if row["success"] is not None and row["run"] is not None)
    return {(row["session"], row["run"]): (row["recorded"], bool(row["success"])) for row in told}
