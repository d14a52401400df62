"""What AutoGen's own machinery does with contexts and watched runs, beyond the contract."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent, UserProxyAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.messages import MultiModalMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_agentchat.tools import AgentTool
from autogen_agentchat.ui import Console
from autogen_core import FunctionCall, Image
from autogen_core.model_context import BufferedChatCompletionContext, ChatCompletionContext
from autogen_core.models import CreateResult, RequestUsage

from assay import Store
from assay.session import Placement, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Compose, Fail, HandOff, Say, Script, ScriptedComposer
from assay.testing.composer import honest_document
from assay_integrations.autogen.agentchat import AssayChatCompletionContext, session

from .scripted import ScriptedClient

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


def agent(
    script: Script | ScriptedClient, context: ChatCompletionContext | None, *, name: str = "main", **given: Any
) -> AssistantAgent:
    client = script if isinstance(script, ScriptedClient) else ScriptedClient(script)
    given = {"tools": [add], "max_tool_iterations": 9, "system_message": "You are careful.", **given}
    return AssistantAgent(name, client, model_context=context, **given)


# -- a context alone -----------------------------------------------------------------------------------------------


def test_a_context_alone_records_briefs_and_consolidates(store: Store) -> None:
    router = StoreRouter(store)
    script = Script(Call("add", {"a": 1, "b": 2}), Say("Noted."), Compose(lambda p: honest_document(p, about=FACT)))
    client = ScriptedClient(script)
    context = AssayChatCompletionContext(router, user="ada", session="s1", client=client, options=EACH_RUN)
    asyncio.run(agent(client, context).run(task=FACT))
    assert told(store) == [
        ("user:ada", FACT),
        ("agent:main", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent:main", "Noted."),
    ]
    assert FACT in store.continuity.text()
    later = Script(Say("On Tuesday."))
    asyncio.run(agent(later, AssayChatCompletionContext(router, user="ada", session="s2")).run(task=QUESTION))
    assert FACT in later.prompts[0].of("user")[-2] and later.prompts[0].of("user")[-1] == QUESTION
    assert len(runs(store)) == 2


def test_two_runs_of_a_context_alone_are_two(store: Store) -> None:
    main = agent(Script(Say("One."), Say("Two.")), AssayChatCompletionContext(store, session="s1"))
    for _ in range(2):
        asyncio.run(main.run(task="yes"))
    assert [text for _, text in told(store)] == ["yes", "One.", "yes", "Two."]
    assert len(runs(store)) == 2


def test_what_the_host_says_of_tools_is_not_what_the_agent_said(store: Store) -> None:
    """Without another call of the model, the agent's answer is the text of its tool."""
    with session(store, session="s1") as memory:
        main = agent(Script(Call("add", {"a": 1, "b": 2})), memory.context(), max_tool_iterations=1)
        result = asyncio.run(memory.run(main, task="Add"))
    assert getattr(result.messages[-1], "content", "") == "3"
    assert [source for source, _ in told(store)] == ["user", "agent:main", "tool:add"]


def test_images_are_named_and_never_dumped(store: Store) -> None:
    from PIL.Image import new

    picture = MultiModalMessage(content=["Look", Image(new("RGB", (1, 1)))], source="user")
    with session(store, session="s1") as memory:
        asyncio.run(memory.run(agent(Script(Say("Seen.")), memory.context()), task=picture))
    assert told(store)[0] == ("user", "Look\n[image]")


def test_the_system_may_be_where_the_briefing_stands(store: Store) -> None:
    store.record(FACT)
    script, options = Script(Say("On Tuesday.")), SessionOptions(placement=Placement.SYSTEM)
    with session(store, session="s1", options=options) as memory:
        asyncio.run(memory.run(agent(script, memory.context()), task=QUESTION))
    assert FACT in script.prompts[0].of("system")[1] and script.prompts[0].of("user") == (QUESTION,)


def test_arguments_that_are_no_json_are_recorded_as_they_are(store: Store) -> None:
    class Careless(ScriptedClient):
        async def create(self, *args: Any, **given: Any) -> CreateResult:
            result = await super().create(*args, **given)
            if not isinstance(result.content, str):
                result.content = [FunctionCall("c1", "{broken", "add")]
            return result

    client = Careless(Script(Call("add", {}), Say("Sorry.")))
    with session(store, session="s1") as memory:
        asyncio.run(memory.run(agent(client, memory.context()), task="Add"))
    assert ("agent:main", "add {broken") in told(store)
    assert [episode.success for episode in store.episodes.list()].count(False) == 1


