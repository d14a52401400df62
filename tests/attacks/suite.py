"""The attacks and the honest controls, run once; what `python -m bench attacks` prints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .controls import Control, controls
from .doors import doors
from .evidence import evidence
from .files import files
from .play import Attack, Verdict
from .trust import trust
from .variants import variants

__all__ = ["Report", "attacks", "run"]


def attacks() -> list[Attack]:
    """Give every attack."""
    return [*evidence(), *trust(), *files(), *doors(), *variants()]


@dataclass(frozen=True)
class Report:
    """How the suite ended.

    Attributes:
        by_class: Class of an attack -> how many there were of each verdict.
    """

    cases: int
    through: tuple[Attack, ...]
    honest: int
    refused: tuple[Control, ...]
    by_class: dict[str, dict[str, int]]


def run() -> Report:
    """Run all of it."""
    listed, honest = attacks(), controls()
    verdicts = [(one, one.run()[0]) for one in listed]
    counted: dict[str, Counter[str]] = {}
    for one, verdict in verdicts:
        counted.setdefault(one.kind, Counter())[verdict.value] += 1
    return Report(
        len(listed),
        tuple(one for one, verdict in verdicts if verdict is Verdict.THROUGH),
        len(honest),
        tuple(one for one in honest if not one.accepted()),
        {kind: dict(counts) for kind, counts in sorted(counted.items())},
    )
