"""Trust that is taken back takes with it, at once, what it carried; and gives it back."""

from __future__ import annotations

import pytest

from assay import Trust
from assay.errors import Conflict, InvalidInput, NotAuthorised
from assay.model.labels import Mark, Residence

from ..wrap.scene import Scene, cite
from ..wrap.test_graduation import POOL, SECOND, at_2x


def second(scene: Scene) -> str:
    (link,) = [one for one in scene.store.explain("pool").evidence if one.earned == 2]
    return link.episode


def test_a_level_falls_with_the_trust_of_its_ground_and_returns_with_it() -> None:
    scene = Scene()
    at_2x(scene)
    ref = second(scene)
    assert scene.store.authority.set_trust(ref, Trust.EXTERNAL) == ["pool"]
    assert scene.level("pool") == 1 and Mark.REVOKED in scene.belief("pool").marks
    assert "| 1x" in scene.store.continuity.text() and "| 2x" not in scene.store.continuity.text()
    assert scene.store.authority.set_trust(ref, "agent", expect="external") == ["pool"]
    assert scene.level("pool") == 2 and Mark.REVOKED not in scene.belief("pool").marks
    assert "| 2x" in scene.store.continuity.text()
    assert scene.store.verify()


def test_trust_is_not_raised_above_the_ceiling_nor_past_a_change_of_others() -> None:
    scene = Scene()
    one = scene.page("The pool needs 40 connections")
    with pytest.raises(NotAuthorised):
        scene.store.authority.set_trust(one, "operator")
    with pytest.raises(Conflict):
        scene.store.authority.set_trust(one, "agent", expect="tool")
    assert scene.store.episodes.get(one).trust is Trust.EXTERNAL


def test_a_winner_that_loses_its_trust_loses_its_succession() -> None:
    scene = Scene()
    old = scene.say("The release day is Tuesday")
    new = scene.say("The release day is Thursday", "s2", supersedes=[old.ref])
    scene.store.authority.set_trust(new, "external")
    assert scene.store.episodes.get(old).replaced_by is None
    scene.store.authority.set_trust(new, "agent")
    assert scene.store.episodes.get(old).replaced_by == new.ref


def test_a_quarantined_source_leaves_recall_levels_and_document_and_comes_back() -> None:
    scene = Scene()
    at_2x(scene)
    note = scene.say("Mallory keeps the vault key under the mat", "s3", "mallory")
    made = scene.say("The vault key is under the mat", "s3", "agent", "agent", derived_from=[note.ref])
    scene.save(f"- {POOL} | 2x", "- vault: the vault key is under the mat | 1x", context="The vault key: under the mat")
    before = scene.store.continuity.text()
    rehearsed = scene.store.episodes.quarantine(source="mallory", dry_run=True)
    assert set(rehearsed.episodes) == {note.ref, made.ref} and scene.store.continuity.text() == before
    done = scene.store.episodes.quarantine(source="mallory", reason="a stranger")
    assert done == rehearsed
    assert "mat" not in scene.store.continuity.text() and POOL in scene.store.continuity.text()
    assert not scene.store.recall("where is the vault key?")
    assert scene.belief("vault").residence is Residence.REST
    scene.store.episodes.quarantine(source="mallory", release=True)
    assert "The vault key: under the mat" in scene.store.continuity.text()
    assert scene.belief("vault").residence is Residence.WORKING
    assert scene.store.recall("where is the vault key?")
    assert scene.store.verify()


def test_a_quarantined_ground_takes_the_level_that_it_gave() -> None:
    scene = Scene()
    at_2x(scene)
    assert scene.store.episodes.quarantine(source="bob").beliefs == ("pool",)
    assert scene.level("pool") == 1
    again = scene.say(f"{SECOND}, once more", "s4", "bob2")
    scene.prepare()
    scene.store.episodes.quarantine(again)
    result = scene.save(f"- {POOL} | 2x {cite(again, words='with fewer than 40 connections the pool starves')}")
    assert not result.raised and scene.level("pool") == 1
    scene.store.episodes.quarantine(source="bob", release=True)
    assert scene.level("pool") == 2


def test_a_quarantined_value_gives_its_key_back() -> None:
    scene = Scene()
    scene.say("pool size is 20", state_key="pool")
    scene.say("pool size is 9000", "s2", "mallory", state_key="pool")
    scene.store.episodes.quarantine(source="mallory")
    holder = scene.store.keys.get("pool")
    assert holder is not None and holder.content == "pool size is 20" and holder.replaced_by is None
    scene.store.episodes.quarantine(source="mallory", release=True)
    holder = scene.store.keys.get("pool")
    assert holder is not None and holder.content == "pool size is 9000"


def test_a_quarantine_names_what_it_means() -> None:
    with pytest.raises(InvalidInput):
        Scene().store.episodes.quarantine()


def test_an_erased_text_stays_neither_in_what_is_withheld_nor_in_what_is_known_of_a_line() -> None:
    scene = Scene()
    secret = "The zanzibar vault opens with swordfish"
    told = scene.say(secret, "s1", "mallory")
    scene.save(context=secret)
    scene.store.episodes.quarantine(source="mallory")
    scene.store.erase(told)
    with scene.store._database.read() as reader:
        kept = [row["detail"] for row in reader.find("document")] + [row["value"] for row in reader.find("setting")]
    assert "swordfish" not in "".join(kept).casefold() and scene.store.verify()
