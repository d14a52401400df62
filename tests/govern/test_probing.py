"""A probe of the operator says when what it watches drifts, and never stands in the way of a save."""

from __future__ import annotations

import pytest

from assay.errors import InvalidInput, NotFound
from assay.model.wrap import WrapResult, WrapStatus

from ..wrap.scene import Scene, rules
from ..wrap.test_graduation import POOL, at_2x
from .test_pinning import VAULT


def drift(result: WrapResult) -> list[object]:
    return [one.data["state"] for one in result.findings if one.rule == "probe"]


def states(scene: Scene) -> list[str]:
    return [one.state.value for one in scene.store.beliefs.probes()]


def after(scene: Scene, *patterns: str, **sections: str) -> WrapResult:
    """Save a document; the dry run before it must have found the same."""
    scene.say("Lunch was good", f"s-{scene.now}")
    rehearsed = scene.save(*patterns, mode="dry_run", **sections)  # type: ignore[arg-type]
    saved = scene.save(*patterns, **sections)  # type: ignore[arg-type]
    assert saved.status is WrapStatus.COMMITTED and rehearsed.findings == saved.findings
    return saved


def test_a_watched_belief_is_held_then_in_long_term_memory_then_retired() -> None:
    scene = Scene()
    at_2x(scene)
    probe = scene.store.beliefs.probe(belief="pool")
    assert drift(after(scene, f"- {POOL} | 2x")) == [] and states(scene) == ["held"]
    moved = after(scene, "[crystallize: pool]")
    assert drift(moved) == ["crystallized"] and states(scene) == ["crystallized"]
    assert [one.message for one in moved.findings if one.rule == "probe"] == [
        f"{probe} finds what it watches crystallized"
    ]
    assert drift(after(scene)) == ["crystallized"]
    assert drift(after(scene, "[rewarm: pool]")) == []
    assert drift(after(scene, '[retire: pool "we moved on"]')) == ["retired"] and states(scene) == ["retired"]
    assert drift(after(scene)) == ["retired"]


def test_the_operator_s_own_moves_are_seen_as_well() -> None:
    scene = Scene()
    at_2x(scene)
    scene.store.beliefs.probe(belief="pool")
    scene.store.beliefs.set_level("pool", 1, reason="doubtful")
    assert states(scene) == ["weakened"] and drift(after(scene, f"- {POOL} | 1x")) == ["weakened"]
    scene.store.beliefs.rest("pool")
    assert states(scene) == ["lost"]
    assert drift(after(scene, f"- {POOL} | 1x")) == ["weakened"]
    scene.store.beliefs.retire("pool", reason="done")
    assert states(scene) == ["retired"]
    scene.store.beliefs.sever("pool")
    assert states(scene) == ["lost"]


def test_a_watched_belief_is_followed_through_rename_and_merge() -> None:
    scene = Scene()
    at_2x(scene)
    scene.store.beliefs.probe(belief="pool", level=1)
    scene.say("Connections are counted per pool", "s5")
    both = (
        "- pool_need: the pool needs 40 connections under load | 2x",
        "- counted: connections are counted per pool | 1x",
    )
    assert drift(after(scene, *both, "[rename: pool to pool_need]")) == []
    merged = after(scene, both[1], "[merge: counted, pool_need into counted]")
    assert drift(merged) == []


STATEMENTS = [
    (f"- {VAULT}", "held"),
    ("- As of today the vault has the code 4711", "held"),
    ("- The vault code is 4712", "changed"),
    ("- The vault code is not 4711", "changed"),
    ("- The code is 4711", "lost"),
    ("", "lost"),
]


@pytest.mark.parametrize(("line", "state"), STATEMENTS)
def test_a_watched_statement_must_stand_in_one_line(line: str, state: str) -> None:
    scene = Scene()
    scene.store.beliefs.probe(VAULT)
    result = after(scene, context=f"{line}\n- Lunch was good")
    assert drift(result) == ([] if state == "held" else [state]) and states(scene) == [state]
    assert all(VAULT not in one.message for one in result.findings if one.rule == "probe")


def test_a_change_shows_both_sides_and_a_loss_the_missing_words() -> None:
    scene = Scene()
    scene.store.beliefs.probe(VAULT)
    scene.store.beliefs.probe("Der Tresor steht im Keller", section="Context")
    after(scene, context="- The vault code is 4712", state="- Der Tresor steht im Keller")
    changed, lost = scene.store.beliefs.probes()
    assert "4711" in changed.detail and "4712" in changed.detail
    assert lost.state.value == "lost" and "missing: " in lost.detail


def test_a_probe_is_removed_and_goes_with_an_erased_text() -> None:
    scene = Scene()
    said = scene.say("The vault code is 4711-zebra")
    first = scene.store.beliefs.probe("the vault code is 4711-zebra")
    scene.store.beliefs.probe("lunch was good")
    scene.store.erase(said)
    assert [one.probe.text for one in scene.store.beliefs.probes()] == ["lunch was good"]
    with pytest.raises(NotFound):
        scene.store.beliefs.unprobe(first)
    (left,) = scene.store.beliefs.probes()
    scene.store.beliefs.unprobe(left.probe.ref)
    assert scene.store.beliefs.probes() == [] and scene.store.verify()


@pytest.mark.parametrize(
    "wrong", [{}, {"text": "a vault", "belief": "pool"}, {"text": " "}, {"text": "!"}, {"text": "x" * 601}]
)
def test_what_cannot_be_watched_is_refused(wrong: dict[str, str]) -> None:
    scene = Scene()
    at_2x(scene)
    with pytest.raises(InvalidInput):
        scene.store.beliefs.probe(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="level"):
        scene.store.beliefs.probe(belief="pool", level=0)
    with pytest.raises(NotFound):
        scene.store.beliefs.probe(belief="pond")
    assert "probe" not in rules(after(scene, f"- {POOL} | 2x"))
