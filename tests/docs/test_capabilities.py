"""The page of each framework says of it what its contract says: what it can show, and why it cannot show the rest."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from assay.testing import AdapterContract, Capability

from .pages import PAGES, ROOT, is_of_a_framework
from .test_pages import load

FOLDERS = [page.stem for page in PAGES if is_of_a_framework(page)]


@pytest.mark.filterwarnings("ignore:Cannot set an attribute:ImportWarning")  # crewai loads its parts lazily
@pytest.mark.parametrize(
    "folder", [pytest.param(folder, marks=pytest.mark.binding(name=folder), id=folder) for folder in FOLDERS]
)
def test_the_table_of_a_page_is_that_of_the_contract(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(folder)
    monkeypatch.syspath_prepend(str(ROOT))
    module = importlib.import_module(f"tests.integrations.{folder}.test_contract")
    contracts: list[Any] = [
        one for one in vars(module).values() if isinstance(one, type) and issubclass(one, AdapterContract)
    ]
    lacks = {capability: reason for one in contracts for capability, reason in one.lacks.items()}
    page = (ROOT / "docs" / "integrations" / f"{folder}.md").read_text("utf-8")
    cells = (row.strip("| ").partition(" | ") for row in page.splitlines() if row.startswith("| "))
    rows = {name: said for name, _, said in cells}
    for capability in Capability:
        said = rows[capability.value]
        if capability in lacks:
            assert lacks[capability] in said or said.startswith("from "), capability
        else:  # a host may lack it in older releases alone, or in one corner
            assert said.startswith(("yes", "from ")), capability
