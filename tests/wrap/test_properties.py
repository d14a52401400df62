"""Whatever happens, a level rises only by evidence that was verified in that wrap, and by one."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model.constants import MAX_DOCUMENT_BYTES
from assay.model.schema import DEFAULT_SCHEMA
from assay.wrap.document import parse

from .scene import Scene, cite

_TOPICS = ("the pool needs 40 connections", "deploys go out on Tuesday", "кэш должен быть тёплым", "缓存必须预热")
_SAYS = ("{} under load", "again {}, says Bob", "{}: seen twice", "not so: {}", "{} (never)", "we wonder whether {}")
_SPEAKERS = ("user", "agent", "tool", "host")

_event = st.tuples(
    st.integers(0, len(_TOPICS) - 1),
    st.integers(0, len(_SAYS) - 1),
    st.sampled_from(_SPEAKERS),
    st.integers(0, 3),  # session
    st.booleans(),  # external
)
_line = st.tuples(
    st.integers(0, len(_TOPICS) - 1),
    st.integers(1, 9),  # level asked for
    st.lists(st.integers(0, 5), max_size=3),  # cited episodes of the window
    st.sampled_from(("own", "claim", "junk", "none")),
)
_act = st.sampled_from(
    ("save", "save", "erase", "distrust", "quarantine", "release", "revert", "level", "retire", "sever", "pin")
)
_history = st.lists(
    st.tuples(st.lists(_event, min_size=1, max_size=4), st.lists(_line, max_size=4), _act), min_size=1, max_size=5
)


def _levels(scene: Scene) -> dict[str, int]:
    return {belief.ref: belief.level for belief in scene.store.beliefs.list()}


def _cited(scene: Scene, told: list[object], line: tuple[int, int, list[int], str]) -> str:
    topic, level, places, words = line
    said = [told[place % len(told)] for place in places] if told else []
    explained = {"own": None, "claim": _TOPICS[topic], "junk": "aliens told us so", "none": ""}[words]
    cites = [cite(one, words=one.content if explained is None else explained) for one in said]  # type: ignore[attr-defined, arg-type]
    return f"- topic_{'abcd'[topic]}: {_TOPICS[topic]} | {level}x {' '.join(cites)}"


@settings(max_examples=25, deadline=None)
@given(_history)
def test_no_level_rises_without_a_citation_that_was_verified_in_that_wrap(history: list[tuple]) -> None:  # type: ignore[type-arg]
    scene = Scene()
    reverted: dict[int, str] = {}
    for events, lines, act in history:
        told = [
            scene.say(
                _SAYS[how].format(_TOPICS[topic]),
                f"s{session}",
                who,
                who,
                trust="external" if outside else None,
            )
            for topic, how, who, session, outside in events
        ]
        scene.days()
        before = _levels(scene)
        unique = {line[0]: _cited(scene, list(told), line) for line in lines}
        result = scene.save(*unique.values(), shrink=True)
        after = _levels(scene)
        for ref, level in after.items():
            rose = level - before.get(ref, 1)
            assert rose <= 1
            if rose == 1:
                links = scene.store.explain(ref).evidence
                assert any(one.wrap == result.wrap and one.explanation for one in links)
        if result.wrap is not None and result.version is not None:
            reverted[result.wrap] = scene.store.continuity.text()
        _interfere(scene, act, told[0].ref, reverted)
        assert all(level <= max(after.get(ref, 1), before.get(ref, 1)) for ref, level in _levels(scene).items()) or (
            act in ("release", "revert")
        )
    assert scene.store.verify()
    scene.store.close()


def _interfere(scene: Scene, act: str, ref: str, reverted: dict[int, str]) -> None:
    if act == "erase":
        scene.store.erase(ref)
        reverted.clear()
    elif act == "distrust":
        scene.store.authority.set_trust(ref, "external")
        reverted.clear()
    elif act == "quarantine":
        scene.store.episodes.quarantine(ref)
        reverted.clear()
    elif act == "release":
        scene.store.episodes.quarantine(ref, release=True)
    elif act in ("level", "retire", "sever"):
        _speak(scene, act, reverted)
    elif act == "pin":
        scene.store.beliefs.pin(f"the printer is on floor {len(reverted)}", cues=("printer",))
    elif act == "revert" and reverted:
        wrap, body = next(iter(reverted.items()))
        scene.store.continuity.revert(wrap, reason="back")
        assert scene.store.continuity.text() == body


def _speak(scene: Scene, act: str, reverted: dict[int, str]) -> None:
    """Let the operator say something of the highest belief in the document."""
    working = [one for one in scene.store.beliefs.list() if one.residence == "working"]
    belief = max(working, key=lambda one: one.level, default=None)
    if belief is None:
        return
    if act == "level" and belief.level > 1:
        scene.store.beliefs.set_level(belief.ref, belief.level - 1, reason="doubt")
    elif act == "retire":
        scene.store.beliefs.retire(belief.ref, reason="over")
    elif act == "sever":
        scene.store.beliefs.sever(belief.ref)
        reverted.clear()


@pytest.mark.parametrize(
    "piece",
    [
        "|",
        "[evidence: ",
        "(1x",
        "## ",
        "- a: b | 2x ",
        '"',
        "`",
        "**",
        "<!--",
        "<thinking>",
        "٩x|",
        "\u200b",
        "用x|",
        "a",
        "!",
        "- ",
        " (relayed)",
        "```a\n",
        "# a\n",
        "# a\n[refines: a -> b]\n",
        "[evidence: a\n",
        "a\n  b\n    c | 2x\n",
    ],
)
def test_the_parser_reads_the_largest_text_of_anything_in_seconds(piece: str) -> None:
    text = piece * (MAX_DOCUMENT_BYTES // len(piece.encode()))
    start = time.perf_counter()
    for one in (text, text.replace(" ", "\n") + "\n", f"## Patterns\n- x: {text} | 1x"):
        parse(one, DEFAULT_SCHEMA)
    assert time.perf_counter() - start < 3 * 5  # a bound that a loaded machine keeps; growth is tested below


def test_the_parsers_time_grows_with_the_text_and_no_faster() -> None:
    line = '- name: the pool needs 40 connections | 2x [evidence: ep_k3v9q2ma "the pool needs"] [no-contradicts]\n'
    times = []
    for size in (500, 2_000, 8_000):
        text = "## Patterns\n" + line * size
        start = time.perf_counter()
        parse(text, DEFAULT_SCHEMA)
        times.append(time.perf_counter() - start)
    assert all(later < 4 * 4 * earlier for earlier, later in pairwise(times))
