"""The operator lowers, rests, retires and ends beliefs; what contradicts stays in sight until somebody decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Store
from assay.errors import Conflict, InvalidInput, NotFound
from assay.model.labels import Residence

from ..wrap.scene import Scene, cite
from ..wrap.test_graduation import FIRST, POOL, SECOND, at_2x
from .test_reverting import last_wrap


def test_the_operator_only_lowers_and_the_document_follows() -> None:
    scene = Scene()
    at_2x(scene)
    beliefs = scene.store.beliefs
    for level in (2, 3, 0, -1, True):
        with pytest.raises(InvalidInput, match="only evidence raises one"):
            beliefs.set_level("pool", level, reason="as I please")
    with pytest.raises(InvalidInput, match="say why"):
        beliefs.set_level("pool", 1, reason=" ")
    assert "| 2x" in scene.store.continuity.text()
    assert beliefs.set_level("pool", 1, reason="the load test was wrong").level == 1
    assert "pool" in scene.store.continuity.text() and "| 2x" not in scene.store.continuity.text()
    (said,) = [entry["data"] for entry in scene.store.audit.entries() if entry["op"] == "belief"]
    ref = beliefs.get("pool").ref
    assert said == {"verb": "level", "belief": ref, "level": 1, "reason": "the load test was wrong"}
    assert scene.store.verify()


def test_a_level_that_the_operator_took_does_not_come_back_with_trust() -> None:
    scene = Scene()
    at_2x(scene)
    (two,) = [one.episode for one in scene.store.explain("pool").evidence if one.earned == 2]
    scene.store.authority.set_trust(two, "external")
    assert scene.level("pool") == 1
    scene.store.authority.set_trust(two, "agent")
    assert scene.level("pool") == 2
    scene.store.beliefs.set_level("pool", 1, reason="not convinced")
    scene.store.authority.set_trust(two, "tool")
    assert scene.level("pool") == 1


@pytest.mark.parametrize("verb", ["rest", "retire"])
def test_what_rests_leaves_document_and_recall_and_returns_at_its_level(verb: str) -> None:
    scene = Scene()
    at_2x(scene)
    assert scene.store.recall("pool connections").patterns
    getattr(scene.store.beliefs, verb)("pool", reason="we moved to another database")
    assert scene.belief("pool").residence is Residence.REST
    assert POOL not in scene.store.continuity.text() and not scene.store.recall("pool connections").patterns
    scene.say("Lunch was good", "s3")
    scene.save()
    assert POOL not in scene.store.continuity.text()
    scene.say("Lunch was bad", "s4")
    scene.save(f"- {POOL} | 5x")
    assert (scene.level("pool"), scene.belief("pool").residence) == (2, Residence.WORKING)


def test_a_retired_belief_needs_a_reason() -> None:
    scene = Scene()
    at_2x(scene)
    with pytest.raises(InvalidInput, match="say why"):
        scene.store.beliefs.retire("pool", reason="")
    with pytest.raises(NotFound):
        scene.store.beliefs.retire("pond", reason="dried out")


def test_a_severed_belief_is_gone_for_good() -> None:
    scene = Scene()
    at_2x(scene)
    wrap, ref = last_wrap(scene), scene.belief("pool").ref
    scene.store.beliefs.sever("pool", reason="it was planted")
    scene.store.continuity.revert(wrap, reason="let me see")
    assert POOL not in scene.store.continuity.text() and scene.store.beliefs.list() == []
    again = scene.say(SECOND, "s5", "carol")
    scene.save(f"- {POOL} | 3x {cite(again, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 1 and scene.belief("pool").ref != ref
    changes = scene.store.history.changes(ref)
    assert changes[-1]["data"] == {"verb": "sever", "belief": ref, "reason": "it was planted"}
    assert scene.store.verify()


def test_the_operator_waits_for_an_open_wrap() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    scene.prepare()
    with pytest.raises(Conflict, match="has a wrap open"):
        scene.store.beliefs.retire("pool", reason="now")
    assert scene.belief("pool").residence is Residence.WORKING


def against(scene: Scene) -> None:
    """Leave two lines of which one says that it contradicts the other, in words that no comparison would notice."""
    at_2x(scene)
    scene.say("A single connection is plenty since the rewrite of Tuesday", "s3", "dan")
    scene.save(f"- {POOL} | 2x", "- lone: a single connection is plenty since the rewrite | 1x [contradicts: pool]")


def sides(scene: Scene) -> list[tuple[str, str, bool]]:
    return [(one.one.name, one.other.name, one.stated) for one in scene.store.beliefs.conflicts()]


def test_a_stated_contradiction_is_shown_with_both_sides_until_one_is_retired() -> None:
    scene = Scene()
    against(scene)
    assert sides(scene) == [("lone", "pool", True)]
    for day in ("good", "bad"):
        scene.say(f"Lunch was {day}", f"s-{day}")
        prompt = scene.prepare().prompt
        assert "a single connection is plenty" in prompt and "is said to contradict the pool needs" in prompt
        scene.save(f"- {POOL} | 2x", "- lone: a single connection is plenty since the rewrite | 1x")
    scene.store.beliefs.retire("lone", reason="the rewrite was rolled back")
    assert sides(scene) == []
    scene.say("Lunch was cold", "s9")
    assert "said to contradict" not in scene.prepare().prompt


def test_a_dismissed_contradiction_is_not_opened_again() -> None:
    scene = Scene()
    against(scene)
    with pytest.raises(InvalidInput, match="another belief"):
        scene.store.beliefs.dismiss("pool", "pool", reason="one")
    with pytest.raises(InvalidInput, match="say why"):
        scene.store.beliefs.dismiss("pool", "lone", reason="")
    scene.store.beliefs.dismiss("pool", "lone", reason="two services")
    assert sides(scene) == []
    scene.say("Lunch was good", "s4")
    line = "- lone: a single connection is plenty since the rewrite | 1x [contradicts: pool]"
    scene.save(f"- {POOL} | 2x", line)
    assert sides(scene) == []


def test_what_comparison_found_can_be_dismissed_as_well() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Dan says the pool needs 80 connections under load", "s3", "dan")
    scene.save(f"- {POOL} | 2x", "- pool_size: the pool needs 80 connections under load | 1x")
    assert [one[2] for one in sides(scene)] == [False]
    scene.store.beliefs.dismiss("pool", "pool_size", reason="two pools")
    assert sides(scene) == []


def test_a_revert_brings_contradictions_back_as_they_were() -> None:
    scene = Scene()
    at_2x(scene)
    before = last_wrap(scene)
    scene.say("A single connection is plenty since the rewrite of Tuesday", "s3", "dan")
    scene.save(f"- {POOL} | 2x", "- lone: a single connection is plenty since the rewrite | 1x [contradicts: pool]")
    after = last_wrap(scene)
    scene.store.beliefs.dismiss("pool", "lone", reason="two services")
    scene.store.continuity.revert(after, reason="look again")
    assert sides(scene) == [("lone", "pool", True)]
    scene.store.continuity.revert(before, reason="look before")
    assert sides(scene) == []
    scene.store.continuity.revert(after, reason="look again")
    assert sides(scene) == [("lone", "pool", True)]
    assert scene.store.verify()


def test_crystals_are_listed() -> None:
    scene = Scene()
    at_2x(scene)
    assert scene.store.beliefs.crystals() == []
    scene.say("Lunch was good", "s3")
    scene.save("[crystallize: pool]")
    assert [one.name for one in scene.store.beliefs.crystals()] == ["pool"]
    scene.store.beliefs.set_level("pool", 1, reason="stale")
    assert scene.level("pool") == 1 and FIRST not in scene.store.continuity.text()


def test_an_export_takes_contradictions_and_pinned_facts_with_it(tmp_path: Path) -> None:
    scene = Scene()
    against(scene)
    scene.store.beliefs.pin("The vault code is 4711", cues=("safe",))
    scene.store.beliefs.dismiss("pool", "lone", reason="two services")
    scene.store.transfer.export_jsonl(tmp_path / "all.jsonl")
    with Store(tmp_path / "copy.db") as copy:
        copy.transfer.import_jsonl(tmp_path / "all.jsonl")
        assert copy.beliefs.list() == scene.store.beliefs.list() and copy.beliefs.conflicts() == []
        assert copy.recall("safe").patterns[0].text == "The vault code is 4711"
        assert copy.verify()
