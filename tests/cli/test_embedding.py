"""`assay reembed` makes vectors with a function that is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run

MODULE = """
def embed(texts):
    return [[float(len(text)), float(text.count("e"))] for text in texts]
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shell_embedder.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)


def test_vectors_are_made_and_counted(store: Run) -> None:
    store("record", "Deploys go out on Tuesday")
    store("record", "pool size is 40")
    answer = store("reembed", "shell_embedder:embed", "--json")
    assert answer.code == 0
    assert answer.data["made"] == 2
    assert answer.data["vectors"] == {"embedder": "shell_embedder.embed", "dimension": 2, "kept": 2, "missing": 0}
    assert store("reembed", "shell_embedder:embed").out.startswith("0 vectors made; 2 are kept, of 2 numbers")
    assert store("reembed", "shell_embedder:embed", "--everything").out.startswith("2 vectors made")


@pytest.mark.parametrize("name", ["no_such_module:embed", "shell_embedder:missing", "not a name", "os:sep"])
def test_what_is_no_embedder_is_a_usage_error(store: Run, name: str) -> None:
    answer = store("reembed", name)
    assert answer.code == 2
    assert "embedder" in answer.err
