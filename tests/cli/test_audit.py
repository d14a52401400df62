"""`assay audit`: an operator anchors the log, and hands proofs to those who do not trust this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def kept(tmp_path: Path) -> str:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return str(folder / "anchors")


def test_an_anchor_that_was_kept_shows_a_rollback(store: Run, tmp_path: Path, kept: str) -> None:
    store("record", "Deploys go out on Tuesday")
    before = (tmp_path / "memory.db").read_bytes()
    store("record", "Deploys go out on Friday")
    assert store("audit", "anchor", kept).code == 0
    assert store("verify", "--anchors", kept, "--anchor-max-age", "1").code == 0
    (tmp_path / "memory.db").write_bytes(before)
    for rest in tmp_path.glob("memory.db-*"):
        rest.unlink()
    assert store("verify").code == 0
    answer = store("verify", "--anchors", kept)
    assert (answer.code, "ROLLBACK: an anchor covers" in answer.out) == (1, True)
    assert store("verify", "--anchors", kept, "--json").data["verification"]["breaches"] == ["rollback"]


def test_the_log_is_followed_by_lines(store: Run) -> None:
    store("record", "Deploys go out on Tuesday")
    lines = store("audit", "entries").out.splitlines()
    assert [json.loads(line)["op"] for line in lines] == ["init", "record"]
    assert store("audit", "entries", "--after", "0", "--limit", "5", "--json").data["entries"][0]["op"] == "record"
    assert "Tuesday" not in "".join(lines)


def test_a_proof_and_its_verifier_leave_as_files(store: Run, tmp_path: Path, kept: str) -> None:
    ref = store("record", "Deploys go out on Tuesday", "--json").data["episode"]["ref"]
    store("audit", "anchor", kept)
    bundle, verifier = tmp_path / "bundle.json", tmp_path / "verify_proof.py"
    assert store("audit", "export", "--proof", ref, "--content", "--out", str(bundle)).code == 0
    assert store("audit", "verifier", str(verifier)).code == 0
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(verifier), str(bundle), "--anchors", kept], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert store("audit", "export", "--since", kept, "--json").data["earlier"]
    assert store("audit", "export", "--proof", "1").out.startswith('{"format": "assay-proof/1"')
    for again in (("export", "--proof", ref, "--out", str(bundle)), ("verifier", str(verifier))):
        assert store("audit", *again).code == 2, "nothing is overwritten"
    assert store("audit", "export").code == 2
    assert store("audit", "export", "--proof", ref, "--since", kept).code == 2


def test_a_key_is_made_where_the_store_does_not_lie(
    store: Run, tmp_path: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography", reason="needs the extra `signing`")
    assert store("audit", "key").out.startswith("no key is in force")
    assert store("audit", "key", str(tmp_path / "key.pem")).code == 2
    pem = str(Path(kept).with_name("key.pem"))
    key = store("audit", "key", pem, "--json").data["key"]
    assert store("audit", "key", "--json").data["key"] == key
    assert store("audit", "anchor", kept).code == 1, "without the key"
    monkeypatch.setenv("ASSAY_SIGNING_KEY", pem)
    assert store("audit", "anchor", kept).code == 0
    assert "\n\u2014 assay/" in store("audit", "checkpoint").out
    assert store("verify", "--anchors", kept, "--key", key).code == 0
    assert store("verify", "--since-anchor", "--no-index").code == 0
    assert store("verify", "--key", "nonsense").code == 2
