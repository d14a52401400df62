"""A process is killed while it anchors, again and again: no anchor is ahead of the store, and none is torn."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from assay import Store
from assay.audit.proofs.verify_proof import read_notes

ROUNDS = 15
ANCHOR = """
import sys
from assay import Store
with Store(sys.argv[1]) as store:
    print("ready", flush=True)
    while True:
        store.record("event")
        store.audit.anchor(sys.argv[2])
"""


def test_i15_an_anchor_never_covers_what_a_kill_took(tmp_path: Path) -> None:
    path, anchors = tmp_path / "memory.db", tmp_path / "anchors"
    chance = random.Random(1)
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", ANCHOR, str(path), str(anchors)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == b"ready"
            time.sleep(chance.uniform(0.0, 0.15))
            process.kill()
    with Store(path) as store:
        store.audit.anchor(anchors)
        found = store.verify(anchors=anchors)
        assert not found.problems
        with store._database.read() as reader:
            made = [row[0] for row in reader.execute("SELECT size FROM checkpoint ORDER BY size")]
    sizes = [note.size for note in read_notes(anchors.read_text("utf-8"))[0]]
    assert len(sizes) > 1
    assert set(sizes) <= set(made), "an anchor is a checkpoint that the store keeps"
