"""What says the same twice, or speaks against another line, is shown to the composer and reported; nothing is done."""

from __future__ import annotations

import pytest

from assay.beliefs.pairs import opposed

from .scene import Scene, rules
from .test_graduation import FIRST, POOL, at_2x

OPPOSED = [
    ("the pool needs 40 connections under load", "the pool needs 80 connections under load"),
    ("deploys go out on Tuesday", "deploys go out on Thursday"),
    ("the cache must be warm", "the cache need not be warm"),
    ("发布前必须预热缓存", "发布前不必预热缓存"),
    ("Friday deploys are allowed", "Friday deploys are forbidden"),
]
APART = [
    ("the pool needs 40 connections under load", "the disk has 80 spare sectors"),
    ("deploys go out on Tuesday", "deploys of billing go out on Tuesday"),
    ("the cache must be warm", "the door must be closed"),
]


@pytest.mark.parametrize(("a", "b"), OPPOSED)
def test_two_statements_that_deny_each_other_or_differ_in_a_value_are_opposed(a: str, b: str) -> None:
    assert opposed(a, b) and opposed(b, a)


@pytest.mark.parametrize(("a", "b"), APART)
def test_statements_that_can_both_hold_are_not(a: str, b: str) -> None:
    assert not opposed(a, b) and not opposed(b, a)


def test_a_new_line_against_an_earned_one_is_reported_and_changes_nothing() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Dan says the pool needs 80 connections under load", "s3", "dan")
    result = scene.save(f"- {POOL} | 2x", "- pool_size: the pool needs 80 connections under load | 1x")
    assert "conflict-candidate" in rules(result) and scene.level("pool") == 2
    scene.say("Lunch was good", "s4")
    prompt = scene.prepare().prompt
    assert "lines that contradict each other" in prompt and "speaks against" in prompt


def test_a_line_that_says_what_another_says_is_offered_for_a_merge() -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    scene.say("Lunch was good", "s2")
    result = scene.save(f"- {POOL} | 1x", "- pool_again: under load the pool needs 40 connections | 1x")
    assert "duplicate-candidate" in rules(result)
    scene.say("Lunch was bad", "s3")
    assert "says the same as" in scene.prepare().prompt


def test_a_document_in_harmony_has_nothing_to_compare() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    assert "lines to merge" not in (prompt := scene.prepare().prompt) and "contradict each other" not in prompt


@pytest.mark.parametrize(
    "fact",
    [
        "Bob is away until Friday",
        "The new rate holds from 2026-05-01",
        "Der Umzug ist noch nicht bestätigt",
        "Le tarif vaut à partir de lundi",
        "Эта ставка действует до пятницы",
        "报价还没批准",
        "この料金は月曜日まで",
    ],
)
def test_a_new_pinned_fact_that_waits_for_a_day_is_reported_and_shown_to_the_next_composer(fact: str) -> None:
    scene = Scene()
    scene.say(fact)
    saved = scene.save(durable=f"- {fact}")
    assert "durable-pending" in rules(saved) and fact in saved.continuity
    scene.say("Lunch was good", "s2")
    prompt = scene.prepare().prompt
    assert prompt.index("pinned facts that wait for a day") < prompt.rindex(fact)


@pytest.mark.parametrize("fact", ["Elena comes from Lisbon", "Count from zero to nine", "Releases go out on Tuesday"])
def test_a_pinned_fact_that_waits_for_nothing_is_not_reported(fact: str) -> None:
    scene = Scene()
    scene.say(fact)
    assert "durable-pending" not in rules(scene.save(durable=f"- {fact}"))
    scene.say("Lunch was good", "s2")
    assert "wait for a day" not in scene.prepare().prompt
