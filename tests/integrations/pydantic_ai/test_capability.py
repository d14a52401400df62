"""What Pydantic AI's own machinery does with the capability, beyond the contract."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import NoOpTracer, NoOpTracerProvider
from pydantic import BaseModel
from pydantic_ai import Agent, InstrumentationSettings, RunContext, capture_run_messages
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.exceptions import (
    CallDeferred,
    ModelRetry,
    SkipToolExecution,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
)
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ToolReturn,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.output import ToolOutput
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, Tool, ToolDenied
from pydantic_ai.usage import RunUsage, UsageLimits

from assay import Episode, Store
from assay.session import Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Fail, HandOff, Meet, Say, Script
from assay.testing.composer import honest_document
from assay.testing.script import Step
from assay_integrations.pydantic_ai import AssayCapability

from .harness import CLOSES_SYNC_STREAMS, SYSTEM
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
PICTURE = BinaryContent(b"\x89PNG" + b"\0" * 9_000, media_type="image/png")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(memory: Any, *steps: Any, tools: Any = (add,), capabilities: Any = None, **more: Any) -> Agent[Any, Any]:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    layers = [memory] if capabilities is None else capabilities
    given = {"instructions": SYSTEM, "name": "main", **more}
    return Agent(ScriptedModel(script), tools=list(tools), capabilities=layers, **given)


def run(agent: Agent[Any, Any], text: Any = QUESTION, **more: Any) -> Any:
    return asyncio.run(agent.run(text, **{"conversation_id": "c1", **more}))


def composes(script: Script) -> None:
    script.extend(Say(lambda prompt: honest_document(prompt.text, about=FACT)))


# -- how it is attached --------------------------------------------------------------------------------------------


def test_two_memories_of_one_agent_live_side_by_side(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "team.db") as team:
        run(agent(None, Say("Noted."), capabilities=[AssayCapability(store), AssayCapability(team)]), FACT)
        assert told(store) == told(team) == [("user", FACT), ("agent:main", "Noted.")]


def test_one_run_may_bring_it_along(store: Store) -> None:
    forgetful = agent(None, Say("Noted."), Say("Yes."), capabilities=[])
    run(forgetful, FACT, capabilities=[AssayCapability(store)])
    run(forgetful, "And now?")
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]


def test_a_spec_names_it_with_its_path(tmp_path: Path) -> None:
    spec = {"name": "main", "capabilities": [{"AssayCapability": str(tmp_path / "{user}.db")}]}
    model = ScriptedModel(Script(Say("Noted.")))
    built: Agent[Any, Any] = Agent.from_spec(spec, model=model, custom_capability_types=[AssayCapability])
    run(built, FACT, metadata={"user_id": "ada"})
    with StoreRouter(tmp_path / "{user}.db") as router, Store(router.path("ada")) as store:
        assert len(held(store)) == 2


def test_a_path_makes_a_store_and_closing_releases_it(tmp_path: Path) -> None:
    memory = AssayCapability(tmp_path / "new" / "memory.db")
    run(agent(memory, Say("Noted.")), FACT)
    memory.close()
    with Store(tmp_path / "new" / "memory.db") as store:
        assert len(held(store)) == 2


def test_closing_leaves_a_shared_router_open(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "memory.db") as router:
        AssayCapability(router).close()
        run(agent(AssayCapability(router), Say("Noted.")), FACT)
        with Store(tmp_path / "memory.db") as store:
            assert len(held(store)) == 2


def test_each_run_calls_the_hooks_of_an_object_of_its_own(store: Store) -> None:
    memory = AssayCapability(store)
    before = dict(vars(memory))
    run(agent(memory, Say("Noted.")), FACT)
    assert vars(memory) == before


# -- who and where -------------------------------------------------------------------------------------------------


@dataclass
class Deps:
    user_id: int


@pytest.mark.parametrize(
    ("deps", "metadata"),
    [
        (Deps(7), None),
        ({"user_id": 7}, None),
        (None, {"user_id": "7"}),
        (Deps(7), {"user_id": "other"}),
        ("7", {"user_id": 7}),
    ],
    ids=["deps object", "deps dict", "metadata", "deps before metadata", "deps of another kind"],
)
def test_the_user_is_found_where_the_app_keeps_it(tmp_path: Path, deps: Any, metadata: Any) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(agent(AssayCapability(router), Say("Noted.")), FACT, deps=deps, metadata=metadata)
        assert router.users() == ("7",)


def test_deps_that_cannot_be_asked_for_a_user_break_no_run(store: Store) -> None:
    class Sealed:
        @property
        def user_id(self) -> str:
            raise PermissionError("not here")

    assert run(agent(AssayCapability(store), Say("Noted.")), FACT, deps=Sealed()).output == "Noted."
    assert told(store) == []


def test_runs_without_a_conversation_are_sessions_of_their_own_even_at_once(store: Store) -> None:
    barrier = threading.Barrier(2)
    lanes: dict[str, list[Step]] = {
        text: [Meet(barrier), Call("add", {"a": 1, "b": 1}), Say(f"Done: {text}")] for text in ("one", "two")
    }
    both = agent(AssayCapability(store), Script(lanes=lanes))

    async def together() -> None:
        await asyncio.gather(*(both.run(text) for text in lanes))

    asyncio.run(together())
    by_session: dict[str | None, list[str]] = {}
    for episode in held(store):
        by_session.setdefault(episode.session, []).append(episode.content)
    expected = [[text, 'add {"a": 1, "b": 1}', "2", f"Done: {text}"] for text in lanes]
    assert sorted(by_session.values()) == sorted(expected)


def test_two_runs_of_one_conversation_at_once_do_not_mix(store: Store) -> None:
    barrier = threading.Barrier(2)
    lanes: dict[str, list[Step]] = {
        text: [Meet(barrier), Call("add", {"a": 1, "b": 1}), Say(f"Done: {text}")] for text in ("one", "two")
    }
    both = agent(AssayCapability(store), Script(lanes=lanes))

    async def together() -> None:
        await asyncio.gather(*(both.run(text, conversation_id="c1") for text in lanes))

    asyncio.run(together())
    runs: dict[str | None, list[str]] = {}
    for episode in held(store):
        runs.setdefault(episode.run, []).append(episode.content)
    expected = [[text, 'add {"a": 1, "b": 1}', "2", f"Done: {text}"] for text in lanes]
    assert sorted(runs.values()) == sorted(expected)


def test_a_conversation_goes_on_with_its_history(store: Store) -> None:
    talk = agent(AssayCapability(store), Say("Noted."), Say("Yes."))
    first = asyncio.run(talk.run(FACT))
    asyncio.run(talk.run("Again?", message_history=first.all_messages()))
    assert len({episode.session for episode in held(store)}) == 1
    assert len({episode.run for episode in held(store)}) == 2


def asks_sub(sub: Agent[Any, Any], **given: Any) -> Callable[..., Any]:
    async def ask(ctx: RunContext[Any], question: str) -> str:
        """Ask the sub-agent."""
        return str((await sub.run(question, **{"deps": ctx.deps, **given})).output)

    return ask


@pytest.mark.parametrize("conversation", ["c1", None])
def test_a_sub_agent_belongs_to_its_callers_session(store: Store, conversation: str | None) -> None:
    memory = AssayCapability(store)
    sub = Agent(ScriptedModel(Script(sub=[Say("Forty-two.")]), "sub"), capabilities=[memory], name="sub")
    steps = (Call("ask", {"question": "How many?"}), Say("It says forty-two."))
    run(agent(memory, *steps, tools=[asks_sub(sub)]), "Let it count", conversation_id=conversation)
    assert len({(episode.session, episode.run) for episode in held(store)}) == 1
    assert [source for source, text in told(store) if text == "Forty-two."] == ["agent:sub", "tool:ask"]
    assert [text for source, text in told(store) if source == "user"] == ["Let it count"]


def test_an_agent_that_a_tool_runs_for_another_person_is_in_that_persons_memory(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        memory = AssayCapability(router)
        sub = Agent(ScriptedModel(Script(sub=[Say("I will tell him.")]), "sub"), capabilities=[memory], name="sub")
        steps = (Call("ask", {"question": "Remind bob of the review"}), Say("Done."))
        tool = asks_sub(sub, deps={"user_id": "bob"})
        run(agent(memory, *steps, tools=[tool]), "Remind him", deps={"user_id": "ada"})
        with Store(router.path("bob")) as bobs, Store(router.path("ada")) as adas:
            assert told(bobs) == [("user:bob", "Remind bob of the review"), ("agent:sub", "I will tell him.")]
            assert "agent:sub" not in [source for source, _ in told(adas)]


def test_a_judge_in_an_output_validator_takes_nothing_over(store: Store) -> None:
    memory = AssayCapability(store)
    judge = Agent(ScriptedModel(Script(sub=[Say("It is polite.")]), "sub"), capabilities=[memory], name="judge")
    talk = agent(memory, Say("Good morning."))

    @talk.output_validator
    async def polite(output: str) -> str:
        await judge.run(output)
        return output

    run(talk, "Greet me")
    assert told(store) == [("user", "Greet me"), ("agent:main", "Good morning."), ("agent:judge", "It is polite.")]


def test_an_agent_that_an_output_function_runs_takes_over(store: Store) -> None:
    memory = AssayCapability(store)
    sub = Agent(ScriptedModel(Script(sub=[Say("On Tuesday.")]), "sub"), capabilities=[memory], name="sub")

    async def transfer(ctx: RunContext[Any], question: str) -> str:
        return str((await sub.run(ctx.prompt)).output)

    result = run(agent(memory, HandOff(), output_type=ToolOutput(transfer, name="transfer_to_sub")))
    assert result.output == "On Tuesday."
    assert told(store) == [("user", QUESTION), ("agent:main", "main -> sub"), ("agent:sub", "On Tuesday.")]


# -- what is recorded ----------------------------------------------------------------------------------------------


def test_a_retry_is_no_failure_and_says_what_the_tool_said(store: Store) -> None:
    def page(person: str) -> str:
        """Page a person."""
        raise ModelRetry(f"no answer from {person}")

    run(agent(AssayCapability(store), Call("page", {"person": "ada"}), Say("Nobody."), tools=[page]), "Page")
    assert told(store)[1:3] == [("agent:main", 'page {"person": "ada"}'), ("tool:page", "no answer from ada")]
    assert not [episode for episode in held(store) if episode.success is False]


def test_retries_that_are_used_up_end_the_run_with_one_failure(store: Store) -> None:
    def page() -> str:
        """Page."""
        raise ModelRetry("no answer")

    calls = [Call("page", {}, f"c{number}") for number in range(3)]
    with pytest.raises(UnexpectedModelBehavior):
        run(agent(AssayCapability(store), *calls, tools=[page]), "Page")
    assert [episode.success for episode in held(store)].count(False) == 1


def test_a_tool_that_is_skipped_gives_what_stands_for_its_result(store: Store) -> None:
    def page() -> str:
        """Page."""
        raise SkipToolExecution("It is night.")

    run(agent(AssayCapability(store), Call("page", {}), Say("Later."), tools=[page]), "Page")
    assert told(store)[2] == ("tool:page", "It is night.")


def test_a_call_that_is_denied_is_answered_so(store: Store) -> None:
    def delete(name: str) -> str:
        """Delete a file."""
        return "deleted"

    script = Script(Call("delete", {"name": "plan"}, "c1"), Say("I will not."))
    tools = [Tool(delete, requires_approval=True)]
    talk = agent(AssayCapability(store), script, tools=tools, output_type=[str, DeferredToolRequests])
    waiting = run(talk, "Delete it")
    results = DeferredToolResults(approvals={"c1": ToolDenied("Not today.")})
    run(talk, None, message_history=waiting.all_messages(), deferred_tool_results=results)
    assert told(store) == [
        ("user", "Delete it"),
        ("agent:main", 'delete {"name": "plan"}'),
        ("tool:delete", "Not today."),
        ("agent:main", "I will not."),
    ]


def test_arguments_that_do_not_validate_are_no_call(store: Store) -> None:
    calls = (Call("add", {"a": "one"}), Call("add", {"a": 1, "b": 2}, "c1"), Say("Three."))
    run(agent(AssayCapability(store), *calls), "Add")
    assert [text for _, text in told(store)] == ["Add", 'add {"a": 1, "b": 2}', "3", "Three."]


def test_a_limit_that_is_reached_is_a_failure_of_the_run(store: Store) -> None:
    calls = [Call("add", {"a": 1, "b": number}, f"c{number}") for number in range(3)]
    with pytest.raises(UsageLimitExceeded):
        run(agent(AssayCapability(store), *calls), "Add", usage_limits=UsageLimits(request_limit=2))
    assert told(store)[-1][0] == "host:pydantic-ai"
    assert held(store)[-1].success is False


def test_the_text_of_a_prompt_of_many_parts_is_kept_and_its_media_are_named(store: Store) -> None:
    prompt = ["What is this?", PICTURE, ImageUrl("data:image/png;base64," + "A" * 9_000)]
    script = Script(Say("A picture."))
    run(agent(AssayCapability(store), script), prompt)
    words, picture, link = told(store)[0][1].split("\n")
    assert (words, picture) == ("What is this?", f"[binary {PICTURE.identifier}]")
    assert link.startswith("[image-url ")
    assert len(link) < 40
    assert repr(prompt) in script.prompts[0].text, "the model still receives them"


def test_the_media_of_a_result_are_named_and_its_user_parts_are_not_the_persons(store: Store) -> None:
    def look() -> Any:
        """Look."""
        return ToolReturn("two people", content=["the camera says:", PICTURE])

    def snap() -> Any:
        """Take a picture."""
        return PICTURE

    store.record(FACT, session="earlier")
    script = Script(Call("look", {}), Call("snap", {}, "c1"), Say("Two."))
    run(agent(AssayCapability(store), script, tools=[look, snap]))
    assert [text for source, text in told(store) if source.startswith("tool:")] == [
        "two people",
        f"[binary {PICTURE.identifier}]",
    ]
    for prompt in script.prompts:
        users = prompt.of("user")
        assert FACT in users[0]
        assert users[1] == QUESTION


def test_tools_that_the_provider_runs_are_recorded(store: Store) -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        call = NativeToolCallPart("web_search", {"query": "deploys"}, tool_call_id="n1")
        found = NativeToolReturnPart("web_search", "They go out on Tuesday", tool_call_id="n1")
        return ModelResponse([call, found, TextPart("On Tuesday, I read.")])

    run(Agent(FunctionModel(answer), capabilities=[AssayCapability(store)], name="main"))
    assert told(store)[1:] == [
        ("agent:main", 'web_search {"query": "deploys"}'),
        ("tool:web_search", "They go out on Tuesday"),
        ("agent:main", "On Tuesday, I read."),
    ]


def test_a_structured_output_is_what_the_agent_said(store: Store) -> None:
    class Answer(BaseModel):
        day: str

    run(
        agent(AssayCapability(store), Call("answer", {"day": "Tuesday"}), output_type=ToolOutput(Answer, name="answer"))
    )
    assert told(store) == [("user", QUESTION), ("agent:main", '{"day": "Tuesday"}')]


def test_a_question_at_the_end_of_the_history_is_the_persons(store: Store) -> None:
    asked = [
        ModelRequest([UserPromptPart("Hello")]),
        ModelResponse([TextPart("Hi.")]),
        ModelRequest([UserPromptPart(FACT)]),
    ]
    run(agent(AssayCapability(store), Say("Noted.")), None, message_history=asked)
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]


def test_a_run_may_have_no_question(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("Nothing to do."))
    run(agent(AssayCapability(store), script), None)
    assert [source for source, _ in told(store)[1:]] == ["agent:main", "tool:add", "agent:main"]


# -- runs that stop and go on --------------------------------------------------------------------------------------


def upload(name: str) -> str:
    """Upload a file, which happens elsewhere."""
    raise CallDeferred()


def test_what_was_done_elsewhere_is_recorded_with_the_run_that_asked_for_it(tmp_path: Path) -> None:
    script = Script(Call("upload", {"name": "plan"}, "c1"))
    outputs: Any = {"tools": [upload, add], "output_type": [str, DeferredToolRequests]}
    with Store(tmp_path / "memory.db") as store:
        store.record(FACT, session="earlier")
        waiting = run(agent(AssayCapability(store, options=EACH_RUN), script, **outputs))
        assert isinstance(waiting.output, DeferredToolRequests)
        assert store.status().wraps == 0
    script.extend(Say("It is there."))
    composes(script)
    with Store(tmp_path / "memory.db") as store:
        later = agent(AssayCapability(store, options=EACH_RUN), script, **outputs)
        results = DeferredToolResults(calls={"c1": "uploaded"})
        run(later, None, message_history=waiting.all_messages(), deferred_tool_results=results)
        assert told(store)[1:] == [
            ("user", QUESTION),
            ("agent:main", 'upload {"name": "plan"}'),
            ("tool:upload", "uploaded"),
            ("agent:main", "It is there."),
        ]
        assert len({episode.run for episode in held(store)[1:]}) == 1
        assert store.status().wraps == 1
    assert FACT in script.prompts[1].text, "the resumed call is briefed as well"


def test_a_run_that_goes_on_with_another_question_is_another_run(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("upload", {"name": "plan"}, "c1"), Say("It is there."))
    talk = agent(AssayCapability(store), script, tools=[upload], output_type=[str, DeferredToolRequests])
    waiting = run(talk, "Upload it")
    results = DeferredToolResults(calls={"c1": "uploaded"})
    run(talk, QUESTION, message_history=waiting.all_messages(), deferred_tool_results=results)
    assert [text for source, text in told(store) if source == "user"] == ["Upload it", QUESTION]
    assert FACT in script.prompts[-1].of("user")[1]
    assert [text for source, text in told(store) if source == "tool:upload"] == ["uploaded"]


@pytest.mark.parametrize("way", ["iter", "run_stream_events", "event_stream_handler"])
def test_the_other_ways_to_run_an_agent_give_the_same(store: Store, way: str) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday, and three."))
    composes(script)
    talk = agent(AssayCapability(store, options=EACH_RUN), script)
    shown: list[object] = []

    async def heard(ctx: RunContext[Any], events: Any) -> None:
        shown.extend([event async for event in events])

    async def go() -> None:
        if way == "iter":
            async with talk.iter(QUESTION, conversation_id="c1") as steps:
                shown.extend([node async for node in steps])
        elif way == "run_stream_events":
            async with talk.run_stream_events(QUESTION, conversation_id="c1") as events:
                shown.extend([event async for event in events])
        else:
            await talk.run(QUESTION, conversation_id="c1", event_stream_handler=heard)

    asyncio.run(go())
    assert [text for _, text in told(store)[1:]] == [QUESTION, 'add {"a": 1, "b": 2}', "3", "On Tuesday, and three."]
    assert store.status().wraps == 1
    assert "Tuesday" in str(shown)
    assert "learned_fact" not in str(shown)


def test_steps_that_are_left_early_leave_the_run_open(store: Store) -> None:
    talk = agent(AssayCapability(store, options=EACH_RUN), Call("add", {"a": 1, "b": 2}), Say("Three."))

    async def go() -> None:
        async with talk.iter("Add", conversation_id="c1") as steps:
            async for node in steps:
                if Agent.is_call_tools_node(node):
                    break

    asyncio.run(go())
    assert told(store) == [("user", "Add")]
    assert store.status().wraps == 0


@pytest.mark.skipif(not CLOSES_SYNC_STREAMS, reason="this release drops the run of a sync stream by itself")
def test_a_sync_stream_that_is_not_closed_never_ends_its_run(store: Store) -> None:
    script = Script(Say("On Tuesday."), Say("Yes."))
    talk = agent(AssayCapability(store), script)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        stream = talk.run_stream_sync(QUESTION, conversation_id="c1")
        assert stream.get_output() == "On Tuesday."
        assert told(store) == [("user", QUESTION)]
        with stream:
            pass
        assert told(store) == [("user", QUESTION), ("agent:main", "On Tuesday.")]
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()


# -- what is injected ----------------------------------------------------------------------------------------------


def test_a_processor_of_the_history_neither_sees_nor_keeps_the_briefing(store: Store) -> None:
    seen: list[str] = []

    def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        seen.append(str(messages))
        return messages

    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    result = run(agent(None, script, capabilities=[AssayCapability(store), ProcessHistory(process)]))
    assert [prompt.text.count("<memory-") for prompt in script.prompts] == [1, 1]
    assert "<memory-" not in str([seen, result.all_messages()])


class Reminds(AbstractCapability[Any]):
    """A capability of the user's that adds a user part of its own."""

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        request_context.messages = [*request_context.messages, ModelRequest([UserPromptPart("Be brief.")])]
        return request_context


