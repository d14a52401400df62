"""The stand-alone verifier: one file, the standard library, and a bundle; assay's own checks are its functions."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay import InvalidInput, Kind, NotFound, Store
from assay.audit import merkle
from assay.audit.proofs import verify_proof
from assay.audit.proofs.bundle import verifier_source
from assay.audit.proofs.verify_proof import Refused, check_bundle, read_notes
from assay.storage import transaction
from assay.storage.transaction import commitment

FILE = Path(verify_proof.__file__)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "memory.db")
    store.episodes.record_many([{"content": f"shift {number} was quiet"} for number in range(300)])
    return store


def run(folder: Path, bundle: Mapping[str, Any], *arguments: str) -> tuple[int, str]:
    """Run the file as an auditor does, where assay is not installed."""
    (folder / "check.py").write_text(verifier_source(), "utf-8")
    (folder / "bundle.json").write_text(json.dumps(bundle), "utf-8")
    # -I and -S leave every installed package out.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "check.py", "bundle.json", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_verifier_needs_the_standard_library_alone() -> None:
    tree = ast.parse(FILE.read_text("utf-8"))
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {str(name).split(".")[0] for name in imported} <= sys.stdlib_module_names
    assert merkle.leaf_hash is verify_proof.leaf_hash


def test_an_entry_and_what_it_wrote_are_proved_to_a_stranger(store: Store, tmp_path: Path) -> None:
    episode = store.record("Prod-DB läuft auf 5432 \u4e2d\u6587", kind=Kind.OUTCOME, success=True, tags=["ops"])
    store.audit.anchor(tmp_path / "anchors")
    code, said = run(tmp_path, store.audit.prove(episode, content=True), "--anchors", "anchors")
    assert code == 0, said
    assert f"it wrote episode {episode.ref} as the bundle shows it" in said
    assert "a checkpoint that was kept agrees" in said
    assert "BUT" not in said


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters()) | st.binary(max_size=20)))
@example(['text \u2028 \ud800 "\\\x00\x7f', None, -1, b"\x01\xff"])
def test_the_verifier_commits_as_the_store_does(stored: list[str | int | bytes | None]) -> None:
    values = [value.hex() if isinstance(value, bytes) else value for value in stored]
    row = {"table": "episode", "id": "ep_1", "salt": "11" * 32, "values": values}
    assert verify_proof.commitment(row) == commitment("episode", "ep_1", stored, b"\x11" * 32)


def test_an_interpreter_without_the_encoder_in_c_commits_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    row: list[str | int | bytes | None] = ["episode", "ep_1", 1, "läuft \u2028", None, b"\x01\xff"]
    usual = transaction._compact_encoder()(row)
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert transaction._compact_encoder()(row) == usual == '["episode","ep_1",1,"läuft \u2028",null,"01ff"]'


def test_a_bundle_shows_content_only_when_asked(store: Store) -> None:
    episode = store.record("the door code is 4711")
    assert "4711" not in json.dumps(store.audit.prove(episode))
    assert "salt" not in json.dumps(store.audit.prove(episode))
    assert "4711" in json.dumps(store.audit.prove(episode, content=True))


def test_i17_an_erasure_has_a_certificate_that_says_nothing_of_the_text(store: Store, tmp_path: Path) -> None:
    secret = store.record("the code of the vault is 7741")
    erasure = store.erase(secret)
    store.audit.checkpoint()
    certificate = store.audit.prove(erasure.erased[0])
    code, said = run(tmp_path, certificate)
    assert code == 0, said
    text = json.dumps(certificate).replace("\\", "")
    assert '"erase"' in text and secret.ref in text
    assert "7741" not in text


def test_growth_is_proved_from_a_kept_checkpoint(store: Store, tmp_path: Path) -> None:
    old = store.audit.anchor(tmp_path / "anchors")
    store.episodes.record_many([{"content": f"night {number}"} for number in range(400)])
    for earlier in (old, old.note, str(tmp_path / "anchors")):
        code, said = run(tmp_path, store.audit.consistency(earlier), "--anchors", "anchors")
        assert code == 0, said
        assert f"nothing was changed since the checkpoint of {old.size} entries" in said
    assert run(tmp_path, store.audit.consistency(17))[0] == 0


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (lambda b: b["entries"][0].update(seq=b["entries"][0]["seq"] - 1), "inclusion"),
        (lambda b: b["entries"][0].update(entry=b["entries"][0]["entry"].replace("host", "user")), "inclusion"),
        (lambda b: b["entries"][0]["path"].pop(), "proof"),
        (lambda b: b["entries"][0]["path"].append("A" * 43 + "="), "proof"),
        (lambda b: b["entries"][0]["path"].extend(["A" * 43 + "="] * 100), "too long"),
        (lambda b: b["entries"][0]["rows"][0]["values"].__setitem__(2, "another text"), "is not what entry"),
        (lambda b: b["entries"][0]["rows"][0].update(salt="00" * 32), "is not what entry"),
        (lambda b: b["entries"][0]["rows"][0].update(id="ep_other"), "is not what entry"),
        (lambda b: b.update(checkpoint=b["checkpoint"].replace("\n3", "\n4", 1)), ""),
        (lambda b: b.update(checkpoint=""), "checkpoint"),
        (lambda b: b.update(format="assay-proof/2"), "format"),
        (lambda b: b.pop("entries"), ""),
        (lambda b: b.update(entries=[None]), ""),
        (lambda b: b["entries"][0].update(seq="1"), ""),
        (lambda b: b["entries"][0].update(path=[1]), ""),
    ],
)
def test_f01_a_bent_bundle_is_not_proved(store: Store, tmp_path: Path, bend: Any, reason: str) -> None:
    bundle = json.loads(json.dumps(store.audit.prove(store.record("Deploys go out on Tuesday"), content=True)))
    check_bundle(bundle)
    bend(bundle)
    code, said = run(tmp_path, bundle)
    assert code == 1, said
    assert said.startswith("NOT PROVED: ")
    assert reason in said
    assert "Traceback" not in said


def test_f02_a_log_that_was_rewritten_does_not_grow_out_of_the_old_one(store: Store, tmp_path: Path) -> None:
    old = store.audit.checkpoint()
    forged = old.note.replace(old.note.split("\n")[2], "A" * 43 + "=")
    with pytest.raises(InvalidInput, match="does not begin with that checkpoint"):
        store.audit.consistency(forged)
    bundle = json.loads(json.dumps(store.audit.consistency(100)))
    bundle["earlier"]["checkpoint"] = bundle["earlier"]["checkpoint"].replace("\n100\n", "\n101\n")
    assert run(tmp_path, bundle)[0] == 1


def test_f03_an_anchor_of_another_store_meets_nothing(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "other.db") as other:
        other.audit.anchor(tmp_path / "anchors")
    code, said = run(tmp_path, store.audit.prove(5), "--anchors", "anchors")
    assert (code, "none of them is a checkpoint of this bundle" in said) == (1, True)


def test_a_proof_without_anything_kept_says_so(store: Store, tmp_path: Path) -> None:
    code, said = run(tmp_path, store.audit.prove(5))
    assert code == 0
    assert "BUT without --key or --anchors" in said


def test_c08_no_name_in_a_bundle_reaches_the_terminal_as_it_is(store: Store, tmp_path: Path) -> None:
    store._database.mutate(lambda tx: tx.entry("setting", actor="\x1b[2J\u202ehost\nproved: everything"))
    code, said = run(tmp_path, store.audit.prove(store.audit.head()[0] - 1))
    assert code == 0
    assert said.isascii()
    assert "\x1b" not in said
    assert not any(line.startswith("proved: everything") for line in said.splitlines())


def test_a_wrong_call_is_told_from_a_wrong_proof(store: Store, tmp_path: Path) -> None:
    bundle = store.audit.prove(5)
    assert run(tmp_path, bundle, "--anchors", "absent")[0] == 2
    assert run(tmp_path, bundle, "--what", "ever")[0] == 2
    (tmp_path / "empty").write_text("")
    assert run(tmp_path, bundle, "--anchors", "empty")[0] == 1


def test_a_key_checks_the_signature_without_any_package(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="needs the extra `signing`")
    from assay import Signer

    key = store.audit.sign_with(Signer.create(tmp_path / "key.pem"))
    stranger = key.replace("assay/", "other/")
    store.audit.checkpoint()
    code, said = run(tmp_path, store.audit.prove(5), "--key", key)
    assert (code, f"signed by {key}" in said) == (0, True)
    for wrong in (stranger, key[:-4] + "AAAA"):
        assert run(tmp_path, store.audit.prove(5), "--key", wrong)[0] == 1


@pytest.mark.parametrize("item", [10_000, -1, "be_00000000", "no such thing"])
def test_what_is_not_in_the_log_cannot_be_proved(store: Store, item: Any) -> None:
    with pytest.raises(InvalidInput):
        store.audit.prove(item)
    with pytest.raises(NotFound):
        store.audit.prove("ep_00000000")


@pytest.mark.parametrize("old", [0, -1, 10_000])
def test_a_size_that_the_log_never_had_is_refused(store: Store, old: int) -> None:
    with pytest.raises(InvalidInput):
        store.audit.consistency(old)


def test_proving_never_writes(store: Store, tmp_path: Path) -> None:
    episode = store.record("x")
    before = store.audit.head()
    store.audit.prove(episode)
    store.audit.consistency(3)
    assert store.audit.head() == before
    with Store(tmp_path / "memory.db", read_only=True) as reading:
        check_bundle(reading.audit.prove(episode))


def test_an_erased_text_is_no_longer_shown_and_its_entries_are_still_proved(store: Store) -> None:
    episode = store.record("the door code is 4711")
    store.erase(episode)
    seqs = [entry["seq"] for entry in store.history.changes(episode)]
    assert len(seqs) == 2
    for seq in seqs:
        bundle = store.audit.prove(seq)  # type: ignore[arg-type]
        assert check_bundle(bundle)
        assert "4711" not in json.dumps(bundle)


def test_two_checkpoints_where_one_is_expected_are_refused(store: Store) -> None:
    note = store.audit.checkpoint().note
    assert len(read_notes(note + note)[0]) == 2
    with pytest.raises(Refused, match="there must be one"):
        check_bundle({**store.audit.prove(5), "checkpoint": note + note})
