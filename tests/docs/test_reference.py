"""The reference pages are those that the code writes; `ASSAY_WRITE_PAGES=1` writes them."""

from __future__ import annotations

import os

import pytest

from .reference import PAGES, RENDERED


@pytest.mark.parametrize("name", RENDERED)
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    page = PAGES / name
    if os.environ.get("ASSAY_WRITE_PAGES"):
        page.parent.mkdir(exist_ok=True)
        page.write_text(RENDERED[name](), "utf-8")
    assert page.read_text("utf-8") == RENDERED[name]()


def test_every_reference_page_is_rendered() -> None:
    assert {page.name for page in PAGES.glob("*.md")} == set(RENDERED)
