"""A wrap at a shell: in one command, with a command that composes, or step by step."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from .conftest import Run

DOCUMENT = """# Demo

## State
The release is being planned.

## Patterns
- deploys_on_tuesday: deploys go out on Tuesday | 1x

## Decisions

## Context
The first session.
"""


@pytest.fixture
def waiting(store: Run) -> Run:
    """Give a store with an episode that no wrap has seen."""
    assert store("record", "Deploys go out on Tuesday").code == 0
    return store


def test_a_wrap_without_a_model_commits_and_the_next_finds_nothing(waiting: Run) -> None:
    answer = waiting("wrap")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("committed: 1 episodes, version 1")
    assert "Deploys go out on Tuesday" in waiting("continuity").out
    again = waiting("wrap", "--json")
    assert (again.code, again.data["result"]["status"]) == (0, "empty")


def test_a_command_composes(waiting: Run, tmp_path: Path) -> None:
    script = tmp_path / "compose.py"
    code = f"import sys; assert 'Deploys go out' in sys.stdin.read(); print({DOCUMENT!r})"
    script.write_text(code, "utf-8")
    assert waiting("wrap", "--command", shlex.join([sys.executable, str(script)])).code == 0
    assert "The release is being planned." in waiting("continuity", "show").out


def test_a_command_that_fails_leaves_the_episodes_for_the_next_wrap(waiting: Run) -> None:
    answer = waiting("wrap", "--command", shlex.join([sys.executable, "-c", "raise SystemExit(3)"]))
    assert answer.code == 1
    assert "compose-failed" in answer.out + answer.err
    assert waiting("wrap", "status", "--json").data == {
        "pending": 1, "open_wrap": None, "wraps": 0, "requires_baton": False, "baton": None,
    }  # fmt: skip


def test_a_wrap_that_is_not_due_is_no_failure(waiting: Run) -> None:
    answer = waiting("wrap", "--due", "5")
    assert (answer.code, answer.out.splitlines()[0]) == (0, "not_due: 1 wait")
    assert waiting("wrap", "--due", "1").out.startswith("committed")


def test_prepare_prints_the_prompt_and_the_token_that_saves(waiting: Run, tmp_path: Path) -> None:
    printed = waiting("wrap", "prepare").out
    token = printed.splitlines()[-1].removeprefix("Wrap token: ")
    assert "Deploys go out on Tuesday" in printed
    assert waiting("wrap", "prepare", "--json").data["token"] == token

    file = tmp_path / "document.md"
    file.write_text(DOCUMENT, "utf-8")
    assert waiting("wrap", "save", str(file), "--token", token, "--dry-run").out.startswith("dry_run")
    assert waiting("continuity").code == 1
    assert waiting("wrap", "save", "-", "--token", token, stdin=DOCUMENT.encode()).out.startswith("committed")
    assert "deploys_on_tuesday" in waiting("continuity").out


def test_a_refused_document_says_what_to_mend_and_the_wrap_stays_open(waiting: Run) -> None:
    waiting("wrap", "prepare")
    answer = waiting("wrap", "save", "-", stdin=b"## State\nhalf of it\n")
    assert answer.code == 1
    assert answer.out.startswith("refused")
    assert "refuse section-missing" in answer.out
    assert waiting("wrap", "status", "--json").data["open_wrap"] == "local"
    assert waiting("wrap", "save", "-", stdin=DOCUMENT.encode()).code == 0


def test_a_wrong_token_is_refused(waiting: Run) -> None:
    waiting("wrap", "prepare")
    answer = waiting("wrap", "save", "-", "--token", "0" * 32, stdin=DOCUMENT.encode())
    assert answer.code == 1
    assert "wrap-token" in answer.out


def test_another_session_waits_and_may_only_cancel_by_force(waiting: Run) -> None:
    waiting("wrap", "prepare", "--session", "a")
    assert waiting("wrap", "--session", "b").out.startswith("busy")
    assert waiting("wrap", "cancel", "--session", "b").code == 1
    assert waiting("wrap", "cancel", "--session", "b", "--force").code == 0
    assert waiting("wrap", "cancel").code == 1


def test_sections_and_versions_are_listed(waiting: Run) -> None:
    assert waiting("continuity", "versions").out == "nothing was wrapped yet\n"
    waiting("wrap")
    waiting("record", "Deploys moved to Wednesday")
    waiting("wrap")
    assert [item["number"] for item in waiting("continuity", "versions", "--json").data["versions"]] == [2, 1]
    first = waiting("continuity", "show", "--version", "1")
    assert "Wednesday" not in first.out
    assert waiting("continuity", "--version", "9").code == 1
    sections = waiting("continuity", "sections", "--json").data["sections"]
    assert sections[0]["heading"] == "State"
    assert any("Wednesday" in section["text"] for section in sections)


def test_a_new_store_wraps_once_a_session_has_the_baton(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("init")
    assert "assay baton claim" in made.out
    run("record", "Deploys go out on Tuesday")
    refused = run("wrap")
    assert refused.code == 1
    assert refused.out.startswith("no_authority")
    assert "assay baton claim" in refused.out
    assert run("baton", "status", "--json").data == {"baton": None, "requires_baton": True}

    assert run("baton", "claim").code == 2
    assert run("baton", "claim", "me").code == 0
    monkeypatch.setenv("ASSAY_SESSION_ID", "me")
    assert run("wrap").out.startswith("committed")
    assert run("baton", "claim", "you").code == 1
    assert run("baton", "claim", "you", "--take").code == 0
    assert run("baton", "status").out == "held by you\n"
