"""Each example runs as a user starts it: from any folder, with no key and no network, to the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .test_pages import load

TESTS = Path(__file__).parents[1]
EXAMPLES = TESTS.parent / "examples"


def agents() -> list[Any]:
    """Pair each agent with the framework it is written for."""
    found = {path: path.stem.removesuffix("_agent") for path in sorted(EXAMPLES.glob("*_agent.py"))}
    return [pytest.param(path, name, marks=pytest.mark.binding(name=name), id=name) for path, name in found.items()]


@pytest.mark.parametrize(("example", "binding"), agents())
def test_an_agent_answers_from_what_an_earlier_session_recorded(example: Path, binding: str, tmp_path: Path) -> None:
    load(binding)
    without_keys = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        env={**without_keys, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    # The example exits with an error when its second session was not briefed.
    assert done.returncode == 0, done.stdout + done.stderr
    shown = [word for word in ("recorded", "wrapped", "recalled", "status") if word not in done.stdout]
    assert shown == [], done.stdout


def test_an_example_that_is_not_an_agent_has_a_test_of_its_own() -> None:
    suites = [path.read_text("utf-8") for path in TESTS.rglob("test_*.py")]
    others = [path.name for path in EXAMPLES.glob("*.py") if not path.stem.endswith("_agent")]
    assert [name for name in others if not any(name in suite for suite in suites)] == []
