"""Signed checkpoints: only who has the key can make one, and a key hands over to the next."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from assay import InvalidInput, MissingExtraError, NotAuthorised, Signer, Store
from assay.audit.proofs.verify_proof import check_signature, read_key, read_note

if "signing" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", ""):
    pytest.importorskip("cryptography", reason="needs the extra `signing`")


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.create(tmp_path / "first.pem")


def test_a_checkpoint_is_signed_as_c2sp_says(tmp_path: Path, signer: Signer) -> None:
    with Store(tmp_path / "m.db", signer=signer) as store:
        store.record("x")
        made = store.audit.checkpoint()
        key = store.audit.key()
        assert key is not None
        assert key.startswith(f"{made.origin}+")
        check_signature(read_note(made.note), read_key(key))
        assert store.verify(anchors=[made.note], key=key)


def test_a_callable_may_sign(tmp_path: Path, signer: Signer) -> None:
    asked: list[bytes] = []

    def sign(message: bytes) -> bytes:
        asked.append(message)
        return signer.sign(message)

    far = Signer(signer.public_key, sign)
    with Store(tmp_path / "m.db", signer=far) as store:
        made = store.audit.checkpoint()
        assert asked[-1].decode() == "\n".join(made.note.split("\n")[:3]) + "\n"
        assert store.verify(anchors=[made.note])


def test_what_a_signer_gives_is_checked(tmp_path: Path, signer: Signer) -> None:
    broken = Signer(signer.public_key, lambda message: bytes(64))
    with Store(tmp_path / "m.db", signer=broken) as store, pytest.raises(InvalidInput, match="no Ed25519 signature"):
        store.audit.checkpoint()


def test_without_the_key_no_checkpoint_is_made_and_writing_goes_on(tmp_path: Path, signer: Signer) -> None:
    with Store(tmp_path / "m.db", signer=signer) as store:
        store.audit.checkpoint()
    with Store(tmp_path / "m.db") as store:
        store.record("x")
        with pytest.raises(NotAuthorised, match="signed by"):
            store.audit.checkpoint()
        with pytest.raises(InvalidInput, match="none that is signed covers this yet"):
            store.audit.prove(store.audit.head()[0] - 1)
        assert store.wrap().version == 1
        assert store.verify()


def test_a_wrap_without_the_key_says_so_in_one_line(
    tmp_path: Path, signer: Signer, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path / "memory.db", signer=signer) as store:
        store.audit.checkpoint()
    with Store(tmp_path / "memory.db", session="s1") as store:
        store.record("Deploys go out on Tuesday")
        assert store.wrap().status == "committed"
    assert [record.getMessage().startswith("no checkpoint was made: ") for record in caplog.records] == [True]
    assert caplog.records[0].exc_info is None


def test_another_key_needs_the_one_before(tmp_path: Path, signer: Signer) -> None:
    second = Signer.create(tmp_path / "second.pem")
    with Store(tmp_path / "m.db", signer=signer) as store:
        first_note = store.audit.checkpoint().note
        first = store.audit.key()
    with Store(tmp_path / "m.db", signer=second) as store, pytest.raises(NotAuthorised):
        store.audit.sign_with(second)
    with Store(tmp_path / "m.db", signer=signer) as store:
        key = store.audit.sign_with(second)
        assert store.audit.key() == key != first
        second_note = store.audit.checkpoint().note
        check_signature(read_note(second_note), read_key(key))
        for known in (first, key):
            assert store.verify(anchors=[first_note, second_note], key=known)
            assert store.verify(anchors=[first_note, second_note], key=known, since_anchor=True)


def test_i14_who_lacks_the_key_cannot_forge_a_checkpoint(tmp_path: Path, signer: Signer) -> None:
    stranger = Signer.create(tmp_path / "stranger.pem")
    with Store(tmp_path / "m.db", signer=signer) as store:
        store.record("x")
        good = store.audit.checkpoint()
        key = store.audit.key()
        assert key is not None
        text = "\n".join(good.note.split("\n")[:3]) + "\n"
        unsigned = f"{text}\n"
        with Store(tmp_path / "other.db", signer=stranger) as other:
            theirs = other.audit.checkpoint()
            their_key = other.audit.key()
        line = theirs.note.split("\n")[4].replace(theirs.origin, good.origin)
        for forged in (unsigned, f"{text}\n{line}\n"):
            found = store.verify(anchors=[forged])
            assert [*found.breaches] == ["fork"]
            assert "not signed by the key" in found.problems[0]
        assert [*store.verify(key=their_key).breaches] == ["foreign"]
        with pytest.raises(InvalidInput, match="key"):
            store.verify(key=key[:-2])


def test_a_store_that_was_rewritten_without_the_key_is_foreign_to_it(tmp_path: Path, signer: Signer) -> None:
    with Store(tmp_path / "m.db", signer=signer) as store:
        store.audit.checkpoint()
        key = store.audit.key()
    with Store(tmp_path / "rewritten.db") as store:
        store.record("x")
        assert [*store.verify(key=key).breaches] == ["foreign"]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE checkpoint SET note=substr(note, 1, instr(note, char(10) || char(10)) + 1)",
        "UPDATE setting SET value='null' WHERE id='checkpoint_key'",
        "DELETE FROM setting WHERE id='checkpoint_key'",
    ],
)
def test_a_signature_that_is_taken_away_is_noticed(tmp_path: Path, signer: Signer, sql: str) -> None:
    with Store(tmp_path / "m.db", signer=signer) as store:
        store.record("x")
        store.audit.checkpoint()
    connection = sqlite3.connect(tmp_path / "m.db")
    connection.execute(sql)
    connection.commit()
    assert connection.total_changes
    connection.close()
    with Store(tmp_path / "m.db") as store:
        assert not store.verify()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_key_file_is_private(tmp_path: Path, signer: Signer) -> None:
    file = tmp_path / "first.pem"
    assert file.stat().st_mode & 0o777 == 0o600
    assert Signer.from_file(file).public_key == signer.public_key
    with pytest.raises(InvalidInput, match="cannot be created"):
        Signer.create(file)
    file.chmod(0o640)
    with pytest.raises(InvalidInput, match="chmod 600"):
        Signer.from_file(file)


def test_what_is_no_ed25519_key_is_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    other = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for number, content in enumerate((b"", b"no key", other)):
        file = tmp_path / f"{number}.pem"
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(InvalidInput, match=r"no private key|another kind"):
            Signer.from_file(file)
    with pytest.raises(InvalidInput, match="no private key"):
        Signer.from_file(tmp_path / "absent.pem")


def test_signing_names_the_extra_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for make in (Signer.create, Signer.from_file):
        with pytest.raises(MissingExtraError, match=r"assay-memory\[signing\]"):
            make(tmp_path / "key.pem")
    assert "cryptography" in sys.modules
