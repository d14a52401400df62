"""A pinned fact is a belief: it stays word for word, is recalled on its cues, and goes with what stated it."""

from __future__ import annotations

import pytest

from assay.errors import Conflict, InvalidInput
from assay.model.labels import BeliefKind, Residence
from assay.model.schema import Role, Schema, SectionSpec

from ..wrap.scene import Scene, rules

VAULT = "The vault code is 4711"
TEA = "Ada prefers tea in the afternoon"


def pinned(scene: Scene) -> dict[str, tuple[str, ...]]:
    return {one.text: one.cues for one in scene.store.beliefs.list() if one.residence is Residence.PINNED}


def test_what_the_operator_pins_stands_in_the_document_and_needs_no_episode() -> None:
    scene = Scene()
    fact = scene.store.beliefs.pin(VAULT, cues=("vault", "safe"))
    assert (fact.kind, fact.residence, fact.level) == (BeliefKind.FACT, Residence.PINNED, 1)
    scene.say("Lunch was good")
    first = scene.save()
    assert f"- {VAULT} — cues: vault, safe" in first.continuity and "durable-restored" not in rules(first)
    scene.store.beliefs.pin(VAULT, cues=("vault",))
    scene.store.beliefs.pin(TEA)
    text = scene.store.continuity.text()
    assert f"- {VAULT} — cues: vault\n- {TEA}\n" in text
    scene.say("Lunch was bad", "s2")
    assert f"- {VAULT} — cues: vault\n- {TEA}\n" in scene.save().continuity
    assert pinned(scene) == {VAULT: ("vault",), TEA: ()} and scene.store.verify()


def test_what_is_unpinned_is_gone_and_an_episode_can_bring_it_back() -> None:
    scene = Scene()
    scene.store.beliefs.pin(VAULT)
    scene.say("Lunch was good")
    scene.save()
    with pytest.raises(InvalidInput, match="say why"):
        scene.store.beliefs.unpin(VAULT, reason="")
    with pytest.raises(InvalidInput, match="unpin it"):
        scene.store.beliefs.retire(VAULT, reason="changed")
    scene.store.beliefs.unpin(VAULT, reason="the code was changed")
    assert VAULT not in scene.store.continuity.text() and pinned(scene) == {}
    with pytest.raises(InvalidInput, match="not pinned"):
        scene.store.beliefs.unpin(VAULT, reason="again")
    scene.say("Lunch was bad", "s2")
    refused = scene.save(durable=f"- {VAULT}")
    assert "durable-relayed" in rules(refused) and VAULT not in refused.continuity
    scene.say(VAULT, "s3")
    assert f"- {VAULT}" in scene.save(durable=f"- {VAULT}").continuity
    assert len(scene.store.beliefs.list()) == 1


def test_a_fact_that_a_wrap_states_is_held_on_the_episode_that_said_it() -> None:
    scene = Scene()
    said = scene.say(TEA)
    scene.save(durable=f"- {TEA} — cues: tea")
    assert pinned(scene) == {TEA: ("tea",)}
    assert [link.episode for link in scene.store.explain(scene.belief(TEA).ref).evidence] == [said.ref]
    scene.say("Lunch was good", "s2")
    scene.save(durable=f"- {TEA} — cues: tea, afternoon")
    assert pinned(scene) == {TEA: ("tea", "afternoon")}
    scene.say("Lunch was bad", "s3")
    scene.save(durable=f"[drop-durable: {TEA}]")
    assert pinned(scene) == {} and scene.belief(TEA).residence is Residence.REST


def test_a_fact_goes_when_the_episode_that_stated_it_is_erased_in_whatever_words_it_stands() -> None:
    scene = Scene()
    for text in ("Bob prefers coffee in the morning", "tea is served in the afternoon", "Ada is here"):
        scene.say(text, "s0")
    scene.save()
    said = scene.say(TEA, "s2")
    scene.save(
        "- ada_tea: tea is what Ada prefers in the afternoon | 1x",
        durable="- In the afternoon Ada prefers tea — cues: tea",
        context="- tea in the afternoon is what Ada prefers",
    )
    scene.say("Lunch was good", "s3")
    scene.save(context="- tea in the afternoon is what Ada prefers")
    scene.store.erase(said)
    for version in scene.store.continuity.versions():
        assert "prefers" not in scene.store.continuity.text(version.number)
    scene.say("Dinner was good", "s4")
    assert "tea" not in scene.save().continuity and pinned(scene) == {}
    assert scene.store.verify()


def test_a_quarantine_takes_a_fact_and_its_release_gives_it_back_once() -> None:
    scene = Scene()
    scene.store.beliefs.pin(VAULT)
    scene.say(TEA, source="mallory")
    scene.say("The printer is on floor 7", source="eve")
    scene.save(durable=f"- {TEA}\n- The printer is on floor 7")
    wrap = scene.store.continuity.versions()[0].wrap
    assert wrap is not None
    scene.store.episodes.quarantine(source="mallory")
    scene.store.episodes.quarantine(source="eve")
    assert pinned(scene) == {VAULT: ()} and "tea" not in scene.store.continuity.text()
    scene.store.continuity.revert(wrap, reason="does it come back?")
    assert "tea" not in scene.store.continuity.text() and VAULT in scene.store.continuity.text()
    scene.store.episodes.quarantine(source="mallory", release=True)
    assert TEA in pinned(scene)
    scene.store.episodes.quarantine(source="eve", release=True)
    text = scene.store.continuity.text()
    assert text.count(TEA) == 1 and text.count("printer") == 1 and text.count(VAULT) == 1
    assert len(pinned(scene)) == 3 and scene.store.verify()


