"""A process is killed while a store moves: key rotation, migration, backup, export, import and restore."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from bench.torture import moves

ROUNDS = 20

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.mark.parametrize("move", moves.MOVES)
def test_i2_i26_a_kill_on_the_way_loses_nothing_and_leaves_nothing_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: str
) -> None:
    if move == "rotate" and find_spec("cryptography") is None:
        pytest.skip("needs the extra `signing`")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
    found = moves.measure(tmp_path, long=False, rounds=ROUNDS, only=[move])
    assert found["moved"] > 0, "some moves returned before the kill"
    assert found["wrong"] == 0
