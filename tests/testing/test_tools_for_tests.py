"""What users' own tests get: fixtures, composers, stores that fail on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Store
from assay.errors import StorageFailure
from assay.model.wrap import WrapStatus
from assay.testing import FaultyStore, Say, Script, ScriptedComposer, assay_store, require
from assay.testing.composer import honest_document
from assay.testing.script import ScriptExhausted

__all__ = ["assay_store"]


def test_the_fixture_gives_equal_stores_every_time(assay_store: Store) -> None:
    first = assay_store.record("Deploys go out on Tuesday")
    second = assay_store.record("The office is closed on Friday")
    assert first.recorded_at < second.recorded_at
    assert first.ref[:11] != second.ref[:11]
    assert assay_store.verify()


def test_a_scripted_composer_keeps_what_it_was_asked(assay_store: Store) -> None:
    assay_store.record("Deploys go out on Tuesday")
    composer = ScriptedComposer(honest_document)
    result = assay_store.wrap(composer)
    assert result.status is WrapStatus.COMMITTED
    assert "Deploys go out on Tuesday" in composer.prompts[0]


def test_a_faulty_store_fails_in_the_named_verbs_alone(tmp_path: Path) -> None:
    with FaultyStore(tmp_path / "m.db", ["briefing"], error=StorageFailure("gone")) as store:
        store.record("Deploys go out on Tuesday")
        with pytest.raises(StorageFailure, match="gone"):
            store.briefing("deploys")
        store.heal()
        assert "Tuesday" in store.briefing("deploys").text


def test_a_promised_extra_that_is_missing_fails_and_another_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_REQUIRE_EXTRAS", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"assay-memory\[acme\]"):
        require("no_such_framework", extra="acme")
    monkeypatch.setenv("ASSAY_REQUIRE_EXTRAS", "langgraph, acme")
    with pytest.raises(pytest.fail.Exception, match="cannot be imported"):
        require("no_such_framework", extra="acme")
    assert require("json", extra="acme").__name__ == "json"


def test_a_script_says_when_a_model_was_called_too_often() -> None:
    script = Script(Say("once"))
    assert script.reply([("user", "hello")]) == Say("once")
    with pytest.raises(ScriptExhausted):
        script.reply([("user", "hello again")])
