"""`examples/two_frameworks.py` lets agents of two frameworks share one memory, as a user starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.testing import require

EXAMPLE = Path(__file__).parents[2] / "examples" / "two_frameworks.py"


@pytest.mark.binding(name="two_frameworks")
def test_each_agent_recalls_what_the_other_one_learned_with_source_and_trust(tmp_path: Path) -> None:
    require("langchain", extra="langgraph")
    require("pydantic_ai", extra="pydantic-ai")
    without_keys = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(tmp_path)],
        cwd=tmp_path,
        env={**without_keys, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    # The example exits with an error when an agent was not shown what the other one learned.
    assert done.returncode == 0, done.stdout + done.stderr
    recorded = done.stdout.partition("recalled")[0]
    assert re.findall(r"^  (\w+) +(agent:\w+|tool:\w+)", recorded, re.MULTILINE)[:4] == [
        ("agent", "agent:planner"),
        ("external", "tool:read_page"),
        ("external", "agent:planner"),
        ("agent", "agent:helper"),
    ]
    assert re.search(r"^answer of the helper: Deploys go out on Tuesday\. .*\[ep_\w+, user:ada\]$", done.stdout, re.M)
    assert re.search(r"^answer of the planner: The on-call room is number twelve\. \[ep_\w+,", done.stdout, re.M)
    assert "faults 0, valid" in done.stdout
    assert len(list(tmp_path.glob("*/memory.db"))) == 2, "ada's and bob's: one memory for both frameworks"
