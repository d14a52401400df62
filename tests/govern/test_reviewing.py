"""What the operator has not looked at yet is listed, the doubtful first, until it is looked at."""

from __future__ import annotations

import pytest

from assay.errors import NotFound
from assay.model.wrap import WrapStatus

from ..wrap.scene import Scene, cite
from ..wrap.test_graduation import FIRST, POOL, SECOND, at_2x

CACHE = "cache: the cache must be warm before a release"
TOLD = (
    "The cache must be warm before a release",
    "Release failed: the cache must be warm before any release, says Bob",
)


def _two_lines() -> Scene:
    """Hold one line on words alone, and one that an outcome speaks for, both at 2x."""
    scene = Scene()
    at_2x(scene)
    one = scene.say(TOLD[0])
    scene.save(f"- {POOL} | 2x", f"- {CACHE} | 1x {cite(one, words=TOLD[0])}")
    scene.days()
    seen = scene.outcome(
        "The release failed since the cache was not warm; it must be warm before a release", "s7", success=False
    )
    words = "it must be warm before a release"
    saved = scene.save(f"- {POOL} | 2x", f"- {CACHE} | 2x {cite(seen, words=words)} [no-contradicts]")
    assert saved.status is WrapStatus.COMMITTED and scene.level("cache") == 2, saved.findings
    return scene


def test_what_was_verified_waits_and_what_rests_on_words_alone_comes_first() -> None:
    waiting = _two_lines().store.beliefs.to_review()
    assert [(one.belief.name, one.reasons) for one in waiting] == [("pool", ("user-only",)), ("cache", ())]


def test_a_review_takes_a_belief_off_the_list_until_more_evidence_is_verified() -> None:
    scene = _two_lines()
    assert scene.store.beliefs.reviewed("pool").name == "pool"
    assert [one.belief.name for one in scene.store.beliefs.to_review()] == ["cache"]
    scene.days()
    more = scene.outcome("Load test green: 40 connections were enough for the pool under load", "s8")
    words = "40 connections were enough for the pool under load"
    scene.save(f"- {POOL} | 3x {cite(more, words=words)} [no-contradicts]", f"- {CACHE} | 2x")
    assert scene.level("pool") == 3
    assert {one.belief.name for one in scene.store.beliefs.to_review()} == {"pool", "cache"}
    assert scene.store.verify()


def test_a_line_whose_second_source_is_gone_is_listed_for_it() -> None:
    scene = Scene()
    one = scene.say(FIRST)
    scene.save(f"- {POOL} | 1x {cite(one, words=FIRST)}")
    two = scene.say(SECOND, "s2", "bob")
    scene.save(f"- {POOL} | 2x {cite(two, words=SECOND)}")
    scene.store.erase(one.ref)
    (waiting,) = scene.store.beliefs.to_review()
    assert "single-source" in waiting.reasons


def test_a_line_at_1x_waits_for_nobody() -> None:
    scene = Scene()
    one = scene.say(FIRST)
    scene.save(f"- {POOL} | 1x {cite(one, words=FIRST)}")
    assert scene.store.beliefs.to_review() == []
    with pytest.raises(NotFound):
        scene.store.beliefs.reviewed("nobody")
