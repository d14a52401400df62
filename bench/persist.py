"""PersistBench: is memory kept out of a prompt that it does not bear on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.conversations import json_lines

from assay import Store
from assay.recall.relevance import BAR

_STEP = 0.02
_STEPS = 26


def measure(folder: Path) -> dict[str, Any]:
    """Give the leak and the hit at the default bar, and both at every bar.

    `leak` is the share of questions of another domain for which anything passes the bar; `hit` of those that memory
    helps with.
    """
    there = folder / "persistbench"
    useful = [_relevance(item) for item in json_lines(there / "beneficial_samples.jsonl")]
    useless = [_relevance(item) for item in json_lines(there / "cross_domain.jsonl")]
    if not useful or not useless:
        return {}
    bars = [round(_STEP * step, 2) for step in range(_STEPS)]
    return {
        "leak": _passing(useless, BAR),
        "hit": _passing(useful, BAR),
        "bar": BAR,
        "curve": [{"bar": bar, "leak": _passing(useless, bar), "hit": _passing(useful, bar)} for bar in bars],
    }


def _relevance(item: Mapping[str, Any]) -> float:
    with Store(":memory:") as store:
        store.episodes.record_many({"content": memory} for memory in item["memories"])
        return store.recall(item["query"]).relevance


def _passing(found: Sequence[float], bar: float) -> float:
    return round(sum(value > 0 and value >= bar for value in found) / len(found), 4)