def test_the_context_that_keeps_the_messages_is_the_users_choice(store: Store) -> None:
    store.record(FACT)
    script = Script(*[Say(f"Answer {number}.") for number in range(4)])
    with session(store, session="s1") as memory:
        main = agent(script, memory.context(BufferedChatCompletionContext(buffer_size=2)))
        for _ in range(4):
            asyncio.run(memory.run(main, task=QUESTION))
        assert "<memory-" not in str(asyncio.run(main.save_state()))
    assert len(script.prompts[-1].messages) == 4
    assert FACT in script.prompts[-1].text


def test_a_state_that_is_loaded_is_not_recorded_again(tmp_path: Path) -> None:
    with session(tmp_path / "memory.db", session="s1") as memory:
        first = agent(Script(Say("Noted.")), memory.context())
        asyncio.run(memory.run(first, task=FACT))
        state = asyncio.run(first.save_state())
    with session(tmp_path / "memory.db", session="s1") as memory:
        script = Script(Say("Yes."))
        second = agent(script, memory.context())
        asyncio.run(second.load_state(state))
        asyncio.run(memory.run(second, task="Really?"))
    assert FACT in script.prompts[0].text
    with Store(tmp_path / "memory.db") as store:
        assert [text for _, text in told(store)] == [FACT, "Noted.", "Really?", "Yes."]


# -- agents with one another ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("watched", [True, False])
def test_a_sub_agent_belongs_to_its_callers_session(store: Store, watched: bool) -> None:
    """It neither begins nor ends its caller's run, whether or not that is watched."""
    store.record(FACT)
    script = Script(Call("helper", {"task": QUESTION}), Say("Tuesday, it says."), sub=[Say("My answer is Tuesday.")])
    with session(store, user="ada", session="s1") as memory:
        sub = agent(ScriptedClient(script, "sub"), memory.context(), name="helper", tools=[], description="Knows.")
        main = agent(script, memory.context(), tools=[AgentTool(sub, return_value_as_last_message=True)])
        task = "Ask the other one"
        asyncio.run(memory.run(main, task=task) if watched else main.run(task=task))
    assert len(runs(store)) == 2
    assert [prompt.agent for prompt in script.prompts if FACT in prompt.text] == ["sub"]
    assert told(store)[1:] == [
        ("user:ada", "Ask the other one"),
        ("agent:main", f'helper {{"task": "{QUESTION}"}}'),
        ("agent:helper", "My answer is Tuesday."),
        ("tool:helper", "My answer is Tuesday."),
        ("agent:main", "Tuesday, it says."),
    ]


def test_a_tool_may_run_an_agent_through_the_memory_itself(store: Store) -> None:
    script = Script(Call("ask", {}), Say("It says four."), sub=[Say("Four.")])
    with session(store, user="ada", session="s1") as memory:
        sub = agent(ScriptedClient(script, "sub"), memory.context(), name="helper", tools=[])

        async def ask() -> str:
            """Ask the other agent."""
            async for event in memory.run_stream(sub, task="2+2"):
                if isinstance(event, TaskResult):
                    return str(getattr(event.messages[-1], "content", ""))
            return ""

        asyncio.run(memory.run(agent(script, memory.context(), tools=[ask]), task="Let it count"))
    assert [source for source, _ in told(store)] == ["user:ada", "agent:main", "agent:helper", "tool:ask", "agent:main"]
    assert len(runs(store)) == 1


def test_in_a_team_the_person_is_heard_once_and_agents_are_not_taken_for_them(store: Store) -> None:
    script = Script(Say("I think so."), sub=[Say("I agree. done")])
    with session(store, user="ada", session="s1") as memory:
        one = agent(script, memory.context(), name="one")
        two = agent(ScriptedClient(script, "sub"), memory.context(), name="two")
        team = RoundRobinGroupChat([one, two], termination_condition=TextMentionTermination("done"))
        asyncio.run(memory.run(team, task=FACT))
    assert told(store) == [("user:ada", FACT), ("agent:one", "I think so."), ("agent:two", "I agree. done")]
    assert len(runs(store)) == 1


