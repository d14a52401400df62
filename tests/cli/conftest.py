"""Runs the command in this process, as a shell would: arguments, environment, standard input."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from assay.cli import main


@dataclass(frozen=True)
class Answer:
    """The exit code, and what was printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Read the JSON document, which must be one line."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


class Run(Protocol):
    """Runs the command with some arguments."""

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Answer: ...


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Give the command, pointed at a store that does not exist yet."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "memory.db"))
    monkeypatch.delenv("ASSAY_SESSION_ID", raising=False)
    monkeypatch.delenv("ASSAY_TRACEBACK", raising=False)

    def call(*arguments: str, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def store(run: Run) -> Run:
    """Give the command, pointed at a store that any session may wrap."""
    assert run("init", "--no-baton", "--project-name", "Demo").code == 0
    return run
