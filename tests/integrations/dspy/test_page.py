"""What the guide says of this host is what the contract and the declared versions say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from assay.testing import Capability

from .test_contract import OnDSPy

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/integrations/dspy.md").read_text("utf-8")


def test_the_table_is_that_of_the_contract() -> None:
    rows = [f"| {one.value} | {OnDSPy.lacks.get(one, 'yes')} |" for one in Capability]
    assert "\n".join(["| | on DSPy |", "|---|---|", *rows]) in PAGE


def test_each_deviation_is_told() -> None:
    clauses = {name: getattr(clause, "__assay_deviation__", "") for name, clause in vars(OnDSPy).items()}
    reasons = [reason for reason in clauses.values() if reason]
    assert len(reasons) == 2
    assert [reason for reason in reasons if reason not in PAGE.replace("\n  ", " ")] == []


def test_the_versions_are_the_floor_and_the_newest_that_are_checked() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    newest = (ROOT / "constraints/dspy.txt").read_text("utf-8")
    stated = PAGE.split("## Versions")[1].replace("\n", " ")
    (requirement,) = extras["dspy"]
    (floor,) = re.fullmatch(r"dspy>=([\d.]+),<[\d.]+", requirement).groups()  # type: ignore[union-attr]
    assert f"dspy {floor}, the oldest" in stated
    assert f"dspy {re.search(r'^dspy==(.+)$', newest, re.MULTILINE)[1]}, on" in stated  # type: ignore[index]
