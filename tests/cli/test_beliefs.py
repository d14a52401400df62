"""Beliefs at a shell: listed, shown, lowered, laid to rest."""

from __future__ import annotations

import pytest

from .conftest import Run
from .test_wrapping import DOCUMENT


@pytest.fixture
def held(store: Run) -> Run:
    """Give a store that holds one belief."""
    assert store("record", "Deploys go out on Tuesday").code == 0
    assert store("wrap", "prepare").code == 0
    answer = store("wrap", "save", "-", stdin=DOCUMENT.encode())
    assert answer.code == 0, answer.out + answer.err
    return store


def test_beliefs_are_listed_and_shown(held: Run) -> None:
    assert "1x working  deploys_on_tuesday: deploys go out on Tuesday" in held("beliefs").out
    assert held("beliefs", "list", "--residence", "crystal").out == "no beliefs yet\n"
    shown = held("beliefs", "show", "deploys_on_tuesday")
    assert "1x in wrap 1: ep_" in shown.out
    assert held("beliefs", "show", "deploys_on_tuesday", "--json").data["belief"]["level"] == 1
    assert held("beliefs", "show", "nothing").code == 1


def test_a_level_is_not_raised_and_a_retirement_says_why(held: Run) -> None:
    answer = held("beliefs", "level", "deploys_on_tuesday", "3", "--reason", "because")
    assert answer.code == 2 and "only evidence raises one" in answer.err
    assert held("beliefs", "retire", "deploys_on_tuesday").code == 2
    assert held("beliefs", "retire", "deploys_on_tuesday", "--reason", "now on Monday").code == 0
    assert held("beliefs").out == "no beliefs yet\n" and "deploys" not in held("continuity").out
    assert "deploys_on_tuesday" in held("beliefs", "--residence", "rest").out


def test_rest_sever_and_conflicts(held: Run) -> None:
    assert held("beliefs", "conflicts").out == "no conflicts\n"
    assert held("beliefs", "dismiss", "deploys_on_tuesday", "deploys_on_tuesday", "--reason", "x").code == 2
    assert held("beliefs", "rest", "deploys_on_tuesday").out == "deploys_on_tuesday rests\n"
    assert held("beliefs", "sever", "deploys_on_tuesday").code == 0
    assert held("beliefs", "show", "deploys_on_tuesday").code == 1


def test_a_fact_is_pinned_and_let_go(held: Run) -> None:
    assert "pinned  The vault code is 4711" in held("beliefs", "pin", "The vault code is 4711", "--cue", "safe").out
    assert held("recall", "safe", "--json").data["patterns"][0]["text"] == "The vault code is 4711"
    assert held("beliefs", "pin", "two\nlines").code == 2
    assert held("beliefs", "unpin", "The vault code is 4711", "--reason", "changed").code == 0
    assert "vault" not in held("continuity").out


def test_what_is_watched_is_looked_for(held: Run) -> None:
    ref = held("beliefs", "watch", "--text", "the first session").out.strip()
    assert held("beliefs", "watched").code == 0
    lost = held("beliefs", "watch", "--text", "the second session", "--json").data["probe"]
    answer = held("beliefs", "watched")
    assert answer.code == 1 and f"{lost} lost" in answer.out and f"{ref} held" in answer.out
    assert held("beliefs", "unwatch", lost).code == 0 and held("beliefs", "unwatch", lost).code == 1
    assert held("beliefs", "watch").code == 2
