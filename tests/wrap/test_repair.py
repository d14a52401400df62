"""Whatever a save refuses, its finding says what to do, and a composer that does it is done within two retries."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from assay.model.finding import Action
from assay.model.wrap import WrapStatus
from assay.wrap.feedback import mended
from assay.wrap.findings import RULES

from .scene import Scene, document
from .test_graduation import POOL, SECOND, at_2x


def _ref(prompt: str) -> str:
    found = re.search(r"^- (ep_\w+) ", prompt, re.MULTILINE)
    assert found is not None
    return found[1]


def _good(prompt: str) -> str:
    return document(f"- {POOL} | 2x", "- fresh: lunch was good | 1x", context=LONG)


LONG = " ".join(f"word{number} of the story so far" for number in range(120))
WORDS = "with fewer than 40 connections the pool starves"
BAD: dict[str, Callable[[str], str]] = {
    "text-empty": lambda prompt: "<!-- nothing -->",
    "text-too-large": lambda prompt: document(f"- {POOL} | 2x " + "x" * 9_000),
    "section-missing": lambda prompt: _good(prompt).replace("## Decisions", "Decisions, as ever:"),
    "heading-ambiguous": lambda prompt: _good(prompt).replace("## Decisions", "## Decisions and State"),
    "line-unparsable": lambda prompt: document(f"- {POOL} | 2 (2026-01-02)", context=LONG),
    "evidence-malformed": lambda prompt: document(f'- {POOL} | 2x [evidence: "{WORDS}"]', context=LONG),
    "size-hard": lambda prompt: document(
        f"- {POOL} | 2x", state="\n".join(f"- fact {n} of many" for n in range(2_000))
    ),
    "shrink": lambda prompt: document(f"- {POOL} | 2x"),
    "citation-unknown": lambda prompt: document(f'- {POOL} | 3x [evidence: ep_00000000 "{WORDS}"]', context=LONG),
    "explanation-missing": lambda prompt: document(f"- {POOL} | 3x [evidence: {_ref(prompt)}]", context=LONG),
    "ungrounded": lambda prompt: document(f'- {POOL} | 3x [evidence: {_ref(prompt)} "aliens"]', context=LONG),
    "needs-evidence": lambda prompt: document(f"- {POOL} | 3x", context=LONG),
}


@pytest.mark.parametrize("rule", BAD)
def test_a_composer_that_follows_the_findings_is_done_within_two_retries(rule: str) -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good")
    scene.save(f"- {POOL} | 2x", context=LONG)
    scene.say(f"{SECOND}, and lunch was good", "s9", "eve")
    prompts: list[str] = []

    def compose(prompt: str) -> str:
        prompts.append(prompt)
        return (BAD[rule] if len(prompts) == 1 else _good)(prompt)

    result = scene.store.wrap(compose)
    assert result.status is WrapStatus.COMMITTED, result
    assert len(prompts) == 2 and f"[{rule}]" in prompts[1]
    (told,) = [line for line in prompts[1].split("\n") if f"[{rule}]" in line][:1]
    assert "Do this: " in told
    assert scene.level("pool") == 2


def test_every_refusal_that_a_text_can_cause_is_among_them() -> None:
    outside = {"wrap-none", "wrap-token", "wrap-superseded", "authority", "compose-failed"}
    refusing = {rule for rule, action in RULES.items() if action is Action.REFUSE}
    assert refusing - outside <= set(BAD)


def test_a_composer_may_answer_with_the_changed_lines_alone() -> None:
    scene = Scene()
    at_2x(scene)
    prompts: list[str] = []

    def compose(prompt: str) -> str:
        prompts.append(prompt)
        if len(prompts) == 1:
            return document(
                f"- {POOL} | 3x", "- gone: nobody said this | 1x", "- fresh: nor this | 1x", context="day one"
            )
        lines = re.findall(r"^([0-9]+): - pool.*$", prompt, re.MULTILINE)
        gone = next(n for n, line in enumerate(prompt.split("Your answer was:\n")[1].split("\n"), 1) if "gone" in line)
        after = gone + 1
        return f"{lines[0]}: - {POOL} | 2x\n\nline {gone}:\n{after}: - one: said | 1x\n{after}: - two: said too | 1x"

    scene.say(f"{SECOND}, and lunch was good", "s9", "eve")
    result = scene.store.wrap(compose)
    assert result.status is WrapStatus.COMMITTED and len(prompts) == 2
    names = {belief.name for belief in scene.store.beliefs.list()}
    assert {"pool", "one", "two"} <= names and not {"gone", "fresh"} & names
    assert "day one" in result.continuity


@pytest.mark.parametrize("answer", ["", "0: x", "99: x", "2: x\nand a word", "## State\n2: x"])
def test_an_answer_that_is_no_list_of_its_lines_is_the_document(answer: str) -> None:
    assert mended("one\ntwo", answer) == answer


def test_whoever_takes_a_refused_wrap_up_again_is_told_why() -> None:
    scene = Scene()
    scene.say("The vault code is 7741")
    first = scene.prepare()
    assert "was not saved" not in first.prompt
    scene.store.save_continuity("## State\nThe vault code is 7741\n", first.token)
    again = scene.prepare()
    assert again.token == first.token
    assert "[section-missing] a required section is absent" in again.prompt
    assert again.prompt.count("7741") == first.prompt.count("7741")
