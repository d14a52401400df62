"""Memory does not feed on itself, and does not mistake a person for an echo."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Store

FACT = "Deploys of the billing service go out on Tuesday evenings at six"
OTHER = "The billing service is owned by the payments team in Lisbon"


@pytest.fixture
def shown(desk: Any) -> Any:
    """Give a session that was shown both facts, and the block."""
    desk.session("told").user_message(FACT)
    desk.session("told").user_message(OTHER)
    session = desk.session("asks")
    session.run_started()
    session.user_message("Who owns the billing service, and when do its deploys go out?")
    block = session.briefing().text
    assert FACT in block and OTHER in block
    before = len(desk.lines())
    return session, block, lambda: desk.lines()[before:]


def ref_of(block: str, text: str) -> str:
    return next(line for line in block.split("\n") if text in line).split()[1]


def test_the_block_is_dropped_from_every_mouth(shown: Any, desk: Any) -> None:
    session, block, added = shown
    session.user_message(block)
    session.agent_message(block)
    session.tool_result("cat", block, call_id=None)
    assert added() == []
    with Store(desk.path) as store:
        assert store.status().loop_dropped == 3


def test_what_is_said_beside_the_block_is_kept_and_derived_from_it(shown: Any) -> None:
    session, block, added = shown
    session.user_message(f"Look at this:\n{block}\nIs that still so for the new region?")
    (line,) = added()
    assert line.text == "Look at this:\n\nIs that still so for the new region?"
    assert set(line.derived) == {1, 2}


@pytest.mark.parametrize("say", [str, str.upper, lambda text: f"- **{text}**!", lambda text: f"> {text}"])
def test_an_agent_or_a_tool_that_repeats_a_line_adds_nothing(shown: Any, say: Any) -> None:
    session, _, added = shown
    session.agent_message(say(FACT))
    session.tool_result("notes", say(OTHER), call_id=None)
    assert added() == []


def test_an_agents_new_sentence_beside_a_repeated_one_is_kept(shown: Any) -> None:
    session, _, added = shown
    session.agent_message(f"{FACT}. I will ask the team to move tonight's deploy.")
    (line,) = added()
    assert line.text == "I will ask the team to move tonight's deploy."
    assert line.derived == (1,)


def test_a_conclusion_that_cites_a_ref_is_kept_and_derived(shown: Any) -> None:
    session, block, added = shown
    ref = ref_of(block, FACT)
    session.agent_message(f"Because of {ref} I moved the database migration to Wednesday morning.")
    (line,) = added()
    assert ref in line.text and line.derived == (1,)


def test_a_quotation_at_the_end_of_a_conclusion_does_not_take_it_along(shown: Any) -> None:
    session, block, added = shown
    session.agent_message(f'I moved the database migration to Wednesday because of {ref_of(block, FACT)} "{FACT}"')
    assert len(added()) == 1


def test_a_persons_correction_of_a_ref_is_kept(shown: Any) -> None:
    session, block, added = shown
    session.user_message(f"{ref_of(block, FACT)}: deploys of the billing service go out on Wednesday evenings at six")
    assert len(added()) == 1


def test_a_line_with_its_ref_adds_nothing_even_when_a_word_differs(shown: Any) -> None:
    session, block, added = shown
    line = next(line for line in block.split("\n") if FACT in line)
    session.user_message(line)
    session.agent_message(line.replace("go out", "are sent out"))
    assert added() == []


def test_a_person_who_repeats_one_line_is_heard_and_a_paste_of_two_is_not(shown: Any) -> None:
    session, _, added = shown
    session.user_message(FACT)
    assert [line.text for line in added()] == [FACT]
    session.user_message(f"{FACT}\n{OTHER}")
    assert len(added()) == 1


def test_short_answers_are_no_loops(desk: Any) -> None:
    session = desk.session("told")
    for text in ("Yes.", "Done, all good", "3"):
        session.agent_message(text)
    later = desk.session("asks")
    later.run_started()
    later.briefing("Done, all good? Yes. 3")
    for text in ("Yes.", "Done, all good", "3"):
        later.agent_message(text)
    assert len(desk.lines()) == 6


def test_another_process_knows_what_was_shown(shown: Any, desk: Any) -> None:
    _, block, added = shown
    other = desk.elsewhere()
    session = other.session("elsewhere")
    session.agent_message(FACT)
    session.tool_result("cat", "\n".join(block.split("\n")[1:-1]), call_id=None)
    other.router.close()
    assert added() == []


def test_a_text_that_was_never_shown_is_no_loop(desk: Any) -> None:
    desk.session("told").user_message(FACT)
    desk.session("asks").agent_message(FACT)
    assert len(desk.lines()) == 2


def test_a_foreign_or_broken_fence_hides_nothing(shown: Any) -> None:
    session, _, added = shown
    session.tool_result("a", "<memory-x>hidden text of a page</memory-x>", call_id=None)
    session.tool_result("b", "<memory-aaaaaaaaaaaaa an opening that never ends, then a text", call_id=None)
    assert len(added()) == 2


def test_a_flood_of_refs_costs_no_flood_of_queries(shown: Any) -> None:
    import time

    session, _, added = shown
    text = "\n".join(f"ep_{number:08} says something of its own here" for number in range(20_000, 22_000))
    began = time.perf_counter()
    session.user_message(text)
    assert time.perf_counter() - began < 5
    assert added()
