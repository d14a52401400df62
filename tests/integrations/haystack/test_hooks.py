"""What Haystack's own machinery does with the hooks, beyond the contract."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.components.agents.state import State, replace_values
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.errors import SerializationError
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage, ImageContent, TextContent, ToolCall
from haystack.hooks import FunctionHook, Hook, HookPoint
from haystack.tools import ComponentTool
from haystack.tools.errors import ToolInvocationError
from haystack.tools.from_function import create_tool_from_function

from assay import Episode, Store
from assay.session import MissingUser, Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import Call, Compose, Fail, Meet, Say, Script
from assay.testing.composer import honest_document
from assay.testing.script import Step
from assay_integrations.haystack import AssayHook, session

from .harness import agent_of
from .scripted import scripted

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
FENCE = "<memory-"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def says(text: str) -> list[ChatMessage]:
    return [ChatMessage.from_user(text)]


def calls(name: str, call_id: str = "c1", **given: Any) -> ChatMessage:
    return ChatMessage.from_assistant(tool_calls=[ToolCall(name, given, id=call_id)])


def hook_of(function: Any) -> Hook:
    function.__annotations__["state"] = State
    return FunctionHook(function)


def remembering(store: Any, *steps: Any, hooks: dict[HookPoint, list[Hook]] | None = None, **more: Any) -> Agent:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    options = more.pop("options", None)
    agent = agent_of(script, hooks=hooks, **more)
    AssayHook(store, options=options).attach(agent)
    return agent


@component
class InThreads:
    """A generator that has no coroutine: the host runs it in a thread."""

    def __init__(self, generator: MockChatGenerator) -> None:
        self.generator = generator

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
        return self.generator.run(messages, tools=tools)


# -- how it is attached --------------------------------------------------------------------------------------------


def test_hooks_are_given_at_the_construction_of_an_agent(store: Store) -> None:
    generator = scripted(Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT))))
    memory = AssayHook(store, chat_generator=generator, agent="assistant", options=EACH_RUN)
    Agent(chat_generator=generator, hooks=memory.points()).run(says(FACT))
    assert told(store) == [("user", FACT), ("agent:assistant", "Noted.")]
    assert FACT in store.continuity.text()


def test_a_block_attaches_and_leaves_the_agent_as_it_was(store: Store) -> None:
    theirs: dict[HookPoint, list[Hook]] = {"before_llm": [hook_of(lambda state: None)]}
    later = hook_of(lambda state: None)
    agent = agent_of(Script(Say("Noted."), Say("Goodbye.")), hooks=theirs)
    with session(store, session="s1") as memory:
        assert memory.attach(agent) is agent
        agent.hooks["before_llm"].append(later)
        agent.run(says(FACT))
    agent.run(says("Goodbye"))
    assert agent.hooks == {"before_llm": [*theirs["before_llm"], later]}
    assert told(store) == [("user", FACT), ("agent", "Noted.")]


def test_a_second_memory_is_refused_for_it_would_hear_the_runs_of_the_first(tmp_path: Path) -> None:
    agent = agent_of(Script(Say("Noted.")))
    with session(tmp_path / "ada.db", session="s1") as ours, session(tmp_path / "bob.db", session="s2") as other:
        ours.attach(agent)
        with pytest.raises(ValueError, match="detach it first"):
            other.attach(agent)
        agent.run(says(FACT))
    with Store(tmp_path / "ada.db") as store:
        assert told(store) == [("user", FACT), ("agent", "Noted.")]
    assert not (tmp_path / "bob.db").exists() and agent.hooks == {}


def test_a_missing_user_is_told_before_the_block_and_a_run_without_one_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = AssayHook(tmp_path / "{user}.db")
    with pytest.raises(MissingUser), session(memory):
        raise AssertionError("the block began")
    agent = memory.attach(agent_of(Script(Say("Hello."))))
    assert agent.run(says("Hello"))["last_message"].text == "Hello."
    assert "missing_user" in caplog.text
    assert not list(tmp_path.rglob("*.db"))


def test_the_ids_of_a_run_come_before_those_of_the_block(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        memory = AssayHook(router)
        agent = memory.attach(agent_of(Script(Say("Noted."))))
        with session(memory, user="ada", session="s1"):
            agent.run(says(FACT), hook_context={"user_id": "bob", "session_id": 7})
        with Store(router.path("bob")) as store:
            assert {episode.session for episode in held(store)} == {"7"}
        assert router.users() == ("bob",)


def test_the_dictionary_of_a_run_stays_the_callers(store: Store) -> None:
    given = {"user_id": "ada", "session_id": "s1", "socket": threading.Lock()}
    before = dict(given)
    remembering(store, Say("Noted.")).run(says(FACT), hook_context=given)
    assert given == before
    assert {episode.session for episode in held(store)} == {"s1"}


def test_without_a_session_each_run_is_one_of_its_own(store: Store) -> None:
    agent = remembering(store, Say("One."), Say("Two."), Say("Three."), Say("Four."))
    agent.run(says("One"))
    agent.run(says("Two"))
    with session(store) as memory:
        other = memory.attach(agent_of(Script(Say("Three."), Say("Four."))))
        other.run(says("Three"))
        other.run(says("Four"))
    assert len({episode.session for episode in held(store)}) == 4


def test_an_agent_in_a_pipeline_takes_its_ids_as_an_input(store: Store) -> None:
    pipeline = Pipeline()
    pipeline.add_component("agent", remembering(store, Say("Noted.")))
    pipeline.run({"agent": {"messages": says(FACT), "hook_context": {"session_id": "s1"}}})
    assert [(episode.session, episode.content) for episode in held(store)] == [("s1", FACT), ("s1", "Noted.")]


# -- what is recorded ----------------------------------------------------------------------------------------------


def test_tools_that_run_side_by_side_are_recorded_by_their_ids(store: Store) -> None:
    several = [ToolCall("add", {"a": 1, "b": 2}, id="c2"), ToolCall("add", {"a": 3, "b": 4}, id="c1")]
    generator = MockChatGenerator([ChatMessage.from_assistant("I add.", tool_calls=several), "Three and seven."])
    agent = agent_of(Script())
    agent.chat_generator = generator
    AssayHook(store).attach(agent).run(says("Add twice"))
    assert [(source, text) for source, text in told(store)] == [
        ("user", "Add twice"),
        ("agent", "I add."),
        ("agent", 'add {"a": 1, "b": 2}'),
        ("agent", 'add {"a": 3, "b": 4}'),
        ("tool:add", "3"),
        ("tool:add", "7"),
        ("agent", "Three and seven."),
    ]
    assert [episode.derived_from for episode in held(store)[4:6]] == [(held(store)[2].ref,), (held(store)[3].ref,)]


def test_a_history_that_is_handed_over_is_not_the_runs(store: Store) -> None:
    agent = remembering(store, Say("On Tuesday."))
    history = [ChatMessage.from_user("Hello"), ChatMessage.from_assistant("Hello, ada."), *says(QUESTION)]
    agent.run(history)
    assert told(store) == [("user", QUESTION), ("agent", "On Tuesday.")]


def test_what_other_hooks_put_before_the_first_call_are_nobodys_words(store: Store) -> None:
    def shows_how(state: State) -> None:
        shown = [ChatMessage.from_user("2 + 2?"), ChatMessage.from_assistant("4"), *state.data["messages"]]
        state.set("messages", shown, handler_override=replace_values)

    agent = remembering(store, Say("Three."), hooks={"before_run": [hook_of(shows_how)]})
    agent.run(says("1 + 2?"))
    assert told(store) == [("user", "1 + 2?"), ("agent", "Three.")]


def test_a_hook_that_keeps_the_agent_going_does_not_speak_for_the_person(store: Store) -> None:
    def again(state: State) -> None:
        if state.data["step_count"] < 2:
            state.set("messages", [ChatMessage.from_user("Are you sure?")])
            state.set("continue_run", True)

    store.record(FACT, session="earlier")
    script = Script(Say("On Monday."), Say("On Tuesday."))
    agent = remembering(store, script, hooks={"on_exit": [hook_of(again)]})
    agent.run(says(QUESTION))
    assert told(store)[1:] == [("user", QUESTION), ("agent", "On Monday."), ("agent", "On Tuesday.")]
    texts = [message.text for message in script.prompts[-1].messages]
    assert FENCE in texts[texts.index(QUESTION) - 1]


def test_what_is_redacted_by_a_hook_is_recorded_redacted(store: Store) -> None:
    def redacts(state: State) -> None:
        *before, result = state.data["messages"]
        hidden = ChatMessage.from_tool("[hidden]", origin=result.tool_call_result.origin)
        state.set("messages", [*before, hidden], handler_override=replace_values)

    agent = remembering(store, Call("add", {"a": 1, "b": 2}), Say("Hm."), hooks={"after_tool": [hook_of(redacts)]})
    agent.run(says("Add"))
    assert ("tool:add", "[hidden]") in told(store) and ("tool:add", "3") not in told(store)


def test_a_call_that_a_hook_refuses_is_recorded_with_what_the_model_is_told(store: Store) -> None:
    def refuses(state: State) -> None:
        *_, call = state.data["messages"]
        state.set("messages", [ChatMessage.from_tool("Not allowed.", origin=call.tool_calls[0], error=True)])

    agent = remembering(
        store, Call("add", {"a": 1, "b": 2}), Say("So be it."), hooks={"before_tool": [hook_of(refuses)]}
    )
    agent.run(says("Add"))
    assert told(store)[1:] == [
        ("agent", 'add {"a": 1, "b": 2}'),
        ("tool:add", "add failed: Not allowed."),
        ("agent", "So be it."),
    ]


def test_media_are_named_and_not_dumped(store: Store) -> None:
    picture = ImageContent("aGVsbG8=", mime_type="image/png", validation=False)

    def draw() -> list[Any]:
        """Draw."""
        return [TextContent("Here it is."), picture]

    tool = create_tool_from_function(draw, outputs_to_string={"raw_result": True})
    agent = remembering(store, Call("draw", {}), Say("Drawn."), tools=[tool])
    agent.run([ChatMessage.from_user(content_parts=["Draw like this", picture])])
    assert told(store)[0] == ("user", "Draw like this\n[ImageContent]")
    assert ("tool:draw", "Here it is.\n[ImageContent]") in told(store)


def test_a_run_that_a_tool_or_the_limit_of_steps_ends_has_ended(store: Store) -> None:
    call = Call("add", {"a": 1, "b": 2})
    ways: list[dict[str, Any]] = [{"exit_conditions": ["add"]}, {"max_agent_steps": 1}]
    for more in ways:
        result = remembering(store, call, **more).run(says("Add"), hook_context={"session_id": "s1"})
        assert result["exit_reason"] in ("add", "max_agent_steps")
        assert told(store)[-1] == ("tool:add", "3")
        with database_of(store).read() as reader:
            assert find_open_run(reader, "s1", None) is None


def test_an_error_in_a_block_is_the_runs_and_one_behind_a_run_is_not(store: Store) -> None:
    with pytest.raises(ConnectionError), session(store, session="s1") as memory:
        memory.attach(agent_of(Script(Fail(ConnectionError("no route"))))).run(says(FACT))
    with pytest.raises(LookupError), session(store, session="s2") as memory:
        memory.attach(agent_of(Script(Say("Noted.")))).run(says("Hello"))
        raise LookupError("something else")
    failures = [episode.content for episode in held(store) if episode.success is False]
    assert failures == ["run failed: ConnectionError: no route"]


def test_a_tool_that_is_to_end_the_run_is_one_failure_and_its_run_is_over(store: Store) -> None:
    call = Call("boom", {"x": "y"})
    with pytest.raises(ToolInvocationError), session(store, session="s1") as memory:
        memory.attach(agent_of(Script(call), raise_on_tool_invocation_failure=True)).run(says("Break it"))
    assert [episode.success for episode in held(store)].count(False) == 1
    remembering(store, Say("Hello.")).run(says("Hello"), hook_context={"session_id": "s2"})
    assert [episode.content for episode in held(store) if episode.session == "s2"] == ["Hello", "Hello."]


def test_a_run_after_one_that_a_tool_has_ended_is_no_sub_agents(store: Store) -> None:
    async def both() -> None:
        broken = remembering(store, Call("boom", {"x": "y"}), raise_on_tool_invocation_failure=True)
        with pytest.raises(ToolInvocationError):
            await broken.run_async(says("Break it"))
        gc.collect()
        agents = [remembering(store, Say(f"Answer {name}.")) for name in "ab"]
        await asyncio.gather(
            *(agent.run_async(says(f"Question {name}")) for name, agent in zip("ab", agents, strict=True))
        )

    asyncio.run(both())
    assert {text for source, text in told(store) if source == "user"} == {"Break it", "Question a", "Question b"}


# -- what the model receives ---------------------------------------------------------------------------------------


def test_hooks_of_the_user_never_see_the_briefing(store: Store) -> None:
    seen: list[str] = []
    points: tuple[HookPoint, ...] = ("before_run", "before_llm", "before_tool", "after_tool", "on_exit", "after_run")
    hooks: dict[HookPoint, list[Hook]] = {
        point: [hook_of(lambda state: seen.append(str(state.data["messages"])))] for point in points
    }
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    agent = remembering(store, script, hooks=hooks)
    agent.run(says(QUESTION))
    assert len(seen) == 7
    assert FENCE not in str(seen)
    assert [prompt.text.count(FENCE) for prompt in script.prompts] == [1, 1]


def test_the_message_of_the_briefing_is_found_after_hooks_have_copied_the_messages(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    agent = remembering(store, script)
    agent.hooks["before_llm"].append(
        hook_of(lambda state: state.set("messages", state.get("messages"), handler_override=replace_values))
    )
    result = agent.run(says(QUESTION))
    assert [prompt.text.count(FENCE) for prompt in script.prompts] == [1, 1]
    assert FENCE not in str(result)
    assert told(store)[1:3] == [("user", QUESTION), ("agent", 'add {"a": 1, "b": 2}')]


def test_a_briefing_may_stand_behind_the_system_text_which_is_given_back(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("On Tuesday."))
    agent = remembering(store, script, options=SessionOptions(placement=Placement.SYSTEM))
    result = agent.run(says(QUESTION))
    (system,) = script.prompts[0].of("system")
    assert system.startswith("You help.\n\n<memory-")
    assert FENCE not in str(script.prompts[0].of("user"))
    assert result["messages"][0].text == "You help."


def test_a_briefing_behind_no_system_text_is_a_system_text_of_its_own(store: Store) -> None:
    store.record(FACT, session="earlier")
    generator = scripted(Script(Say("On Tuesday.")))
    memory = AssayHook(store, options=SessionOptions(placement=Placement.SYSTEM))
    result = memory.attach(Agent(chat_generator=generator)).run(says(QUESTION))
    assert [message.role.value for message in result["messages"]] == ["user", "assistant"]


# -- agents that others call ---------------------------------------------------------------------------------------


def asking(sub: Agent, name: str = "helper") -> ComponentTool:
    schema = {"type": "object", "properties": {"messages": {"type": "array"}}}
    return ComponentTool(sub, name=name, description="Asks.", parameters=schema)


def ask(name: str = "helper") -> Call:
    return Call(name, {"messages": [{"role": "user", "content": [{"text": QUESTION}]}]})


@pytest.mark.parametrize("awaits", [False, True])
def test_an_agent_inside_a_tool_belongs_to_its_callers_run(store: Store, awaits: bool) -> None:
    with StoreRouter(store) as router:
        script = Script(Say("On Tuesday."))
        sub = AssayHook(router, agent="helper", options=EACH_RUN).attach(agent_of(script))
        root = AssayHook(router).attach(agent_of(Script(ask(), Say("Done.")), tools=[asking(sub)]))
        store.record(FACT, session="earlier")
        given: dict[str, Any] = {"messages": says("Let the other one find out"), "hook_context": {"session_id": "s1"}}
        if awaits:
            asyncio.run(root.run_async(**given))
        else:
            root.run(**given)
    assert FENCE in script.prompts[0].text
    assert [source for source, _ in told(store)[1:]] == ["user", "agent", "agent:helper", "tool:helper", "agent"]
    assert len({episode.run for episode in held(store)[1:]}) == 1
    assert store.status().wraps == 0


def test_an_agent_inside_a_tool_that_names_another_user_is_in_that_users_memory(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        sub = AssayHook(router).attach(agent_of(Script(Say("Noted for bob."))))

        def serve() -> str:
            """Serve bob."""
            context = {"user_id": "bob", "session_id": "b1"}
            return str(sub.run(says(FACT), hook_context=context)["last_message"].text)

        agent = agent_of(Script(Call("serve", {}), Say("Done.")), tools=[create_tool_from_function(serve)])
        AssayHook(router).attach(agent).run(says("Serve bob"), hook_context={"user_id": "ada", "session_id": "a1"})
        with Store(router.path("bob")) as bob:
            assert told(bob) == [("user:bob", FACT), ("agent", "Noted for bob.")]


def test_two_runs_of_one_agent_on_a_loop_stay_apart(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        barrier = threading.Barrier(2)
        lanes: dict[str, list[Step]] = {
            f"I am {user}": [Meet(barrier), Say(f"An answer for {user}.")] for user in ("ada", "bob")
        }

        agent = agent_of(Script())
        agent.chat_generator = InThreads(scripted(Script(lanes=lanes)))
        AssayHook(router).attach(agent)

        async def both() -> None:
            contexts = [{"user_id": user, "session_id": "s"} for user in ("ada", "bob")]
            runs = [agent.run_async(says(f"I am {one['user_id']}"), hook_context=one) for one in contexts]
            await asyncio.gather(*runs)

        asyncio.run(both())
        for user in ("ada", "bob"):
            with Store(router.path(user)) as store:
                assert [text for _, text in told(store)] == [f"I am {user}", f"An answer for {user}."]


# -- consolidation and what the host saves -------------------------------------------------------------------------


def test_a_session_that_ends_is_consolidated_by_the_generator_of_its_agent(store: Store) -> None:
    script = Script(Say("Noted."))
    memory = AssayHook(store, options=MANUAL)
    memory.attach(agent_of(script)).run(says(FACT), hook_context={"session_id": "s1"})
    script.extend(Compose(lambda prompt: honest_document(prompt, about=FACT)))
    assert memory.end_session(SessionKey(None, "s1"), now=True).status.value == "committed"
    script.extend(Compose(honest_document))
    assert asyncio.run(memory.aend_session(SessionKey(None, "s1"), now=True)).status.value == "empty"


@pytest.mark.parametrize("awaits", [False, True])
def test_a_callback_of_the_generators_own_hears_nothing_of_a_wrap(store: Store, awaits: bool) -> None:
    heard: list[str] = []

    async def ahear(chunk: Any) -> None:
        heard.append(chunk.content)

    script = Script(Say("Noted."), Compose(honest_document))
    hear: Any = ahear if awaits else lambda chunk: heard.append(chunk.content)
    agent = Agent(chat_generator=scripted(script, streaming_callback=hear))
    AssayHook(store, options=EACH_RUN).attach(agent)
    if awaits:
        asyncio.run(agent.run_async(says(FACT)))
    else:
        agent.run(says(FACT))
    assert store.status().wraps == 1
    assert "".join(heard) == "Noted."


def answer(messages: list[ChatMessage]) -> str:
    """Answer, in a form that the host can save."""
    return "On Tuesday." if FACT in str(messages[:-1]) else "Noted."


def test_a_pipeline_is_saved_and_loaded_with_its_memory(tmp_path: Path) -> None:
    allow_deserialization_module("assay_integrations.haystack")
    allow_deserialization_module(__name__)
    path, generator = str(tmp_path / "memory.db"), MockChatGenerator(response_fn=answer)
    memory = AssayHook(path, chat_generator=generator, agent="assistant")
    pipeline = Pipeline()
    pipeline.add_component("agent", Agent(chat_generator=generator, hooks=memory.points()))
    pipeline.run({"agent": {"messages": says(FACT), "hook_context": {"session_id": "s1"}}})
    memory.close()
    loaded = Pipeline.loads(pipeline.dumps())
    assert loaded.to_dict() == pipeline.to_dict()
    result = loaded.run({"agent": {"messages": says(QUESTION), "hook_context": {"session_id": "s2"}}})
    assert result["agent"]["last_message"].text == "On Tuesday."
    agent: Any = loaded.get_component("agent")
    ours = {hook.memory for hooks in agent.hooks.values() for hook in hooks}
    assert len(ours) == 1
    assert [one.chat_generator is not None for one in ours] == [True]
    agent.close()
    with Store(path) as store:
        assert told(store)[2:] == [("user", QUESTION), ("agent:assistant", "On Tuesday.")]


def test_agents_that_are_loaded_on_one_store_keep_a_generator_each(tmp_path: Path) -> None:
    allow_deserialization_module("assay_integrations.haystack")
    pipelines = [Pipeline() for _ in "ab"]
    for pipeline, word in zip(pipelines, "ab", strict=True):
        generator = MockChatGenerator(word)
        hooks = AssayHook(str(tmp_path / "memory.db"), chat_generator=generator).points()
        pipeline.add_component("agent", Agent(chat_generator=generator, hooks=hooks))
    loaded = [Pipeline.loads(pipeline.dumps()) for pipeline in pipelines]
    assert [one.to_dict() for one in loaded] == [one.to_dict() for one in pipelines]
    agents: list[Any] = [one.get_component("agent") for one in loaded]
    composers = [agent.hooks["after_run"][-1].chat_generator for agent in agents]
    assert [one.run(says("Compose"))["replies"][0].text for one in composers] == ["a", "b"]


def test_a_memory_that_is_no_path_or_has_options_cannot_be_saved(store: Store) -> None:
    for memory in (AssayHook(store), AssayHook("memory.db", options=MANUAL)):
        with pytest.raises(SerializationError):
            memory.attach(Agent(chat_generator=MockChatGenerator("Hello."))).to_dict()
