"""Erase removes a text from every tier, and the log still verifies."""

from __future__ import annotations

import base64
import random
import sqlite3
from pathlib import Path

import pytest

from assay import Episode, Store, Trust
from assay.errors import NotFound

SECRET = "Zanzibar-Quokka 7731 lives behind the blue door"


def residue(folder: Path, text: str) -> list[str]:
    forms = {
        "utf-8": text.encode(),
        "utf-16": text.encode("utf-16-le"),
        "hex": text.encode().hex().encode(),
        "base64": base64.b64encode(text.encode()),
    }
    return [
        f"{file.name}: {form}" for file in folder.iterdir() for form, data in forms.items() if data in file.read_bytes()
    ]


@pytest.mark.parametrize("flushed", [False, True])
def test_i17_no_byte_of_an_erased_text_is_left(tmp_path: Path, flushed: bool) -> None:
    with Store(tmp_path / "memory.db") as store:
        erased = store.record(SECRET, metadata={"note": SECRET}, tags=["quokka"])
        if flushed:
            for at in range(300):
                store.record(f"filler {at}")
        done = store.erase(erased)
        assert done and done.erased == (erased.ref,)
        for word in (SECRET, "Quokka", "quokka", "Zanzibar"):
            assert residue(tmp_path, word) == []
        assert not [hit for hit in store.recall("Zanzibar quokka") if "Quokka" in hit.text]
        assert store.verify()
        with pytest.raises(NotFound, match="erased"):
            store.episodes.get(erased)


def test_i18_a_reader_that_pins_the_log_makes_the_erasure_pending(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        erased = store.record(SECRET)
        with Store(path, read_only=True) as other, other._database.read() as reader:
            reader.head()
            done = store.erase(erased)
            assert done.pending and not done
            assert store.status().erase_pending == 1
    with Store(path) as store:
        assert store.status().erase_pending == 0
    assert residue(tmp_path, "Quokka") == []


def test_f6_erasing_the_newest_value_makes_the_one_before_live_again(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        first = store.record("pool size is 10", state_key="db.pool")
        middle = store.record("pool size is 20", state_key="db.pool")
        last = store.record("pool size is 30", state_key="db.pool")
        store.erase(middle)
        assert store.episodes.get(first).replaced_by == last.ref
        store.erase(last)
        assert store.keys.get("db.pool") == store.episodes.get(first)
        assert store.verify()


def test_erasing_the_first_of_equal_texts_keeps_the_repetition_findable(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        first = store.record("yes, go ahead")
        second, third = store.record("yes, go ahead"), store.record("yes, go ahead")
        store.erase(first)
        assert [hit.id for hit in store.recall("go ahead")] == [second.ref]
        assert store.episodes.get(third).verdict_target == second.ref
        assert store.verify()


def test_i17_records_and_erasures_in_turns_leave_no_stale_copy(tmp_path: Path) -> None:
    dice = random.Random(5)
    with Store(tmp_path / "memory.db") as store:
        live: list[tuple[Episode, str]] = []
        erased: list[str] = []
        for _ in range(260):
            if live and dice.random() < 0.4:
                episode, secret = live.pop(dice.randrange(len(live)))
                assert store.erase(episode)
                erased.append(secret)
            else:
                secret = f"secret{dice.getrandbits(64):x}"
                live.append((store.record(f"{secret} " + "lorem ipsum dolor " * dice.randrange(1, 30)), secret))
        assert len(erased) > 60
        held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert [secret for secret in erased if secret.encode() in held] == []
        assert store.verify()


def test_an_erased_source_is_external_whatever_reason_was_given(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        for reason in ("retention:operator", "retention: 30 days"):
            source = store.record(f"a page says {reason}", trust="external")
            derived = store.record(f"built on the page of {reason}", derived_from=[source])
            store.erase(source, reason=reason)
            assert store.episodes.get(derived).effective_trust is Trust.EXTERNAL


def test_what_loses_its_trust_by_an_erase_no_longer_replaces(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        held = store.record("the backup runs at midnight")
        note = store.record("a note on the backup plan")
        store.record("the backup runs at noon", derived_from=[note], supersedes=[held])
        store.erase(note)
        assert held.ref in {hit.id for hit in store.recall("when does the backup run")}
        assert store.verify()


def test_results_of_an_erased_episode_go_with_it(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        erased, other = store.record(SECRET), store.record("something else")
        store.result(erased, True, note="the quokka helped")
        store.result(other, False, note="no Zanzibar-Quokka was there")
        store.erase(erased)
        assert [note for _, note in store.explain(other).results] == [""]
        assert residue(tmp_path, "uokka") == []
        assert store.verify()


def test_an_erase_that_cannot_clear_the_file_is_pending_and_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path, timeout=0.3) as store:
        erased = store.record(SECRET)
        other = sqlite3.connect(path, isolation_level=None)

        def block(_: object) -> None:
            other.execute("BEGIN IMMEDIATE")

        store._database._on_commit = block  # another writer comes between the commit and the clearing
        done = store.erase(erased)
        assert done.pending and done.erased == (erased.ref,)
        with pytest.raises(NotFound, match="erased"):
            store.episodes.get(erased)
        Store(path, timeout=0.3).close()
        other.execute("ROLLBACK")
        other.close()
    with Store(path) as store:
        assert store.status().erase_pending == 0
    assert residue(tmp_path, "Quokka") == []
