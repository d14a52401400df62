"""Whatever a save refuses, its finding says what to do, and a composer that does it is done within two retries."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count

import pytest

from assay.model.finding import Action
from assay.model.wrap import WrapStatus
from assay.wrap.feedback import mended
from assay.wrap.findings import RULES, found

from .scene import Scene, cite, document
from .test_graduation import POOL, SECOND, at_2x

LONG = " ".join(f"word{number} of the story so far" for number in range(120))
WORDS = "with fewer than 40 connections the pool starves"
OTHERS = ("cache: the cache needs 3 nodes", "queue: the queue needs 5 workers", "proxy: the proxy needs 2 hosts")
ALL = f"Load test: {POOL.partition(': ')[2]}, {', '.join(line.partition(': ')[2] for line in OTHERS)}"
HELD = (f"- {POOL} | 2x", *(f"- {line} | 1x" for line in OTHERS))


def _told() -> Scene:
    """Give a store with a line at 2x, three at 1x, and a window that says much of them."""
    numbers = count()
    scene = Scene(ids=lambda: next(numbers).to_bytes(16, "big"))
    at_2x(scene)
    scene.say("The cache needs 3 nodes, the queue needs 5 workers, the proxy needs 2 hosts", "s1")
    third = scene.say(f"Third time: {SECOND}", "s3")
    scene.save(f"{HELD[0]} {cite(third, words=SECOND)}", *HELD[1:], context=LONG)
    scene.days()
    scene.say(f"{SECOND}, and lunch was good", "s9", "eve")
    scene.say("The pool may need 40 connections under load, sometimes", "s9", "eve")
    scene.say("As ada said, the cache needs 3 nodes", "s1")
    scene.say(ALL, "s10", "eve")
    scene.say(f"{ALL}!", "s11", "eve")
    scene.store.episodes.record_many({"content": f"{word} 40 connections", "session": "s9"} for word in ("see", "mind"))
    return scene


def _refs(prompt: str, words: str) -> list[str]:
    found = re.findall(rf"^- (ep_\w+) .*{re.escape(words)}", prompt, re.MULTILINE)
    assert found, prompt
    return found


def _citing(words: str, said: str = WORDS, *, line: str = POOL, level: int = 3) -> Callable[[str], str]:
    """Raise a line on the first episode that holds some words."""
    return lambda prompt: _with(f'- {line} | {level}x [evidence: {_refs(prompt, words)[0]} "{said}"]')


def _with(*lines: str) -> str:
    """Give the document with some lines in the place of those that have their names."""
    names = {line.partition(":")[0] for line in lines}
    return document(*(line for line in HELD if line.partition(":")[0] not in names), *lines, context=LONG)


def _near_copies(prompt: str) -> str:
    """Raise four lines on two episodes that say the same, each cited twice."""
    one, two = scene_refs(prompt)
    cited = zip((POOL, *OTHERS), (3, 2, 2, 2), (one, one, two, two), strict=True)
    return _with(*(f'- {line} | {level}x [evidence: {ref} "{line.partition(": ")[2]}"]' for line, level, ref in cited))


def scene_refs(prompt: str) -> tuple[str, str]:
    ref = _refs(prompt, "Load test")
    return ref[0], ref[-1]


def _good(prompt: str) -> str:
    return document(*HELD, "- fresh: lunch was good | 1x", context=LONG)


BAD: dict[str, Callable[[str], str]] = {
    "text-empty": lambda prompt: "<!-- nothing -->",
    "text-too-large": lambda prompt: document(f"- {POOL} | 2x " + "x" * 9_000),
    "section-missing": lambda prompt: _good(prompt).replace("## Decisions", "Decisions, as ever:"),
    "heading-ambiguous": lambda prompt: _good(prompt).replace("## Decisions", "## Decisions and State"),
    "line-unparsable": lambda prompt: _with(f"- {POOL} | 2 (2026-01-02)"),
    "evidence-malformed": lambda prompt: _with(f'- {POOL} | 2x [evidence: "{WORDS}"]'),
    "size-hard": lambda prompt: document(*HELD, state="\n".join(f"- fact {n} of many" for n in range(2_000))),
    "shrink": lambda prompt: document(*HELD),
    "level-malformed": lambda prompt: _with(f"- {POOL} | Ⅸx"),
    "name-duplicate": lambda prompt: _with(f"- {POOL} | 2x", "- pool: the pool is blue | 2x"),
    "citation-ambiguous": lambda prompt: _with(
        f'- {POOL} | 3x [evidence: {_refs(prompt, "see 40 connections")[0][:11]} "see 40 connections"]'
    ),
    "citation-unknown": lambda prompt: _with(f'- {POOL} | 3x [evidence: ep_00000000 "{WORDS}"]'),
    "citation-flood": lambda prompt: _with(
        f'- {POOL} | 3x [evidence: {", ".join(f"ep_0000000{n}" for n in range(9))} "{WORDS}"]'
    ),
    "explanation-missing": lambda prompt: _with(f"- {POOL} | 3x [evidence: {_refs(prompt, 'lunch')[0]}]"),
    "ungrounded": _citing("lunch", "aliens"),
    "claim-ungrounded": _citing("lunch", line="pool: unicorns ride across purple oceans"),
    "value-unsupported": _citing("lunch", line="pool: the pool needs 41 connections under load"),
    "polarity": _citing("lunch", line="pool: the pool does not need 40 connections under load"),
    "overreach": _citing(
        "sometimes", "The pool may need 40 connections", line="pool: the pool always needs 40 connections under load"
    ),
    "overlap": _citing("lunch", SECOND),
    "reuse": lambda prompt: _with(
        *(f'- {line} | 2x [evidence: {scene_refs(prompt)[0]} "{line.partition(": ")[2]}"]' for line in OTHERS)
    ),
    "pool": _near_copies,
    "single-source": _citing("As ada said", "the cache needs 3 nodes", line=OTHERS[0], level=2),
    "needs-evidence": lambda prompt: _with(f"- {POOL} | 3x"),
}


@pytest.mark.parametrize("rule", BAD)
def test_a_composer_that_follows_the_findings_is_done_within_two_retries(rule: str) -> None:
    scene = _told()
    prompts: list[str] = []

    def compose(prompt: str) -> str:
        prompts.append(prompt)
        return (BAD[rule] if len(prompts) == 1 else _good)(prompt)

    result = scene.store.wrap(compose)
    assert result.status is WrapStatus.COMMITTED, result
    assert len(prompts) == 2 and f"[{rule}]" in prompts[1], prompts[1:]
    (told,) = [line for line in prompts[1].split("\n") if f"[{rule}]" in line][:1]
    assert "Do this: " in told
    assert scene.level("pool") == 2


def test_everything_that_a_text_can_cause_and_mend_is_among_them() -> None:
    by_the_caller = {"wrap-none", "wrap-token", "wrap-superseded"}  # no text brings these about
    assert {rule for rule in RULES if found(rule, "").fixable} - by_the_caller <= BAD.keys()
    refusing = {rule for rule, action in RULES.items() if action is Action.REFUSE}
    assert refusing - {"authority", "compose-failed"} - by_the_caller <= BAD.keys()


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
