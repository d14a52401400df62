"""`store.wrap`: prepare, compose, check, give findings back, and never leave a wrap open."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from assay.model.wrap import WrapStatus

from .scene import Scene, document, rules
from .test_graduation import FIRST, POOL


class Scripted:
    """A composer that answers in turn and keeps its prompts."""

    def __init__(self, *answers: Callable[[str], str]) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answers.pop(0)(prompt)


def _ref(prompt: str) -> str:
    found = re.search(r"^- (ep_\w+) ", prompt, re.MULTILINE)
    assert found is not None
    return found[1]


def _good(prompt: str) -> str:
    return document(f'- {POOL} | 1x [evidence: {_ref(prompt)} "the database pool needs 40 connections"]')


def _forged(prompt: str) -> str:
    return document(f'- {POOL} | 2x [evidence: ep_00000000 "the database pool needs 40 connections"]')


def test_findings_go_back_to_the_composer_once_and_the_better_text_is_saved() -> None:
    scene = Scene()
    scene.say(FIRST)
    compose = Scripted(_forged, _good)
    result = scene.store.wrap(compose)
    assert result.status is WrapStatus.COMMITTED and "citation-unknown" not in rules(result)
    assert "citation-unknown" in compose.prompts[1] and "ep_00000000" in compose.prompts[1]
    assert compose.prompts[1].startswith(compose.prompts[0])
    assert result.usage.tokens_in > 0 and result.usage.tokens_out > 0


def test_what_a_composer_cannot_mend_is_applied_with_levels_held() -> None:
    scene = Scene()
    scene.say(FIRST)
    compose = Scripted(_forged, _forged, _forged)
    result = scene.store.wrap(compose)
    assert result.status is WrapStatus.COMMITTED and scene.level("pool") == 1


def test_a_document_that_stays_unreadable_cancels_the_wrap() -> None:
    scene = Scene()
    scene.say(FIRST)
    result = scene.store.wrap(lambda prompt: "I would rather not.")
    assert result.status is WrapStatus.REFUSED and "section-missing" in rules(result)
    assert (scene.store.status().open_wrap, scene.store.status().pending) == (None, 1)


@pytest.mark.parametrize("answer", [lambda prompt: "", lambda prompt: 1 / 0])
def test_a_composer_that_fails_leaves_nothing_open(answer: Callable[[str], str]) -> None:
    scene = Scene()
    scene.say(FIRST)
    result = scene.store.wrap(answer)
    assert rules(result) == ["compose-failed"] and result.remaining == 1
    assert (scene.store.status().open_wrap, scene.store.status().pending) == (None, 1)


def test_a_backlog_is_wrapped_in_rounds() -> None:
    scene = Scene()
    scene.store.authority.set(package_tokens=8_000)
    for place in range(60):
        scene.say(f"Event {place}: " + "many words about the weather " * 60, f"s{place}")
    result = scene.store.wrap()
    assert result.status is WrapStatus.COMMITTED, [one for one in result.findings if one.action.value == "refuse"]
    assert (result.remaining, result.episodes_compressed) == (0, 60)
    assert scene.store.status().wraps > 1


def test_a_wrap_with_nothing_to_do_says_so() -> None:
    result = Scene().store.wrap()
    assert result.status is WrapStatus.EMPTY
