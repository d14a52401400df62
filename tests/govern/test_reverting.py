"""An earlier wrap can be made to hold again, and a section be written outside a wrap."""

from __future__ import annotations

import pytest

from assay.errors import Conflict, InvalidInput, NotAuthorised, NotFound
from assay.model.labels import Residence

from ..wrap.scene import Scene, cite
from ..wrap.test_graduation import FIRST, POOL, SECOND, at_2x

STANDING = ("ref", "name", "text", "level", "highest", "residence", "section", "marks", "verified_at")


def standing(scene: Scene) -> list[tuple[object, ...]]:
    listed = scene.store.beliefs.list()
    return sorted(tuple(getattr(one, name) for name in STANDING) for one in listed if one.residence != Residence.REST)


def last_wrap(scene: Scene) -> int:
    (newest, *_) = scene.store.continuity.versions()
    assert newest.wrap is not None
    return newest.wrap


def test_a_revert_restores_document_levels_and_evidence() -> None:
    scene = Scene()
    at_2x(scene)
    wrap, body, before = last_wrap(scene), scene.store.continuity.text(), standing(scene)
    evidence = scene.store.explain("pool").evidence
    proof = scene.outcome("Load test passed: the pool of 40 connections survived peak traffic", "s4")
    scene.save(
        f"- {POOL} | 3x {cite(proof, words='the pool of 40 connections survived peak traffic')}",
        "- moon: the moon is made of cheese | 1x",
        state="- full moon",
    )
    later, after = scene.store.continuity.text(), standing(scene)
    assert scene.level("pool") == 3
    scene.store.continuity.revert(wrap, reason="the moon is no cheese")
    assert scene.store.continuity.text() == body
    assert standing(scene) == before
    assert scene.store.explain("pool").evidence == evidence
    scene.store.continuity.revert(wrap + 1, reason="it was right after all")
    assert scene.store.continuity.text() == later and standing(scene) == after
    assert scene.store.verify()


def test_evidence_of_a_reverted_wrap_raises_nothing_later() -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    wrap = last_wrap(scene)
    two = scene.say(SECOND, "s2", "bob")
    scene.save(f"- {POOL} | 2x {cite(two, words='with fewer than 40 connections the pool starves')}")
    scene.store.continuity.revert(wrap, reason="a mistake")
    scene.say("Lunch was good", "s3")
    scene.save(f"- {POOL} | 2x")
    assert scene.level("pool") == 1


def test_the_episodes_of_a_reverted_wrap_return_on_request() -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    wrap = last_wrap(scene)
    two = scene.say(SECOND, "s2", "bob")
    scene.save(f"- {POOL} | 1x")
    scene.store.continuity.revert(wrap, reason="again, better", reopen=True)
    result = scene.save(f"- {POOL} | 2x {cite(two, words='with fewer than 40 connections the pool starves')}")
    assert result.raised == ("pool",)


def test_what_lost_its_trust_meanwhile_does_not_return_with_a_revert() -> None:
    scene = Scene()
    at_2x(scene)
    wrap = last_wrap(scene)
    (link,) = [one for one in scene.store.explain("pool").evidence if one.earned == 2]
    scene.say("Lunch was good", "s3")
    scene.save(f"- {POOL} | 1x")
    scene.store.authority.set_trust(link.episode, "external")
    scene.store.continuity.revert(wrap, reason="it was lowered by mistake")
    assert scene.level("pool") == 1 and "| 2x" not in scene.store.continuity.text()


def test_a_revert_needs_a_reason_a_wrap_and_the_baton() -> None:
    scene = Scene()
    at_2x(scene)
    wrap = last_wrap(scene)
    with pytest.raises(InvalidInput):
        scene.store.continuity.revert(wrap, reason=" ")
    with pytest.raises(NotFound):
        scene.store.continuity.revert(wrap + 7, reason="x")
    scene.say("Lunch was good", "s3")
    scene.prepare()
    with pytest.raises(Conflict):
        scene.store.continuity.revert(wrap, reason="x")
    scene.store.continuity.cancel()
    scene.store.authority.set(requires_baton=True)
    with pytest.raises(NotAuthorised):
        scene.store.continuity.revert(wrap, reason="x")


def test_a_section_is_replaced_only_over_the_version_that_was_read() -> None:
    scene = Scene()
    at_2x(scene)
    version = scene.store.continuity.version()
    scene.store.continuity.replace_section("State", "- all is quiet", expected_version=version)
    assert scene.store.continuity.version() == version + 1
    assert "## State\n\n- all is quiet\n" in scene.store.continuity.text() and POOL in scene.store.continuity.text()
    with pytest.raises(Conflict):
        scene.store.continuity.replace_section("State", "- noise", expected_version=version)
    assert scene.store.verify()


@pytest.mark.parametrize("body", ["## Patterns\n- x: y | 9x", "**Patterns**\n- x: y | 9x", "## Other\n- x"])
def test_a_section_holds_no_other_section(body: str) -> None:
    scene = Scene()
    at_2x(scene)
    before, version = scene.store.continuity.text(), scene.store.continuity.version()
    with pytest.raises(InvalidInput):
        scene.store.continuity.replace_section("State", body, expected_version=version)
    assert scene.store.continuity.text() == before


def test_levels_and_pins_are_not_written_outside_a_wrap() -> None:
    scene = Scene()
    at_2x(scene)
    version = scene.store.continuity.version()
    for heading in ("Patterns", "Durable Facts"):
        with pytest.raises(InvalidInput):
            scene.store.continuity.replace_section(heading, "- x: y | 9x", expected_version=version)
    scene.store.continuity.replace_section("State", "- x: y | 9x", expected_version=version)
    assert "9x" not in scene.store.continuity.text()


def test_a_belief_whose_line_was_erased_does_not_return_with_a_revert() -> None:
    scene = Scene()
    at_2x(scene)
    wrap = last_wrap(scene)
    for link in scene.store.explain("pool").evidence:
        scene.store.erase(link.episode)
    scene.store.continuity.revert(wrap, reason="it was there")
    assert [one.residence for one in scene.store.beliefs.list()] == [Residence.REST]
    scene.say("Lunch was good", "s9")
    assert "erased" not in scene.save().continuity
