"""What the Agents SDK's own machinery does with the runner, beyond the contract."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelProvider,
    ModelSettings,
    OpenAIConversationsSession,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    RunErrorHandlerResult,
    RunHooks,
    RunState,
    SQLiteSession,
    ToolOutputImage,
    ToolOutputText,
    UserError,
    function_tool,
)
from agents.run import RunOptions
from pydantic import BaseModel

from assay import Episode, Store
from assay.session import Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Fail, HandOff, Meet, Say, Script
from assay.testing.composer import honest_document
from assay.testing.script import Step
from assay_integrations.openai_agents import AssayRunner
from assay_integrations.openai_agents.hooks import MemoryHooks
from assay_integrations.openai_agents.runner import RunArguments

from .harness import SYSTEM, on_a_loop
from .scripted import ScriptedModel
from .test_contract import TELLS_ERRORS

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
COMPOSED = Say(lambda prompt: honest_document(prompt.text, about=FACT))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def agent(*steps: Any, name: str = "main", lane: str = "main", **more: Any) -> Agent[Any]:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    return Agent(name, instructions=SYSTEM, model=ScriptedModel(script, lane), **more)


def run(memory: Any, starting: Agent[Any], given: Any = QUESTION, **arguments: Any) -> Any:
    runner = memory if isinstance(memory, AssayRunner) else AssayRunner(memory)
    arguments.setdefault("session", "s1")
    return asyncio.run(runner.run(starting, given, **arguments))


async def streamed(memory: Any, starting: Agent[Any], given: Any = QUESTION, **arguments: Any) -> list[Any]:
    result = AssayRunner(memory).run_streamed(starting, given, session="s1", **arguments)
    return [event async for event in result.stream_events()]


@function_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@function_tool
def boom() -> str:
    """Break."""
    raise RuntimeError("out of order")


# -- that nothing of the host is missed ----------------------------------------------------------------------------


def test_every_hook_of_the_host_is_handed_on_to_the_users_own() -> None:
    hooks = [name for name, _ in inspect.getmembers(RunHooks, inspect.isfunction) if name.startswith("on_")]
    assert hooks
    assert [name for name in hooks if name not in vars(MemoryHooks)] == []


def test_every_argument_of_the_hosts_runner_is_handed_on() -> None:
    ours = {*get_type_hints(RunArguments), "hooks", "run_config", "session"}
    assert {*get_type_hints(RunOptions)} <= ours
    for method in ("run", "run_sync", "run_streamed"):
        assert {"user", "session", "hooks", "run_config"} <= {
            *inspect.signature(getattr(AssayRunner, method)).parameters
        }


# -- who and where -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"session": "plain id"}, "plain id"),
        ({"session": SQLiteSession("host session")}, "host session"),
        ({"session": None, "conversation_id": "conv-7"}, "conv-7"),
        ({"session": None, "run_config": RunConfig(group_id="thread-9")}, "thread-9"),
        ({"session": None, "run_config": {"group_id": "thread-9"}}, "thread-9"),
        ({"session": "plain id", "run_config": RunConfig(group_id="thread-9")}, "plain id"),
    ],
    ids=["id", "session", "conversation", "group", "group in a dict", "id before group"],
)
def test_a_session_has_the_name_that_the_host_knows(store: Store, arguments: Any, named: str) -> None:
    run(store, agent(Say("Noted.")), FACT, **arguments)
    assert {episode.session for episode in held(store)} == {named}
    if isinstance(arguments["session"], SQLiteSession):
        arguments["session"].close()


def test_a_conversation_that_has_no_id_yet_is_a_session_of_its_own(store: Store) -> None:
    class Unmade(OpenAIConversationsSession):
        async def get_items(self, *given: Any, **more: Any) -> Any:
            return []

        async def add_items(self, *given: Any, **more: Any) -> None:
            return None

    run(store, agent(Say("Noted.")), FACT, session=Unmade(openai_client=object()))  # type: ignore[arg-type]
    assert [text for _, text in told(store)] == [FACT, "Noted."]
    assert {str(episode.session)[:5] for episode in held(store)} == {"auto:"}


def test_the_items_are_kept_by_the_hosts_own_session_and_not_recorded_again(store: Store) -> None:
    script, session = Script(Say("Noted."), Say("On Tuesday.")), SQLiteSession("s1")
    run(store, agent(script), FACT, session=session)
    run(store, agent(script), QUESTION, session=session)
    session.close()
    users = [text for text in script.prompts[1].of("user") if "<memory-" not in text]
    assert users == [FACT, QUESTION], "the host's history is in the prompt"
    assert [text for _, text in told(store)] == [FACT, "Noted.", QUESTION, "On Tuesday."]


def test_runs_without_a_session_are_sessions_of_their_own_even_at_once(store: Store) -> None:
    barrier = threading.Barrier(2)
    lanes: dict[str, list[Step]] = {
        text: [Meet(barrier), Call("add", {"a": 1, "b": 1}, text), Say(f"Done: {text}")] for text in ("one", "two")
    }
    both, runner = agent(Script(lanes=lanes), tools=[add]), AssayRunner(store)
    threads = [threading.Thread(target=run, args=(runner, both, text), kwargs={"session": None}) for text in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    by_session: dict[str | None, list[str]] = {}
    for episode in held(store):
        by_session.setdefault(episode.session, []).append(episode.content)
    expected = [[text, 'add {"a": 1, "b": 1}', "2", f"Done: {text}"] for text in lanes]
    assert sorted(by_session.values()) == sorted(expected)


def test_a_path_makes_a_store_and_closing_releases_it(tmp_path: Path) -> None:
    runner = AssayRunner(tmp_path / "new" / "memory.db")
    run(runner, agent(Say("Noted.")), FACT)
    runner.close()
    with StoreRouter(tmp_path / "new" / "memory.db") as router:
        AssayRunner(router).close()
        run(router, agent(Say("I see.")), "A shared router stays open")
    with Store(tmp_path / "new" / "memory.db") as store:
        assert len(held(store)) == 4


# -- what is recorded ----------------------------------------------------------------------------------------------


def test_of_a_conversation_that_is_handed_over_whole_only_the_end_is_new(store: Store) -> None:
    given = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "How can I help?"},
        {
            "role": "user",
            "content": [{"type": "input_image", "image_url": "data:,"}, {"type": "input_text", "text": "This."}],
        },
        {"role": "developer", "content": "The screen is small."},
        {"role": "user", "content": QUESTION},
    ]
    run(store, agent(Say("On Tuesday.")), given)
    assert told(store) == [("user", "[image]\nThis."), ("user", QUESTION), ("agent:main", "On Tuesday.")]


def test_pictures_are_named_and_not_dumped(store: Store) -> None:
    @function_tool
    def look() -> list[Any]:
        """Look."""
        return [ToolOutputText(text="A cat."), ToolOutputImage(image_url="data:image/png;base64,AAAA")]

    run(store, agent(Call("look", {}), Say("A cat."), tools=[look]), "Look")
    assert ("tool:look", "A cat.\n[image]") in told(store)


def test_a_tool_that_is_to_end_the_run_leaves_one_failure(store: Store) -> None:
    @function_tool(failure_error_function=None)
    def fatal() -> str:
        """Break."""
        raise RuntimeError("out of order")

    with pytest.raises(UserError, match="out of order"):
        run(store, agent(Call("fatal", {}), tools=[fatal]), "Break it")
    assert [source for source, _ in told(store)] == ["user", "agent:main", "host:openai_agents"]
    assert "out of order" in told(store)[-1][1]
    assert held(store)[-1].success is False


@pytest.mark.parametrize("step", [Fail(RuntimeError("down")), Call("add", {"a": 1, "b": 2})], ids=["model", "turns"])
def test_a_stream_that_fails_is_recorded_before_its_reader_is_told(store: Store, step: Step) -> None:
    known = step.error if isinstance(step, Fail) else None
    with pytest.raises((RuntimeError, MaxTurnsExceeded)) as raised:
        asyncio.run(streamed(store, agent(step, tools=[add]), max_turns=1))
    assert known is None or raised.value is known
    assert [episode.success for episode in held(store)].count(False) == 1
    assert held(store)[-1].content.startswith("run failed: ")


def test_a_turn_limit_that_the_user_handles_is_an_end(store: Store) -> None:
    handlers = {"max_turns": lambda given: RunErrorHandlerResult(final_output="I gave up.")}
    done = run(store, agent(Call("add", {"a": 1, "b": 2}), tools=[add]), max_turns=1, error_handlers=handlers)
    assert done.final_output == "I gave up."
    assert told(store)[-1] == ("agent:main", "I gave up.")
    assert [episode for episode in held(store) if episode.success is False] == []


def test_what_a_guardrail_rejects_is_no_failure_and_is_not_remembered(store: Store) -> None:
    async def reject(*given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    script = Script(Say("The password is hunter2."))
    guarded = agent(script, output_guardrails=[OutputGuardrail(guardrail_function=reject)])
    with pytest.raises(OutputGuardrailTripwireTriggered):
        run(AssayRunner(store, options=EACH_RUN), guarded)
    guarded = agent(Say("Sure."), input_guardrails=[InputGuardrail(guardrail_function=reject, run_in_parallel=False)])
    with pytest.raises(InputGuardrailTripwireTriggered):
        run(AssayRunner(store, options=EACH_RUN), guarded, "Off topic")
    assert told(store) == [("user", QUESTION), ("user", "Off topic")]
    assert len({episode.run for episode in held(store)}) == 2
    assert store.status().wraps == 0


def test_the_output_of_a_tool_that_ends_the_run_is_what_the_agent_said(store: Store) -> None:
    done = run(store, agent(Call("add", {"a": 1, "b": 2}), tools=[add], tool_use_behavior="stop_on_first_tool"))
    assert done.final_output == "3"
    assert [source for source, _ in told(store)] == ["user", "agent:main", "tool:add", "agent:main"]


def test_a_structured_output_is_recorded_as_the_model_wrote_it(store: Store) -> None:
    class Answer(BaseModel):
        day: str

    done = run(store, agent(Say('{"day": "Tuesday"}'), output_type=Answer))
    assert done.final_output == Answer(day="Tuesday")
    assert told(store) == [("user", QUESTION), ("agent:main", '{"day": "Tuesday"}')]


# -- approval ------------------------------------------------------------------------------------------------------


def asking() -> Agent[Any]:
    @function_tool(needs_approval=True)
    def deploy(service: str) -> str:
        """Deploy."""
        return f"{service} is out"

    return agent(SCRIPT, tools=[deploy])


SCRIPT = Script()


def test_an_approved_run_goes_on_in_another_process(tmp_path: Path) -> None:
    SCRIPT.extend(Call("deploy", {"service": "billing"}, "c1"))
    with Store(tmp_path / "memory.db") as store:
        store.record(FACT, session="earlier")
        waiting = run(store, asking())
        saved = json.dumps(waiting.to_state().to_json())
        assert len(held(store)) == 2

    async def go_on(memory: Store) -> Any:
        state = await RunState.from_json(asking(), json.loads(saved))
        for interruption in state.get_interruptions():
            state.approve(interruption)
        return await AssayRunner(memory).run(asking(), state, session="s1")

    SCRIPT.extend(Say("It is out."))
    with Store(tmp_path / "memory.db") as store:
        assert asyncio.run(go_on(store)).final_output == "It is out."
        ours = held(store)[1:]
        assert [episode.content for episode in ours] == [
            QUESTION, 'deploy {"service": "billing"}', "billing is out", "It is out.",
        ]  # fmt: skip
        assert len({episode.run for episode in ours}) == 1
    assert FACT in SCRIPT.prompts[1].text, "the resumed call is briefed as well"


def test_what_is_said_with_a_call_that_waits_is_recorded(store: Store) -> None:
    class Says(ScriptedModel):
        async def get_response(self, *given: Any, **more: Any) -> Any:
            calls = await super().get_response(*given, **more)
            said = await ScriptedModel(Script(Say("I am about to deploy."))).get_response(None, "")
            return replace(calls, output=[*said.output, *calls.output])

    waiting = asking()
    waiting.model = Says(Script(Call("deploy", {"service": "billing"}, "c3")))
    assert run(store, waiting).interruptions
    assert told(store) == [("user", QUESTION), ("agent:main", "I am about to deploy.")]


def test_a_call_that_a_person_rejects_is_no_failure(store: Store) -> None:
    SCRIPT.extend(Call("deploy", {"service": "billing"}, "c2"), Say("Then not."))
    state = run(store, asking()).to_state()
    state.reject(state.get_interruptions()[0])
    assert run(store, asking(), state).final_output == "Then not."
    assert told(store) == [("user", QUESTION), ("agent:main", "Then not.")]


# -- agents within agents ------------------------------------------------------------------------------------------


def test_an_agent_as_a_tool_is_briefed_and_its_inner_events_are_not_recorded(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(
        Call("ask", {"input": QUESTION}, "c1"),
        Say("The other one knows."),
        sub=[Call("boom", {}, "c2"), Say("It is Tuesday.")],
    )
    sub = agent(script, name="sub", lane="sub", tools=[boom])
    run(store, agent(script, tools=[sub.as_tool("ask", "Ask the other one.")]), "Let the other one say")
    inner = [prompt for prompt in script.prompts if prompt.agent == "sub"]
    assert [prompt.text.count("<memory-") for prompt in inner] == [1, 1]
    assert inner[0].of("user")[-1] == QUESTION
    assert told(store)[1:] == [
        ("user", "Let the other one say"),
        ("agent:main", f'ask {{"input": "{QUESTION}"}}'),
        ("tool:ask", "It is Tuesday."),
        ("agent:main", "The other one knows."),
    ]


@pytest.mark.parametrize("session", ["s1", None])
def test_a_run_inside_a_tool_belongs_to_its_callers_session(store: Store, session: str | None) -> None:
    runner = AssayRunner(store, options=EACH_RUN)
    script = Script(
        Call("ask", {"question": "How many?"}), Say("It says forty-two."), COMPOSED, sub=[Say("Forty-two.")]
    )

    @function_tool
    async def ask(question: str) -> str:
        """Ask the other one."""
        return str((await runner.run(agent(script, name="sub", lane="sub"), question)).final_output)

    run(runner, agent(script, tools=[ask]), "Let it count", session=session)
    assert len({(episode.session, episode.run) for episode in held(store)}) == 1
    assert [source for source, text in told(store) if text == "Forty-two."] == ["agent:sub", "tool:ask"]
    assert [text for source, text in told(store) if source == "user"] == ["Let it count"]
    assert store.status().wraps == 1


def test_tools_are_recorded_under_the_agent_that_took_over(store: Store) -> None:
    script = Script(HandOff("sub"), sub=[Call("add", {"a": 1, "b": 2}), Say("Three.")])
    sub = agent(script, name="sub", lane="sub", tools=[add])
    asyncio.run(streamed(store, agent(script, handoffs=[sub]), "Add"))
    assert told(store) == [
        ("user", "Add"),
        ("agent:main", "main -> sub"),
        ("agent:sub", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent:sub", "Three."),
    ]


# -- the user's own hooks ------------------------------------------------------------------------------------------


def test_a_hook_of_the_user_that_raises_ends_the_run_as_it_would(store: Store) -> None:
    error = OSError("the user's log is full")

    class Raises(RunHooks[Any]):
        async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
            raise error

    with pytest.raises(OSError) as raised:
        run(store, agent(Say("Noted.")), hooks=Raises())
    assert raised.value is error
    assert [episode.success for episode in held(store)].count(False) == 1


def test_the_briefing_is_added_to_what_the_users_filter_leaves(store: Store) -> None:
    store.record(FACT, session="earlier")
    seen: list[int] = []

    async def newest(data: Any) -> Any:
        seen.append(len(data.model_data.input))
        data.model_data.input = data.model_data.input[-1:]
        return data.model_data

    script = Script(Say("On Tuesday."))
    given = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": QUESTION},
    ]
    run(store, agent(script), given, run_config={"call_model_input_filter": newest})
    assert seen == [3]
    (prompt,) = script.prompts
    assert [message.role for message in prompt.messages] == ["system", "user", "user"]
    assert prompt.of("user")[1] == QUESTION


def test_a_filter_of_the_user_that_gives_nonsense_fails_as_it_would(store: Store) -> None:
    with pytest.raises(UserError, match="ModelInputData"):
        run(store, agent(Say("?")), run_config=RunConfig(call_model_input_filter=lambda data: 7))  # type: ignore[arg-type, return-value]


@pytest.mark.skipif(not TELLS_ERRORS, reason="before 0.24 the host asks no formatter about a tool that fails")
def test_the_users_formatter_words_an_error_that_is_recorded_as_it_was(store: Store) -> None:
    script = Script(Call("boom", {}), Say("It is out of order."))
    config = RunConfig(tool_error_formatter=lambda args: "Try again tomorrow.")
    run(store, agent(script, tools=[boom]), run_config=config)
    assert script.prompts[1].of("tool") == ("Try again tomorrow.",)
    assert ("tool:boom", "boom failed: RuntimeError: out of order") in told(store)
    assert "Try again tomorrow." not in [text for _, text in told(store)]


# -- what is injected ----------------------------------------------------------------------------------------------


def test_placed_as_system_text_it_follows_the_hosts_own(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("On Tuesday."))
    run(AssayRunner(store, options=SessionOptions(placement=Placement.SYSTEM)), agent(script))
    (system,), users = script.prompts[0].of("system"), script.prompts[0].of("user")
    assert system.startswith(f"{SYSTEM}\n\n<memory-")
    assert FACT in system
    assert users == (QUESTION,)


# -- the wrap ------------------------------------------------------------------------------------------------------


class Provider(ModelProvider):
    """Knows one model by name."""

    def __init__(self, script: Script) -> None:
        self.asked: list[str | None] = []
        self.closed = 0
        self._script = script

    def get_model(self, model_name: str | None) -> ScriptedModel:
        self.asked.append(model_name)
        return ScriptedModel(self._script)

    async def aclose(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("chosen", ["by the agent", "by the run"])
def test_the_model_that_the_host_would_resolve_composes(store: Store, chosen: str) -> None:
    provider = Provider(Script(Say("Noted."), COMPOSED))
    config = RunConfig(model_provider=provider, model="scripted-1" if chosen == "by the run" else None)
    noting = Agent("main", model="scripted-1" if chosen == "by the agent" else "another")
    run(AssayRunner(store, options=EACH_RUN), noting, FACT, run_config=config)
    assert set(provider.asked) == {"scripted-1"}
    assert store.status().wraps == 1
    assert provider.closed == 0, "a provider that the user made is the user's to close"


def test_settings_that_are_meant_for_answers_do_not_shape_the_continuity(store: Store) -> None:
    given: list[ModelSettings] = []

    class Notes(ScriptedModel):
        async def get_response(self, *rest: Any, **more: Any) -> Any:
            given.append(more.get("model_settings") or rest[2])
            return await super().get_response(*rest, **more)

    settings = ModelSettings(temperature=0.1, max_tokens=50, tool_choice="auto", parallel_tool_calls=True)
    noting = Agent("main", model=Notes(Script(Say("Noted."), COMPOSED)), model_settings=settings)
    run(AssayRunner(store, options=EACH_RUN), noting, FACT)
    assert given[1] == ModelSettings(temperature=0.1)


def test_a_session_is_consolidated_when_the_host_says_so(store: Store) -> None:
    runner, key = AssayRunner(store), SessionKey(session="s1")
    run(runner, agent(Say("Noted."), COMPOSED, COMPOSED), FACT)
    statuses: list[str] = []

    def end() -> None:
        for unknown, now in ((False, False), (False, True), (True, True)):
            ended = runner.end_session(SessionKey(session="unknown") if unknown else key, now=now)
            statuses.append(ended.status.value)

    on_a_loop(end)
    assert statuses == ["not_due", "committed", "not_due"]
    assert asyncio.run(runner.aend_session(key, now=True)).status.value == "empty"


def test_a_stream_that_is_stopped_after_a_turn_waits_for_its_next(store: Store) -> None:
    async def stop() -> None:
        result = AssayRunner(store, options=EACH_RUN).run_streamed(
            agent(Call("add", {"a": 1, "b": 2}), tools=[add]), "Add", session="s1"
        )
        async for _ in result.stream_events():
            result.cancel(mode="after_turn")

    asyncio.run(stop())
    assert [text for _, text in told(store)] == ["Add", 'add {"a": 1, "b": 2}', "3"]
    assert store.status().wraps == 0


def test_a_stream_that_is_cancelled_before_it_begins_leaves_no_task_behind(store: Store) -> None:
    async def cancel() -> None:
        result = AssayRunner(store).run_streamed(agent(Say("Noted.")), FACT, session="s1", run_config=RunConfig())
        result.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancel())
    assert held(store) == []


def test_a_sync_run_inside_a_loop_is_refused_as_by_the_host(store: Store) -> None:
    async def inside() -> None:
        AssayRunner(store).run_sync(agent(Say("?")), "Hello", session="s1")

    with pytest.raises(RuntimeError, match="event loop is already running"):
        asyncio.run(inside())