def test_a_handoff_with_other_calls_is_recorded_by_the_agent_that_made_it(store: Store) -> None:
    """The host puts what was called beside it into the context of who takes over."""

    class Both(ScriptedClient):
        async def create(self, *args: Any, **given: Any) -> CreateResult:
            await super().create(*args, **given)
            calls = [FunctionCall("c1", '{"a": 1, "b": 2}', "add"), FunctionCall("c2", "{}", "transfer_to_two")]
            usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
            return CreateResult(finish_reason="function_calls", content=calls, usage=usage, cached=False, thought="Hm.")

    script = Script(HandOff("two"), sub=[Say("I have taken over.")])
    with session(store, session="s1") as memory:
        one = agent(Both(script), memory.context(), name="one", handoffs=["two"])
        two = agent(ScriptedClient(script, "sub"), memory.context(), name="two")
        team = Swarm([one, two], termination_condition=TextMentionTermination("taken over"))
        asyncio.run(memory.run(team, task="Go"))
    assert told(store) == [
        ("user", "Go"),
        ("agent:one", 'add {"a": 1, "b": 2}'),
        ("agent:one", "one -> two"),
        ("tool:add", "3"),
        ("agent:two", "I have taken over."),
    ]


def test_a_proxy_speaks_for_the_person(store: Store) -> None:
    script = Script(Say("Which day?"), Say("Noted. done"))
    with session(store, user="ada", session="s1", people=["proxy"]) as memory:
        proxy = UserProxyAgent("proxy", input_func=lambda prompt: FACT)
        end = TextMentionTermination("done")
        team = RoundRobinGroupChat([agent(script, memory.context()), proxy], termination_condition=end)
        asyncio.run(memory.run(team, task="Remember when we deploy"))
    assert told(store) == [
        ("user:ada", "Remember when we deploy"),
        ("agent:main", "Which day?"),
        ("user:ada", FACT),
        ("agent:main", "Noted. done"),
    ]


@pytest.mark.parametrize("streams", [False, True])
def test_a_team_that_fails_raises_what_the_host_raises_and_is_one_failure(store: Store, streams: bool) -> None:
    with session(store, session="s1", options=EACH_RUN) as memory:
        failing = agent(Script(Fail(ConnectionError("down"))), memory.context())
        team = RoundRobinGroupChat([failing], max_turns=1)

        async def run() -> None:
            if streams:
                async for _ in memory.run_stream(team, task="Go"):
                    pass
            else:
                await memory.run(team, task="Go")

        with pytest.raises(RuntimeError, match="ConnectionError: down"):
            asyncio.run(run())
    assert [source for source, _ in told(store)] == ["user", "host:autogen"]
    assert store.status().wraps == 0


def test_a_team_goes_on_without_another_task(store: Store) -> None:
    with session(store, session="s1") as memory:
        team = RoundRobinGroupChat([agent(Script(Say("One."), Say("Two.")), memory.context())], max_turns=1)

        async def twice() -> None:
            await memory.run(team, task="Go")
            await memory.run(team)

        asyncio.run(twice())
    assert [text for _, text in told(store)] == ["Go", "One.", "Two."]
    assert len(runs(store)) == 2


def test_messages_of_agents_in_a_task_are_not_the_persons(store: Store) -> None:
    task = [TextMessage(content="An agent wrote this", source="planner"), TextMessage(content=FACT, source="user")]
    with session(store, session="s1") as memory:
        asyncio.run(memory.run(agent(Script(Say("Noted.")), memory.context()), task=task))
    assert [text for _, text in told(store)] == [FACT, "Noted."]


def test_a_task_that_the_host_refuses_is_refused_by_it(store: Store) -> None:
    with session(store, session="s1") as memory:
        main = agent(Script(), memory.context())
        for wrong in ([], ["words"]):
            given: Any = wrong
            with pytest.raises(ValueError, match=r"cannot be empty|Invalid message type"):
                asyncio.run(memory.run(main, task=given))


