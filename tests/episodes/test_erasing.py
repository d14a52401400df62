"""Erase removes a text from every tier, and the log still verifies."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from assay import Store
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
        for word in (SECRET, "Quokka", "quokka", "7731", "zanzibar"):
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
