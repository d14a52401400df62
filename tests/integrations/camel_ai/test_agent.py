"""What CAMEL does with the memory of an agent, beyond the contract."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from camel.agents import ChatAgent
from camel.memories import ChatHistoryMemory, MemoryRecord, ScoreBasedContextCreator
from camel.messages import BaseMessage
from camel.responses import ChatAgentResponse
from camel.terminators import ResponseTerminator
from camel.toolkits import FunctionTool
from camel.types import OpenAIBackendRole

from assay import Episode, Store
from assay.session import MissingUser, Placement, SessionOptions, StoreRouter, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import Call, Compose, Entry, Fail, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.camel_ai import AssayAgentMemory, AssayChatAgent

from .harness import LIMIT, SYSTEM, answer_of, tools_of
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
ENTRIES = [pytest.param(entry, id=entry.value) for entry in Entry]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def agent(
    store: Store | StoreRouter, *steps: Any, session: str = "s1", options: SessionOptions | None = None, **more: Any
) -> AssayChatAgent:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    memory = more.pop("memory", None) or AssayAgentMemory(store, user="ada", session=session, options=options)
    settings = {"tools": tools_of([*script.tools()]), "stream_accumulate": False, "token_limit": LIMIT, **more}
    return AssayChatAgent(SYSTEM, ScriptedModel(script), memory, **settings)


def said(of: ChatAgent, text: str, entry: Entry = Entry.SYNC) -> list[Any]:
    of.model_backend.model_config_dict["stream"] = entry.streams
    return list(answer_of(of, text, entry))


def kept(of: ChatAgent) -> list[tuple[str, str]]:
    records = [one.memory_record for one in of.memory.retrieve()]
    return [(record.role_at_backend.value, record.message.content) for record in records]


def history(model: ScriptedModel) -> ChatHistoryMemory:
    return ChatHistoryMemory(ScoreBasedContextCreator(model.token_counter, LIMIT))


# -- clones ------------------------------------------------------------------------------------------------------------


def test_a_clone_of_the_hosts_own_agent_drops_the_memory(store: Store) -> None:
    model = ScriptedModel(Script())
    memory = AssayAgentMemory(store, session="s1", inner=history(model))
    assert type(ChatAgent(SYSTEM, model, memory).clone().memory) is ChatHistoryMemory


@pytest.mark.parametrize("with_memory", [False, True])
def test_a_clone_remembers_and_has_the_history_that_the_host_gives_it(store: Store, with_memory: bool) -> None:
    script = Script(Say("Noted."), Say("On Tuesday."))
    first = agent(store, script)
    said(first, FACT)
    clone = first.clone(with_memory)
    assert isinstance(clone, AssayChatAgent)
    assert isinstance(clone.memory, AssayAgentMemory) and clone.memory is not first.memory
    before = [("system", SYSTEM), ("user", FACT), ("assistant", "Noted.")]
    assert kept(clone) == (before if with_memory else before[:1])
    assert len(held(store)) == 2, "a history that is copied was recorded when it was new"
    said(clone, QUESTION)
    assert [text for _, text in told(store)] == [FACT, "Noted.", QUESTION, "On Tuesday."]
    assert kept(first) == before


def test_a_clone_in_another_session_is_briefed(store: Store) -> None:
    said(agent(store, Say("Noted."), session="earlier"), FACT)
    script = Script(Say("On Tuesday."))
    said(agent(store, script).clone(), QUESTION)
    assert FACT in script.prompts[0].of("user")[-2]


def test_beside_mcp_2_the_import_says_what_to_install(tmp_path: Path) -> None:
    """CAMEL takes `FastMCP` from `mcp.server`, where version 2 does not have it."""
    (tmp_path / "mcp" / "server").mkdir(parents=True)
    for name in ("mcp/__init__.py", "mcp/server/__init__.py"):
        (tmp_path / name).write_text("", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", "import assay_integrations.camel_ai"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "MissingExtraError" in ran.stderr and "mcp<2" in ran.stderr
    assert "pip install 'assay-memory[camel-ai]'" in ran.stderr


# -- what the host keeps and writes again --------------------------------------------------------------------------


def test_what_is_saved_and_loaded_holds_no_briefing_and_is_not_recorded_again(store: Store, tmp_path: Path) -> None:
    said(agent(store, Say("Noted."), session="earlier"), FACT)
    first = agent(store, Say("On Tuesday."))
    said(first, QUESTION)
    first.save_memory(str(tmp_path / "saved.json"))
    assert "<memory-" not in (tmp_path / "saved.json").read_text("utf-8")
    second = agent(store, Say("Yes."))
    second.load_memory_from_path(str(tmp_path / "saved.json"))
    third = agent(store)
    third.load_memory(first.memory)
    third.memory = third.memory
    assert [text for _, text in told(store)] == [FACT, "Noted.", QUESTION, "On Tuesday."]
    assert ("assistant", "On Tuesday.") in kept(second) and ("assistant", "On Tuesday.") in kept(third)


def test_a_reset_forgets_the_conversation_alone(store: Store) -> None:
    script = Script(Say("Noted."), Say("On Tuesday."))
    first = agent(store, script)
    said(first, FACT)
    first.reset()  # type: ignore[no-untyped-call]
    assert kept(first) == [("system", SYSTEM)]
    said(first, QUESTION)
    assert [text for _, text in told(store)] == [FACT, "Noted.", QUESTION, "On Tuesday."]


def test_between_steps_the_history_that_the_host_shows_is_free_of_the_briefing(store: Store) -> None:
    said(agent(store, Say("Noted."), session="earlier"), FACT)
    script = Script(Say("On Tuesday."))
    first = agent(store, script)
    said(first, QUESTION)
    assert FACT in script.prompts[0].text
    assert "<memory-" not in str(first.chat_history)
    assert len(held(store)) == 4


def test_words_that_the_host_writes_in_the_users_role_are_not_the_persons(store: Store) -> None:
    class Patient(ResponseTerminator):
        def is_terminated(self, messages: list[BaseMessage]) -> tuple[bool, str | None]:
            return "done" in messages[-1].content, "done"

        def reset(self) -> None: ...

    script = Script(Say("Working."), Say("It is done."))
    said(agent(store, script, response_terminators=[Patient()]), FACT)
    assert script.prompts[1].of("user")[-1] == "Please continue."
    assert [text for source, text in told(store) if source.startswith("user")] == [FACT]


@pytest.mark.filterwarnings("ignore:summarize.. is synchronous:DeprecationWarning")
@pytest.mark.parametrize("entry", [Entry.SYNC, Entry.ASYNC])
def test_a_summary_of_the_conversation_is_neither_said_nor_asked(
    store: Store, entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMEL_WORKDIR", str(tmp_path))
    said(agent(store, Say("Noted."), session="earlier"), FACT)
    script = Script(Say("I see."), Say("They spoke of the harbour."), Say("On Tuesday."))
    first = agent(store, script, token_limit=1_000, summarize_threshold=1)
    said(first, "The harbour is frozen")
    said(first, QUESTION, entry)
    assert any("CONTEXT_SUMMARY" in text for _, text in kept(first)), "the scenario summarises"
    assert [text for _, text in told(store)][2:] == ["The harbour is frozen", "I see.", QUESTION, "On Tuesday."]
    asked = script.prompts[-1].of("user")
    assert FACT in asked[-2] and asked[-1].endswith(QUESTION)


# -- how a step goes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_failed_tool_is_known_by_the_text_that_the_host_makes_of_it(store: Store, entry: Entry) -> None:
    said(
        agent(store, Call("boom", {"x": "y"}, "c1"), Call("absent", {"x": "y"}, "c2"), Say("It broke.")),
        "Break it",
        entry,
    )
    failed = [episode for episode in held(store) if episode.success is False]
    names = ["boom"] if entry.streams else ["boom", "absent"]  # in a stream the host passes over what it does not know
    assert [(one.source, one.kind.value, one.trust.value) for one in failed] == [
        (f"tool:{name}", "outcome", "tool") for name in names
    ]
    assert failed[0].content.startswith("boom failed: ") and failed[0].content.endswith("boom-y")
    assert [one.content for one in failed[1:]] == [
        f"{name} failed: Tool '{name}' not found in registered tools" for name in names[1:]
    ]
    calls = {episode.content.split()[0]: episode.ref for episode in held(store) if episode.kind.value == "context"}
    assert [one.derived_from for one in failed] == [(calls[name],) for name in names]


def test_a_result_that_speaks_of_an_error_is_a_result(store: Store) -> None:
    script = Script(
        Call("look_up", {"name": "log"}, "c1"), Say("I read it."), documents={"log": "Tool execution failed: at noon"}
    )
    said(agent(store, script), "Read the log")
    assert [(one.source, one.success) for one in held(store) if one.source == "tool:look_up"] == [
        ("tool:look_up", None)
    ]


@pytest.mark.parametrize("entry", [Entry.STREAM, Entry.ASTREAM])
def test_a_model_that_fails_in_a_stream_fails_the_run(store: Store, entry: Entry) -> None:
    """There the host shows its error as an answer, and raises nothing."""
    given = said(agent(store, Fail(ValueError("the provider is down")), options=EACH_RUN), FACT, entry)
    assert "the provider is down" in given[-1].msgs[0].content
    assert told(store) == [("user:ada", FACT), ("host:camel-ai", "run failed: RuntimeError: the provider is down")]


def open_run(store: Store) -> bool:
    with database_of(store).read() as reader:
        return bool(find_open_run(reader, "s1", None))


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_step_that_is_stopped_leaves_its_run_open(store: Store, entry: Entry) -> None:
    stop = threading.Event()

    def halt() -> str:
        """Stop the agent."""
        stop.set()
        return "stopping"

    steps = (Call("halt", {}, "c1"), Say("Never heard."), Compose(honest_document))
    said(agent(store, *steps, tools=[FunctionTool(halt)], stop_event=stop, options=EACH_RUN), "Stop", entry)
    assert not [episode for episode in held(store) if episode.success is False]
    assert open_run(store) and store.continuity.version() == 0


@pytest.mark.parametrize("entry", [Entry.SYNC, Entry.ASYNC])
def test_a_step_that_ends_in_a_call_of_the_callers_own_tool_leaves_its_run_open(store: Store, entry: Entry) -> None:
    def approve() -> str:
        """Ask a person."""
        return ""

    first = agent(store, Call("approve", {}, "c1"), external_tools=[FunctionTool(approve)], options=EACH_RUN)
    (response,) = said(first, "Deploy it", entry)
    assert response.info["external_tool_call_requests"]
    assert told(store) == [("user:ada", "Deploy it"), ("agent", "approve {}")]
    assert open_run(store)


def test_an_answer_that_is_chosen_later_ends_the_run(store: Store) -> None:
    """Of several answers the host keeps none, until the caller says which."""
    first = agent(store, Say("One."))

    class Several(ScriptedModel):
        def _run(self, *given: Any, **more: Any) -> Any:
            one = super()._run(*given, **more)
            return one.model_copy(update={"choices": [one.choices[0], one.choices[0]]})

    first.model_backend.models[0].__class__ = Several
    (response,) = said(first, FACT)
    assert open_run(store)
    first.record_message(response.msgs[1])
    assert told(store) == [("user:ada", FACT), ("agent", "One.")]
    assert not open_run(store)


def test_a_cancelled_step_leaves_what_happened(store: Store) -> None:
    begun = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        begun.set()
        await asyncio.sleep(60)
        return ""

    first = agent(store, Call("wait", {}, "c1"), tools=[FunctionTool(wait)])

    async def cancel() -> None:
        step = asyncio.ensure_future(first.astep(FACT))
        await begun.wait()
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step

    asyncio.run(cancel())
    assert told(store) == [("user:ada", FACT), ("agent", "wait {}")]
    assert open_run(store)


def test_the_wrap_takes_no_turn_of_the_agents_models(store: Store) -> None:
    """The host asks its models in turn; a call beside the conversation would shift them."""
    script = Script(Say("One."), Compose(honest_document), Say("Two."), Compose(honest_document))
    models = [ScriptedModel(script), ScriptedModel(script)]
    asked: list[int] = []

    def pick(self: Any) -> Any:
        asked.append(len(asked))
        return models[asked[-1] % 2]

    memory = AssayAgentMemory(store, session="s1", options=EACH_RUN)
    first = AssayChatAgent(SYSTEM, models, memory)
    first.add_model_scheduling_strategy("pick", pick)
    said(first, "one")
    said(first, "two")
    assert asked == [0, 1] and store.continuity.version() == 2


def test_system_placement_puts_the_briefing_behind_the_system_text(store: Store) -> None:
    said(agent(store, Say("Noted."), session="earlier"), FACT)
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    first = agent(store, script, options=SessionOptions(placement=Placement.SYSTEM))
    said(first, QUESTION)
    for prompt in script.prompts:
        (system,) = prompt.of("system")
        assert system.startswith(SYSTEM) and FACT in system
        assert prompt.of("user") == (QUESTION,)
    assert kept(first)[0] == ("system", SYSTEM)


def test_pictures_are_counted_and_not_kept(store: Store) -> None:
    message = BaseMessage.make_user_message("User", "What is this?", image_list=["https://example.org/roof.png"])
    agent(store, Say("A roof.")).step(message)
    assert told(store)[0] == ("user:ada", "What is this?\n[image]")


# -- sub-agents, and the hosts's plain agent ------------------------------------------------------------------------


def test_an_agent_that_a_coroutine_asks_is_known_as_a_sub_agent(store: Store) -> None:
    router = StoreRouter(store)
    sub = agent(router, Say("Tuesday evening."), memory=AssayAgentMemory(router, session="own", agent="sub"))

    async def ask(question: str) -> str:
        """Ask the other agent.

        Args:
            question (str): What to ask.
        """
        response: Any = await sub.astep(question)
        return str(response.msgs[0].content)

    main = agent(router, Call("ask", {"question": QUESTION}, "c1"), Say("It knows."), tools=[FunctionTool(ask)])
    said(main, "Find the evening", Entry.ASYNC)
    answer = next(one for one in held(store) if one.content == "Tuesday evening.")
    assert (answer.source, answer.session) == ("agent:sub", "s1")
    assert [text for source, text in told(store) if source.startswith("user")] == ["Find the evening"]


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_an_agent_whose_memory_works_for_another_is_a_sub_agent_in_any_thread(
    store: Store, entry: Entry, timeout: float | None
) -> None:
    """The host runs a step with a timeout, and the tools of a stream, in threads without context."""
    memory = AssayAgentMemory(store, user="ada", session="s1")
    sub = agent(store, Say("Tuesday evening."), memory=memory.sub("sub"))

    def ask() -> str:
        """Ask the other agent."""
        return str(said(sub, QUESTION)[0].msgs[0].content)

    settings: dict[str, Any] = {"memory": memory, "tools": [FunctionTool(ask)], "step_timeout": timeout}
    said(agent(store, Call("ask", {}, "c1"), Say("It knows."), **settings), "Find the evening", entry)
    # The call is handed to the worker of the store while the other agent, in its own thread, writes for itself.
    assert told(store)[0] == ("user:ada", "Find the evening")
    assert {*told(store)[1:3]} == {("agent", "ask {}"), ("agent:sub", "Tuesday evening.")}
    assert len({episode.run for episode in held(store)}) == 1


def test_an_agent_that_serves_another_person_is_in_that_persons_memory(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        bobs = agent(router, Say("Hello bob."), memory=AssayAgentMemory(router, user="bob", session="b1"))

        async def ask() -> str:
            """Ask for bob."""
            response: Any = await bobs.astep("Hello, I am bob")
            return str(response.msgs[0].content)

        said(agent(router, Call("ask", {}, "c1"), Say("Done."), tools=[FunctionTool(ask)]), FACT, Entry.ASYNC)
        with Store(router.path("ada")) as adas, Store(router.path("bob")) as bobs_store:
            assert "Hello, I am bob" not in [text for _, text in told(adas)]
            assert told(bobs_store) == [("user:bob", "Hello, I am bob"), ("agent", "Hello bob.")]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_plain_agent_of_the_host_is_recorded_and_briefed(store: Store, entry: Entry) -> None:
    said(agent(store, Say("Noted."), session="earlier"), FACT)
    options = SessionOptions(wrap=WrapPolicy.each_run().composed_by(lambda prompt: honest_document(prompt, about=FACT)))
    script = Script(Call("add", {"a": 1, "b": 2}, "c1"), Say("On Tuesday."))
    model = ScriptedModel(script)
    memory = AssayAgentMemory(store, session="s1", inner=history(model), options=options)
    plain = ChatAgent(SYSTEM, model, memory, tools=tools_of([*script.tools()]), stream_accumulate=False)  # type: ignore[arg-type]
    said(plain, QUESTION, entry)
    assert all(FACT in prompt.of("user")[-2] for prompt in script.prompts)
    assert [text for _, text in told(store)][2:] == [QUESTION, 'add {"a": 1, "b": 2}', "3", "On Tuesday."]
    assert not open_run(store) and store.continuity.version() == 1


def test_an_agent_without_a_session_is_named_by_its_id(store: Store) -> None:
    said(agent(store, Say("Noted."), memory=AssayAgentMemory(store), agent_id="helper-1"), FACT)
    assert {episode.session for episode in held(store)} == {"helper-1"}


def test_a_memory_says_early_what_it_lacks(tmp_path: Path, store: Store) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router, pytest.raises(MissingUser):
        AssayAgentMemory(router)
    with pytest.raises(ValueError, match="give the memory to an AssayChatAgent"):
        ChatAgent(SYSTEM, ScriptedModel(Script()), AssayAgentMemory(store))


def test_a_record_that_is_removed_stays_in_memory(store: Store) -> None:
    first = agent(store, Say("Noted."))
    said(first, FACT)
    assert [one.message.content for one in first.memory.pop_records(1)] == ["Noted."]
    assert [one.message.content for one in first.memory.remove_records_by_indices([1])] == [FACT]
    first.memory.clean_tool_calls()
    assert kept(first) == [("system", SYSTEM)]
    assert [text for _, text in told(store)] == [FACT, "Noted."]


def test_a_session_ends_when_the_caller_says_so(store: Store) -> None:
    for now, wait in ((False, False), (True, False), (True, True)):
        memory = AssayAgentMemory(store, session=f"s-{now}-{wait}")
        steps = [Say("Noted."), *[Compose(honest_document)] * 3]
        said(agent(store, *steps, memory=memory), f"The lights of hall {now}-{wait} are on")
        result = asyncio.run(memory.aend_session(now=now)) if wait else memory.end_session(now=now)
        assert result.status.value == ("committed" if now else "not_due")
        memory.close()


def test_a_step_after_the_memory_was_closed_goes_on_without_it(tmp_path: Path) -> None:
    memory = AssayAgentMemory(tmp_path / "own.db")
    for entry in Entry:
        first = agent(StoreRouter(tmp_path / "own.db"), Say("One."), Say("Two."), memory=memory)
        memory.close()
        assert said(first, FACT, entry)[-1].msgs
        memory = AssayAgentMemory(tmp_path / "own.db")
    memory.close()


def test_a_response_is_the_hosts_own(store: Store) -> None:
    assert isinstance(said(agent(store, Say("Noted.")), FACT)[0], ChatAgentResponse)
    record = MemoryRecord(message=BaseMessage.make_system_message("rules"), role_at_backend=OpenAIBackendRole.SYSTEM)
    agent(store).memory.write_record(record)
    assert len(held(store)) == 2