def test_two_conversations_at_once_do_not_cross(tmp_path: Path) -> None:
    facts = {"ada": "The door code of the archive is 4711", "bob": "The door code of the archive is 9902"}
    with StoreRouter(tmp_path / "{user}.db") as router:

        async def talk(user: str) -> list[str]:
            script = Script(Say("Noted."), Call("add", {"a": 1, "b": 2}), Say("There."))
            with session(router, user=user, session="s1") as memory:
                main = agent(script, memory.context(), model_client_stream=True)
                await memory.run(main, task=facts[user])
                await memory.run(main, task="What is the door code of the archive?")
            return [prompt.text for prompt in script.prompts]

        async def both() -> list[list[str]]:
            return await asyncio.gather(*map(talk, facts))

        for user, prompts in zip(facts, asyncio.run(both()), strict=True):
            other = facts["bob" if user == "ada" else "ada"]
            assert not [prompt for prompt in prompts if other in prompt]
            with Store(router.path(user)) as store:
                assert [text for _, text in told(store) if "door code of the archive is" in text] == [facts[user]]


def test_the_hosts_console_shows_a_watched_run(store: Store) -> None:
    with session(store, session="s1") as memory, redirect_stdout(io.StringIO()) as shown:
        main = agent(Script(Say("Noted.")), memory.context(), model_client_stream=True)
        result = asyncio.run(_shown(Console(memory.run_stream(main, task=FACT))))
    assert "Noted." in shown.getvalue() and isinstance(result, TaskResult)


async def _shown(console: Any) -> Any:
    return await console


# -- consolidation -------------------------------------------------------------------------------------------------


def test_a_session_is_ended_by_whoever_knows_that_it_is_over(store: Store) -> None:
    client = ScriptedClient(Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT))))
    with session(store, session="s1", client=client) as memory:
        asyncio.run(memory.run(agent(client, memory.context()), task=FACT))
        assert asyncio.run(memory.aend_session()).status.value == "not_due"
        assert asyncio.run(memory.aend_session(now=True)).status.value == "committed"
    assert FACT in store.continuity.text()


def test_without_a_client_nothing_composes_unless_the_policy_names_who(store: Store) -> None:
    composer = ScriptedComposer(lambda prompt: honest_document(prompt, about=FACT))
    named = SessionOptions(wrap=WrapPolicy.each_run().composed_by(composer))
    for options, expected in ((EACH_RUN, 0), (named, 1)):
        with session(store, session="s1", options=options) as memory:
            asyncio.run(memory.run(agent(Script(Say("Noted.")), memory.context()), task=FACT))
        assert store.status().wraps == expected


# -- as a component ------------------------------------------------------------------------------------------------


def test_a_context_is_dumped_and_loaded_with_its_agent(tmp_path: Path) -> None:
    path = str(tmp_path / "{user}.db")
    inner = BufferedChatCompletionContext(buffer_size=3)
    context = AssayChatCompletionContext(path, user="ada", session="s1", inner=inner)
    asyncio.run(agent(Script(Say("Noted.")), context).run(task=FACT))
    dumped = context.dump_component()
    context.close()
    assert dumped.provider == "assay_integrations.autogen.agentchat.AssayChatCompletionContext"
    loaded = ChatCompletionContext.load_component(dumped.model_dump())
    assert isinstance(loaded, AssayChatCompletionContext)
    script = Script(Say("On Tuesday."))
    asyncio.run(agent(script, loaded).run(task=QUESTION))
    loaded.close()
    assert loaded.dump_component() == dumped
    assert FACT in script.prompts[0].text


def test_an_open_store_is_no_configuration(store: Store) -> None:
    context = AssayChatCompletionContext(store)
    with pytest.raises(TypeError, match="path"):
        context.dump_component()


def test_the_context_of_a_conversation_is_dumped_as_the_one_within(store: Store) -> None:
    inner = BufferedChatCompletionContext(buffer_size=3)
    with session(store) as memory:
        assert memory.context(inner).dump_component() == inner.dump_component()


def test_closing_leaves_a_shared_router_open(tmp_path: Path) -> None:
    close: Callable[[AssayChatCompletionContext], None] = AssayChatCompletionContext.close
    with StoreRouter(tmp_path / "memory.db") as router:
        close(AssayChatCompletionContext(router))
        with session(router, session="s1") as memory:
            asyncio.run(memory.run(agent(Script(Say("Noted.")), memory.context()), task=FACT))
        with Store(tmp_path / "memory.db") as store:
            assert len(told(store)) == 2
