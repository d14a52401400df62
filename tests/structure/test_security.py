"""SECURITY.md stays true: each guarantee names a test that there is, and what is not noticed is what is said."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from .sources import ROOT

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
GUARANTEES = dict(re.findall(r"^\| (?!guarantee)([^|]+) \| `(\w+)` \|$", PAGE, re.MULTILINE))


def _tests() -> set[str]:
    paths = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("core/assay/testing/**/*.py")]
    trees = (ast.parse(path.read_text("utf-8")) for path in paths)
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_guarantee_is_shown_by_a_test() -> None:
    assert len(GUARANTEES) == PAGE.count("| `test_") >= 10
    assert set(GUARANTEES.values()) - _tests() == set()


def test_what_passes_without_an_anchor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from bench.torture.tamper import UNSEEN_WITHOUT_ANCHOR

    assert set(re.findall(r"^  - (.+)$", PAGE, re.MULTILINE)) == UNSEEN_WITHOUT_ANCHOR


def test_the_pages_that_it_points_to_are_there() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert links and all(Path(ROOT / link).exists() for link in links)