def test_the_briefing_stands_before_the_persons_own_words(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("On Tuesday."))
    run(agent(None, script, capabilities=[AssayCapability(store), Reminds()], system_prompt="Answer shortly."))
    users = script.prompts[0].of("user")
    assert FACT in users[0]
    assert users[1:] == (QUESTION, "Be brief.")
    assert [message.role for message in script.prompts[0].messages][:2] == ["system", "system"]


def test_placed_as_system_text_it_follows_the_hosts_own(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    result = run(agent(AssayCapability(store, options=SessionOptions(placement=Placement.SYSTEM)), script))
    for prompt in script.prompts:
        (system,) = prompt.of("system")
        assert system.startswith(f"{SYSTEM}\n\n<memory-")
        assert FACT in system
        assert prompt.of("user") == (QUESTION,)
    assert "<memory-" not in str(result.all_messages())


# -- the wrap ------------------------------------------------------------------------------------------------------


def test_a_wrap_is_in_no_count_of_the_host(store: Store) -> None:
    usage, script = RunUsage(), Script(Say("Noted."))
    composes(script)
    result = run(agent(AssayCapability(store, options=EACH_RUN), script), FACT, usage=usage)
    assert store.status().wraps == 1
    assert usage.requests == 1
    assert "learned_fact" not in str(result.all_messages())


def test_a_wrap_is_in_no_trace(store: Store) -> None:
    class Counting(NoOpTracer):
        def start_span(self, name: str, *args: Any, **kwargs: Any) -> Any:
            spans.append(name)
            return super().start_span(name, *args, **kwargs)

        def start_as_current_span(self, name: str, *args: Any, **kwargs: Any) -> Any:
            spans.append(name)
            return super().start_as_current_span(name, *args, **kwargs)

    class Provider(NoOpTracerProvider):
        def get_tracer(self, *args: Any, **kwargs: Any) -> Any:
            return Counting()

    traces: list[list[str]] = []
    Agent.instrument_all(InstrumentationSettings(tracer_provider=Provider()))
    try:
        for capabilities in ([], [AssayCapability(store, options=EACH_RUN)]):
            spans = list[str]()
            script = Script(Say("Noted."))
            composes(script)
            run(agent(None, script, capabilities=capabilities), FACT)
            traces.append(spans)
    finally:
        Agent.instrument_all(False)
    assert store.status().wraps == 1
    assert "chat scripted-main" in traces[0]
    assert traces[1] == traces[0]


def test_a_session_is_consolidated_when_the_host_says_so(store: Store) -> None:
    memory = AssayCapability(store)
    key = SessionKey(session="c1")
    script = Script(Say("Noted."))
    run(agent(memory, script), FACT)
    composes(script)
    assert asyncio.run(memory.aend_session(key)).status.value == "not_due"
    assert asyncio.run(memory.aend_session(key, now=True)).status.value == "committed"
    assert asyncio.run(memory.aend_session(key, now=True)).status.value == "empty"
    unknown = SessionKey(session="unknown")
    assert asyncio.run(memory.aend_session(unknown, now=True)).status.value == "not_due"


def test_a_sync_program_consolidates_as_well(store: Store) -> None:
    memory = AssayCapability(store)
    script = Script(Say("Noted."))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        agent(memory, script).run_sync(FACT, conversation_id="c1")
        composes(script)
        assert memory.end_session(SessionKey(session="c1"), now=True).status.value == "committed"
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()


def test_the_model_of_a_sub_agent_composes_nothing(store: Store) -> None:
    memory = AssayCapability(store, options=EACH_RUN)
    sub = Agent(ScriptedModel(Script(sub=[Say("Four.")]), "sub"), capabilities=[memory], name="sub")
    script = Script(Call("ask", {"question": "2+2"}), Say("It is four."))
    composes(script)
    run(agent(memory, script, tools=[asks_sub(sub)]), "Count")
    assert store.status().wraps == 1


def test_a_run_that_failed_goes_on_from_its_messages(store: Store) -> None:
    script = Script(Call("add", {"a": 1, "b": 2}), Fail(RuntimeError("down")))
    talk = agent(AssayCapability(store), script)
    with capture_run_messages() as messages, pytest.raises(RuntimeError):
        run(talk, "Add")
    script.extend(Say("Three."))
    run(talk, None, message_history=messages)
    assert [text for _, text in told(store)] == [
        "Add",
        'add {"a": 1, "b": 2}',
        "3",
        "run failed: RuntimeError: down",
        "Three.",
    ]
    assert len({episode.run for episode in held(store)}) == 1
