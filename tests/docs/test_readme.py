"""The README's table of frameworks is what their pages and declarations say; `ASSAY_WRITE_PAGES=1` writes it."""

from __future__ import annotations

import os

import pytest

from .frameworks import README, rendered, row
from .pages import PAGES, ROOT, is_of_a_framework


def test_the_table_of_frameworks_is_up_to_date() -> None:
    if os.environ.get("ASSAY_WRITE_PAGES"):
        README.write_text(rendered(), "utf-8")
    assert README.read_text("utf-8") == rendered()


def test_every_binding_has_a_row() -> None:
    bindings = {path.name for path in (ROOT / "tests/integrations").iterdir() if (path / "test_contract.py").exists()}
    assert {page.stem for page in PAGES if is_of_a_framework(page)} == bindings
    table = README.read_text("utf-8").partition("<!-- frameworks -->")[2].partition("<!-- end of frameworks -->")[0]
    assert [name for name in bindings if f"(docs/integrations/{name}.md)" not in table] == []


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("crewai", "| call-ids, resume, control-flow, async-hooks |"),
        ("langgraph", "| nothing |"),
        ("openai_agents", "| tool-error-flag (from 0.24 on) |"),
    ],
)
def test_a_row_says_what_the_page_denies(folder: str, said: str) -> None:
    text = row(ROOT / f"docs/integrations/{folder}.md")
    assert text.startswith("| [") and text.endswith(f"{said}\n")
