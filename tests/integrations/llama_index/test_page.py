"""What the guide says of this host is what the contract and the declared versions say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from assay.testing import Capability

from . import test_contract

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/integrations/llama_index.md").read_text("utf-8")


def test_the_table_is_that_of_the_contract() -> None:
    rows = [f"| {one.value} | {test_contract.TestContract.lacks.get(one, 'yes')} |" for one in Capability]
    assert "\n".join(["| | on LlamaIndex |", "|---|---|", *rows]) in PAGE


def test_the_versions_are_the_floor_and_the_newest_that_are_checked() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    newest = (ROOT / "constraints/llama-index.txt").read_text("utf-8")
    stated = PAGE.split("## Versions")[1].replace("\n", " ")
    (requirement,) = extras["llama-index"]
    name, floor = re.fullmatch(r"([\w-]+)>=([\d.]+),<[\d.]+", requirement).groups()  # type: ignore[union-attr]
    assert f"{name} {floor}" in stated
    assert f"{name} {re.search(rf'^{name}==(.+)$', newest, re.MULTILINE)[1]}" in stated  # type: ignore[index]
