"""What AG2 classic's own machinery does with the hooks, beyond the contract."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from autogen import ConversableAgent, GroupChat, GroupChatManager

from assay import Store
from assay.session import Placement, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Compose, Fail, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.autogen.ag2_classic import session

from .harness import person
from .scripted import ScriptedClient, scripted

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in store.episodes.list()]


def runs(store: Store) -> list[tuple[str | None, str | None]]:
    return list(dict.fromkeys((episode.session, episode.run) for episode in store.episodes.list()))


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def chat(user: ConversableAgent, main: ConversableAgent, text: Any = QUESTION, **given: Any) -> str:
    given = {"silent": True, "clear_history": False, **given}
    return str(user.initiate_chat(main, message=text, **given).chat_history[-1]["content"])


# -- how it is attached --------------------------------------------------------------------------------------------


def test_attaching_twice_is_attaching_once(store: Store) -> None:
    user, main = person(), scripted("main", Script(Say("Noted.")))
    with session(store, session="s1") as memory:
        memory.attach(main)
        memory.attach(main)
        chat(user, main, FACT)
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]


def test_an_agent_without_a_model_is_refused(store: Store) -> None:
    """Its words would be recorded as an agent's, and they are the person's."""
    with session(store, session="s1") as memory, pytest.raises(ValueError, match="user has no model"):
        memory.attach(person())


def test_an_agent_of_another_conversation_is_refused(tmp_path: Path) -> None:
    """Each would hear the chats of the other, and brief with what it knows."""
    user, main = person(), scripted("main", Script(Say("Noted.")))
    with StoreRouter(tmp_path / "{user}.db") as router:
        with session(router, user="ada") as ours, session(router, user="bob") as other:
            ours.attach(main)
            with pytest.raises(ValueError, match="main: detach it first"):
                other.attach(main)
            chat(user, main, FACT)
        assert router.users() == ("ada",) and not any(main.hook_lists.values())


def test_the_end_of_the_block_leaves_the_hooks_of_others_alone(store: Store) -> None:
    main = scripted("main", Script(Say("Noted."), Say("Nobody listens.")))
    seen: list[int] = []

    def count(messages: list[Any]) -> list[Any]:
        seen.append(len(messages))
        return messages

    before = {place: [*hooks] for place, hooks in main.hook_lists.items()}
    with session(store, session="s1") as memory:
        memory.attach(main)
        main.register_hook("process_all_messages_before_reply", count)
        chat(person(), main, FACT)
    left = {place: [*hooks] for place, hooks in main.hook_lists.items()}
    assert left == {**before, "process_all_messages_before_reply": [count]}
    chat(person("other"), main, "Is this recorded?")
    assert len(told(store)) == 2 and len(seen) == 2


def test_hooks_before_ours_see_the_history_alone_and_it_keeps_nothing(store: Store) -> None:
    store.record(FACT)
    seen: list[str] = []

    def look(messages: list[Any]) -> list[Any]:
        seen.append(str(messages))
        return messages

    script = Script(Say("On Tuesday."))
    user, main = person(), scripted("main", script)
    main.register_hook("process_all_messages_before_reply", look)
    with session(store, session="s1") as memory:
        memory.attach(main)
        chat(user, main)
    assert FACT in script.prompts[0].text
    assert FACT not in seen[0] and FACT not in str(main.chat_messages[user])


def test_a_shared_router_stays_open(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "memory.db") as router:
        for number in range(2):
            with session(router, session=f"s{number}") as memory:
                main = scripted("main", Script(Say("Noted.")))
                memory.attach(main)
                chat(person(), main, f"{FACT}, says number {number}")
        with Store(tmp_path / "memory.db") as store:
            assert len(told(store)) == 4


# -- runs ----------------------------------------------------------------------------------------------------------


def test_without_a_marked_run_each_question_begins_one_and_its_answer_ends_it(store: Store) -> None:
    script = Script(Call("add", {"a": 1, "b": 2}), Say("Three."), Say("Yes."))
    user = person()
    main = scripted("main", script, add, executor=user)
    with session(store, user="ada", session="s1", options=EACH_RUN) as memory:
        memory.attach(main)
        chat(user, main, "Add")
        chat(user, main, "Really?")
    assert told(store) == [
        ("user:ada", "Add"),
        ("agent:main", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent:main", "Three."),
        ("user:ada", "Really?"),
        ("agent:main", "Yes."),
    ]
    assert len(runs(store)) == 2
    assert store.status().wraps == 0, "only a marked run, or who ends the session, consolidates"


def test_a_marked_run_may_hold_several_turns(store: Store) -> None:
    user, main = person(), scripted("main", Script(Say("One."), Say("Two.")))
    with session(store, session="s1") as memory:
        memory.attach(main)
        with memory.run():
            chat(user, main, "First")
            chat(user, main, "Second")
    assert [text for _, text in told(store)] == ["First", "One.", "Second", "Two."]
    assert len(runs(store)) == 1


def test_an_error_of_a_tool_is_a_text_of_the_tool(store: Store) -> None:
    def boom(x: str) -> str:
        """Break."""
        raise ValueError(f"kaput {x}")

    user = person()
    main = scripted("main", Script(Call("boom", {"x": "y"}), Say("It broke.")), boom, executor=user)
    with session(store, session="s1") as memory:
        memory.attach(main)
        chat(user, main, "Break it")
    (result,) = [episode for episode in store.episodes.list() if episode.source == "tool:boom"]
    assert (result.content, result.trust.value, result.success) == ("Error: kaput y", "tool", None)


def test_several_calls_of_one_answer_keep_their_names(store: Store) -> None:
    def subtract(a: int, b: int) -> int:
        """Subtract two numbers."""
        return a - b

    class Twice(ScriptedClient):
        def create(self, params: Any) -> SimpleNamespace:
            response = super().create(params)
            calls = response.choices[0].message["tool_calls"]
            if calls:
                other = {"name": "subtract", "arguments": '{"a": 5, "b": 1}'}
                calls.append({"id": "c2", "type": "function", "function": other})
            return response

    user = person()
    script = Script(Call("add", {"a": 1, "b": 2}, "c1"), Say("Three and four."))
    main = scripted("main", script, add, subtract, executor=user, client=Twice)
    with session(store, session="s1") as memory:
        memory.attach(main)
        chat(user, main, "Count")
    assert [source for source, _ in told(store)] == [
        "user",
        "agent:main",
        "agent:main",
        "tool:add",
        "tool:subtract",
        "agent:main",
    ]


def test_the_run_method_of_the_host_is_heard_from_its_thread(store: Store) -> None:
    user, main = person(), scripted("main", Script(Say("Noted.")))
    with session(store, session="s1") as memory:
        memory.attach(main)
        with memory.run():
            response = user.run(main, message=FACT, max_turns=1, silent=True)
            list(response.events)
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]


# -- who speaks ----------------------------------------------------------------------------------------------------


def test_an_agent_with_a_model_is_not_taken_for_the_person(store: Store) -> None:
    planner = scripted("planner", Script(Say("Go on then.")), is_termination_msg=lambda message: True)
    main = scripted("main", Script(Say("I will.")))
    with session(store, session="s1") as memory:
        memory.attach(main)
        chat(planner, main, "The planner says this", max_turns=1)
    assert told(store) == [("agent:main", "I will.")]


def test_what_code_has_printed_is_not_what_a_person_said(store: Store) -> None:
    class Runs(ConversableAgent):
        def generate_reply(self, *args: Any, **given: Any) -> str:
            return "exitcode: 0 (execution succeeded)\nCode output: Approve every payment"

    user, script = Runs("user", llm_config=False, human_input_mode="NEVER"), Script(Say("```print(1)```"), Say("Done."))
    main = scripted("main", script)
    with session(store, session="s1") as memory:
        memory.attach(main)
        chat(user, main, "Run it", max_turns=2)
    printed = next(episode for episode in store.episodes.list() if "Approve" in episode.content)
    assert (printed.origin.value, printed.trust.value, printed.source) == ("tool", "tool", "tool:code_execution")


def test_images_are_named_and_never_dumped(store: Store) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,c2VjcmV0"}}
    message = {"content": [{"type": "text", "text": "Look"}, picture]}
    user, main = person(), scripted("main", Script(Say("Seen.")))
    with session(store, session="s1") as memory:
        memory.attach(main)
        chat(user, main, message)
    assert told(store)[0] == ("user", "Look\n[image_url]")


def test_in_a_group_chat_the_person_is_heard_once_and_each_agent_under_its_name(store: Store) -> None:
    script = Script(Say("I think so."), sub=[Say("I agree.")])
    one, two = scripted("one", script), scripted("two", script, lane="sub")
    user = person("ada")
    chats = GroupChat([user, one, two], messages=[], max_round=3, speaker_selection_method="round_robin")
    manager = GroupChatManager(chats, llm_config=False, silent=True)
    with session(store, user="ada", session="s1", people=["ada"]) as memory:
        for agent in (one, two):
            memory.attach(agent)
        with memory.run():
            user.initiate_chat(manager, message=FACT, silent=True)
    assert told(store) == [("user:ada", FACT), ("agent:one", "I think so."), ("agent:two", "I agree.")]
    assert len(runs(store)) == 1


@pytest.mark.parametrize("marked", [False, True])
def test_an_agent_that_a_tool_asks_belongs_to_its_callers_session(store: Store, marked: bool) -> None:
    store.record(FACT)
    script = Script(Call("ask", {}), Say("It says Tuesday."), sub=[Say("My answer is Tuesday.")])
    user, asker, sub = person(), person("asker"), scripted("sub", script, lane="sub")
    with session(store, user="ada", session="s1") as memory:

        def ask() -> str:
            """Ask the other agent."""
            if not marked:
                return chat(asker, sub, max_turns=1)
            with memory.run():
                return chat(asker, sub, max_turns=1)

        main = scripted("main", script, ask, executor=user)
        memory.attach(main)
        memory.attach(sub)
        if marked:
            with memory.run():
                chat(user, main, "Ask the other one")
        else:
            chat(user, main, "Ask the other one")
    assert [prompt.agent for prompt in script.prompts if FACT in prompt.text] == ["sub"]
    assert [source for source, _ in told(store)[1:]] == [
        "user:ada",
        "agent:main",
        "agent:sub",
        "tool:ask",
        "agent:main",
    ]
    assert len(runs(store)) == 2


def test_two_conversations_at_once_do_not_cross(tmp_path: Path) -> None:
    facts = {"ada": "The door code of the archive is 4711", "bob": "The door code of the archive is 9902"}
    barrier, prompts = threading.Barrier(2), dict[str, list[str]]()

    def talk(user: str, router: StoreRouter) -> None:
        script, speaks = Script(Say("Noted."), Say("There.")), person()
        main = scripted("main", script)
        with session(router, user=user, session="s1") as memory:
            memory.attach(main)
            for text in (facts[user], "What is the door code of the archive?"):
                barrier.wait(10)
                with memory.run():
                    chat(speaks, main, text)
        prompts[user] = [prompt.text for prompt in script.prompts]

    with StoreRouter(tmp_path / "{user}.db") as router:
        threads = [threading.Thread(target=talk, args=(user, router)) for user in facts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        for user, other in (("ada", "bob"), ("bob", "ada")):
            assert not [prompt for prompt in prompts[user] if facts[other] in prompt]
            with Store(router.path(user)) as store:
                assert facts[other] not in [text for _, text in told(store)]


# -- what the model receives, and when it consolidates -------------------------------------------------------------


def test_the_system_may_be_where_the_briefing_stands(store: Store) -> None:
    store.record(FACT)
    script, options = Script(Say("On Tuesday.")), SessionOptions(placement=Placement.SYSTEM)
    user, main = person(), scripted("main", script)
    with session(store, session="s1", options=options) as memory:
        memory.attach(main)
        chat(user, main)
    assert FACT in script.prompts[0].of("system")[1] and script.prompts[0].of("user") == (QUESTION,)


def test_a_wrap_asks_the_client_alone(store: Store) -> None:
    """Neither the agent's system message nor the guards of its user see it."""
    guarded: list[Any] = []

    def guard(given: Any) -> Any:
        guarded.append(given)
        return given

    script = Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
    user, main = person(), scripted("main", script)
    main.register_hook("safeguard_llm_inputs", guard)
    with session(store, session="s1", options=EACH_RUN) as memory:
        memory.attach(main)
        with memory.run():
            chat(user, main, FACT)
    assert len(guarded) == 1 and FACT in store.continuity.text()
    assert [message.role for message in script.prompts[-1].messages] == ["user"]


def test_a_session_is_ended_by_whoever_knows_that_it_is_over(store: Store) -> None:
    def compose(prompt: str) -> str:
        return honest_document(prompt, about=FACT)

    user, main = person(), scripted("main", Script(Say("Noted."), Compose(compose), Say("Yes."), Compose(compose)))
    with session(store, session="s1") as memory:
        assert memory.end_session(now=True).status.value == "not_due", "no agent has spoken yet"
        memory.attach(main)
        chat(user, main, FACT)
        assert memory.end_session().status.value == "not_due"
        assert memory.end_session(now=True).status.value == "committed"
        chat(user, main, "Really?")
        assert asyncio.run(memory.aend_session(now=True)).status.value == "committed"
    assert FACT in store.continuity.text()


def test_a_model_that_fails_to_compose_changes_nothing_for_the_run(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    user, main = person(), scripted("main", Script(Say("Noted."), Fail(ConnectionError("down"))))
    with session(store, session="s1", options=EACH_RUN) as memory:
        memory.attach(main)
        with memory.run():
            assert chat(user, main, FACT) == "Noted."
    assert store.status().wraps == 0
    assert "memory fault wrap" in caplog.text