def test_a_fact_that_only_untrusted_text_states_any_more_is_not_pinned_until_trust_returns() -> None:
    scene = Scene()
    said = scene.say(TEA)
    scene.save(durable=f"- {TEA}")
    for level in ("external", "tool"):
        assert scene.store.authority.set_trust(said, level) == ([TEA] if level == "external" else [])
        assert pinned(scene) == {} and TEA not in scene.store.continuity.text()
    scene.store.authority.set_trust(said, "agent")
    assert pinned(scene) == {TEA: ()} and f"- {TEA}" in scene.store.continuity.text()
    scene.store.beliefs.unpin(TEA, reason="she moved to coffee")
    scene.store.authority.set_trust(said, "tool")
    scene.store.authority.set_trust(said, "agent")
    assert pinned(scene) == {} and scene.store.verify()


def test_a_revert_restores_what_was_pinned() -> None:
    scene = Scene()
    scene.say(TEA)
    scene.save(durable=f"- {TEA} — cues: tea")
    version = scene.store.continuity.versions()[0]
    assert version.wrap is not None
    scene.store.beliefs.unpin(TEA, reason="she drinks coffee")
    scene.store.beliefs.pin(VAULT)
    scene.store.continuity.revert(version.wrap, reason="it was right")
    assert pinned(scene) == {TEA: ("tea",)}
    assert scene.store.continuity.text() == scene.store.continuity.text(version.number)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "two\nlines",
        "a level | 3x",
        "tail — cues: x",
        "x" * 601,
        "[drop-durable: x]",
        "  spaces  around",
    ],
)
def test_a_text_that_would_not_come_back_as_it_is_is_not_pinned(text: str) -> None:
    with pytest.raises(InvalidInput, match="text"):
        Scene().store.beliefs.pin(text)


@pytest.mark.parametrize("cues", [("a,b",), ("",), tuple("abcdefghi"), ("a", "a"), ("x\n## State",)])
def test_cues_that_would_not_come_back_as_they_are_are_refused(cues: tuple[str, ...]) -> None:
    scene = Scene()
    if cues == ("x\n## State",):
        assert scene.store.beliefs.pin(VAULT, cues=cues).cues == ("x ## State",)
        return
    with pytest.raises(InvalidInput, match="cues"):
        scene.store.beliefs.pin(VAULT, cues=cues)


def test_nothing_is_pinned_while_a_wrap_is_open() -> None:
    scene = Scene()
    scene.say("Lunch was good")
    scene.prepare()
    with pytest.raises(Conflict):
        scene.store.beliefs.pin(VAULT)


def test_without_a_section_for_facts_a_pinned_one_is_held_and_recalled() -> None:
    schema = Schema("small", (SectionSpec("State", Role.LIVE_STATE), SectionSpec("Patterns", Role.GRADUATING)))
    scene = Scene(schema=schema)
    scene.store.beliefs.pin(VAULT)
    scene.say("Lunch was good")
    package = scene.prepare()
    scene.store.save_continuity("## State\n\n## Patterns\n", package.token)
    assert pinned(scene) == {VAULT: ()}
    assert [hit.text for hit in scene.store.recall("the vault code").patterns] == [VAULT]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("safe", True),  # a cue
        ("the vault code", True),  # two words of the text
        ("vault", False),  # one word of the text
        ("which safe do painters carry into mountains", False),  # one word of a long question
        ("is the code of the safe known", True),
        ("lunch", False),
    ],
)
def test_a_fact_is_recalled_on_a_cue_or_on_two_of_its_words(question: str, found: bool) -> None:
    scene = Scene()
    scene.store.beliefs.pin(VAULT, cues=("safe",))
    assert [hit.text for hit in scene.store.recall(question).patterns] == ([VAULT] if found else [])
    briefing = scene.store.briefing(question, tokens=300).text
    assert (f'pinned "{VAULT}"' in briefing) is found


def test_a_briefing_shows_a_fact_once() -> None:
    scene = Scene()
    scene.store.beliefs.pin(VAULT, cues=("safe",))
    scene.say("Lunch was good")
    scene.save()
    assert scene.store.briefing("open the safe", tokens=400).text.count(VAULT) == 1


def test_a_word_that_most_episodes_have_recalls_no_fact() -> None:
    scene = Scene()
    scene.store.beliefs.pin("The release manager is Ada", cues=("release",))
    assert scene.store.recall("release").patterns
    scene.store.episodes.record_many([{"content": f"release {number} went out"} for number in range(600)])
    assert not scene.store.recall("release").patterns


def test_at_most_two_facts_are_recalled() -> None:
    scene = Scene()
    for number in (3, 1, 2):
        scene.store.beliefs.pin(f"The code of safe {number} is {number * 1111}", cues=("safe",))
    assert len(scene.store.recall("safe").patterns) == 2
