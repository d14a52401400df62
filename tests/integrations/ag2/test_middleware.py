"""What AG2's own machinery does with the middleware, beyond the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ag2 import Agent, AgentReply, MemoryStream, Middleware, TaskConfig, tool
from ag2.annotations import Context
from ag2.config import LLMClient
from ag2.context import ConversationContext
from ag2.events import (
    BaseEvent,
    BinaryInput,
    BuiltinToolCallEvent,
    BuiltinToolResultEvent,
    DataInput,
    ImageInput,
    ModelMessageChunk,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolResult,
    ToolResultEvent,
    ToolResultsEvent,
)
from ag2.exceptions import AG2Error
from ag2.middleware import BaseMiddleware, ConditionalMiddleware, RetryMiddleware, ToolExecution, ToolResultType
from ag2.tools import WebSearchTool
from ag2.tools.final.client_tool import ClientTool

from assay import Store
from assay.session import Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Compose, Fail, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.autogen.ag2 import AssayMiddleware, AssayPlugin

from .scripted import ScriptedModel

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


def agent(*steps: Any, memory: Any = None, name: str = "main", tools: Sequence[Any] = (add,), **more: Any) -> Agent:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    ours = [] if memory is None else [memory if callable(memory) else AssayMiddleware(memory)]
    more = {"middleware": ours, **more}
    return Agent(name, "You are careful.", config=ScriptedModel(script), tools=tools, **more)


def ask(agent: Agent, *words: Any, user: str | None = "ada", session: str | None = "s1", **more: Any) -> AgentReply:
    named = {"user_id": user, "session_id": session}
    variables = {name: value for name, value in named.items() if value is not None}
    return asyncio.run(agent.ask(*(words or (QUESTION,)), variables=variables, **more))


async def events_of(reply: AgentReply) -> list[BaseEvent]:
    return list(await reply.history.get_events())


# -- how it is attached --------------------------------------------------------------------------------------------


def test_one_middleware_serves_many_agents_at_once(store: Store) -> None:
    memory = AssayMiddleware(store)
    one, two = agent(Say("One."), memory=memory, name="one"), agent(Say("Two."), memory=memory, name="two")

    async def both() -> None:
        await asyncio.gather(one.ask("To one"), two.ask("To two"))

    asyncio.run(both())
    sessions = {episode.session: set[str]() for episode in store.episodes.list()}
    for episode in store.episodes.list():
        sessions[episode.session].add(episode.content)
    assert sorted(map(sorted, sessions.values())) == [["One.", "To one"], ["To two", "Two."]]


def test_it_may_come_with_one_turn_or_under_a_condition(store: Store) -> None:
    ask(agent(Say("Noted.")), FACT, middleware=[AssayMiddleware(store)])
    conditional = ConditionalMiddleware(AssayMiddleware(store), BaseEvent)
    ask(agent(Say("Again."), memory=conditional), "Once more", session="s2")
    assert [text for _, text in told(store)] == [FACT, "Noted.", "Once more", "Again."]


def test_the_plugin_brings_memory_and_tools(store: Store) -> None:
    plugin = AssayPlugin(store)
    mine = agent(Call("remember", {"text": FACT}), Say("Kept."), tools=(), plugins=[plugin])
    ask(mine, "Keep it")
    assert [text for _, text in told(store)] == ["Keep it", FACT, "Kept."]
    script = Script(Call("recall", {"query": QUESTION}), Say("On Tuesday."))
    ask(agent(script, tools=(), plugins=[plugin]), "Hello", session="s2")
    assert FACT in script.prompts[-1].of("tool")[0]
    plugin.memory.close()


def test_closing_leaves_a_shared_router_open(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "memory.db") as router:
        AssayMiddleware(router).close()
        ask(agent(Say("Noted."), memory=AssayMiddleware(router)), FACT)
        with Store(tmp_path / "memory.db") as store:
            assert len(told(store)) == 2


# -- who and where -------------------------------------------------------------------------------------------------


def test_the_session_is_the_stream_unless_a_variable_names_it(store: Store) -> None:
    stream = MemoryStream()
    ask(agent(Say("Noted."), memory=store), FACT, session=None, stream=stream)
    ask(agent(Say("Noted."), memory=store), "Another", session="monday")
    assert [session for session, _ in runs(store)] == [str(stream.id), "monday"]


def test_a_reply_that_goes_on_keeps_session_and_user(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        mine = agent(Say("Noted."), Say("Yes."), memory=AssayMiddleware(router))

        async def twice() -> None:
            reply = await mine.ask(FACT, variables={"user_id": "ada"})
            await reply.ask("Really?")

        asyncio.run(twice())
        with Store(router.path("ada")) as store:
            assert [text for _, text in told(store)] == [FACT, "Noted.", "Really?", "Yes."]
            assert len({session for session, _ in runs(store)}) == 1


def test_two_turns_on_one_stream_are_two_runs_one_after_the_other(store: Store) -> None:
    stream, mine = MemoryStream(), agent(Say("First."), Say("Second."), memory=store)

    async def both() -> None:
        await asyncio.gather(mine.ask("One", stream=stream), mine.ask("Two", stream=stream))

    asyncio.run(both())
    assert [text for _, text in told(store)] == ["One", "First.", "Two", "Second."]
    assert len(runs(store)) == 2


def test_an_agent_as_a_tool_belongs_to_its_callers_session_and_never_wraps(store: Store) -> None:
    memory = AssayMiddleware(store, options=EACH_RUN)
    sub = agent(Say("Four."), memory=memory, name="helper", tools=())
    script = Script(Call("task_helper", {"objective": "2+2"}), Say("Four, it says."), Compose(honest_document))
    ask(agent(script, memory=memory, tools=[sub.as_tool(description="Counts.")]), "Let it count")
    assert len(runs(store)) == 1
    assert told(store) == [
        ("user:ada", "Let it count"),
        ("agent:main", 'task_helper {"objective": "2+2"}'),
        ("agent:helper", "Four."),
        ("tool:task_helper", "Four."),
        ("agent:main", "Four, it says."),
    ]


def test_an_agent_that_serves_another_user_is_in_that_users_memory(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        memory = AssayMiddleware(router)
        inner = agent(Say("For bob."), memory=memory, name="inner", tools=())

        async def serve_bob() -> str:
            """Serve bob."""
            return str((await inner.ask("Bob asks", variables={"user_id": "bob"})).body)

        ask(agent(Call("serve_bob", {}), Say("Served."), memory=memory, tools=[serve_bob]), "Serve him")
        with Store(router.path("bob")) as store:
            assert told(store) == [("user:bob", "Bob asks"), ("agent:inner", "For bob.")]
        with Store(router.path("ada")) as store:
            assert "Bob asks" not in [text for _, text in told(store)]


def test_a_bare_subtask_is_seen_as_a_tool_alone(store: Store) -> None:
    """Its agent is made by the host, without middleware: it is neither briefed nor recorded."""
    store.record(FACT)
    script = Script(Call("run_subtask", {"task": QUESTION}), Say("On some day."), Say("It does not know."))
    ask(agent(script, memory=store, tasks=TaskConfig()))
    assert [FACT in prompt.text for prompt in script.prompts] == [True, False, True]
    assert [source for source, _ in told(store)[1:]] == ["user:ada", "agent:main", "tool:run_subtask", "agent:main"]


# -- what is said --------------------------------------------------------------------------------------------------


def test_media_are_named_and_data_is_text(store: Store) -> None:
    parts = (TextInput("Look"), ImageInput("https://example.org/a.png"), DataInput({"a": 1}))
    binary = BinaryInput(b"secret bytes", media_type="image/png", vendor_metadata={"filename": "b.png"})
    ask(agent(Say("Seen."), memory=store), *parts, binary)
    assert told(store)[0][1] == 'Look\n[image https://example.org/a.png]\n{"a": 1}\n[image/png b.png]'


def test_what_lands_in_the_inbox_is_not_taken_for_the_persons_words(store: Store) -> None:
    """A task in the background and a caller put their messages into the same one."""
    script = Script(Call("start", {}), Say("It is done."))

    async def start(context: Context) -> str:
        """Start something."""
        context.enqueue("The job has ended.")
        return "started"

    ask(agent(script, memory=store, tools=[start]), "Start it")
    assert "The job has ended." in script.prompts[-1].text
    assert told(store) == [
        ("user:ada", "Start it"),
        ("agent:main", "start {}"),
        ("tool:start", "started"),
        ("agent:main", "It is done."),
    ]


def test_a_retry_of_the_model_is_no_failure(store: Store) -> None:
    retry = RetryMiddleware(max_retries=1)
    script = Script(Fail(ConnectionError("down")), Say("Back again."))
    ask(agent(script, middleware=[AssayMiddleware(store), retry]), "Hello")
    assert told(store) == [("user:ada", "Hello"), ("agent:main", "Back again.")]


def test_the_system_may_be_where_the_briefing_stands(store: Store) -> None:
    store.record(FACT)
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    options = SessionOptions(placement=Placement.SYSTEM)
    reply = ask(agent(script, memory=AssayMiddleware(store, options=options)))
    for prompt in script.prompts:
        assert prompt.of("system")[0] == "You are careful." and FACT in prompt.of("system")[1]
        assert prompt.of("user") == (QUESTION,)
    assert reply.context.prompt == ["You are careful."]


# -- tools ---------------------------------------------------------------------------------------------------------


class ProviderModel(ScriptedModel):
    """A model whose provider runs a tool of its own before it answers."""

    def create(self) -> LLMClient:
        inner = super().create()

        class Client(LLMClient):
            async def __call__(self, messages: Any, context: ConversationContext, **more: Any) -> ModelResponse:
                call = BuiltinToolCallEvent("web_search", id="b1", arguments='{"query": "deploys"}')
                await context.send(call)
                await context.send(BuiltinToolResultEvent.from_call(call, result="A page says Tuesday."))
                return await inner(messages, context, **more)

        return Client()


def test_a_tool_that_the_provider_runs_is_recorded(store: Store) -> None:
    config = ProviderModel(Script(Say("On Tuesday.")))
    ask(Agent("main", config=config, tools=[WebSearchTool()], middleware=[AssayMiddleware(store)]), "When?")
    assert told(store) == [
        ("user:ada", "When?"),
        ("agent:main", 'web_search {"query": "deploys"}'),
        ("tool:web_search", "A page says Tuesday."),
        ("agent:main", "On Tuesday."),
    ]


def test_a_call_of_a_tool_that_does_not_exist_is_a_failure(store: Store) -> None:
    ask(agent(Call("fly", {}), Say("I cannot."), memory=store), "Fly")
    (failed,) = [episode for episode in store.episodes.list() if episode.success is False]
    assert failed.source == "tool:fly" and "ToolNotFoundError" in failed.content


def test_a_tool_that_a_guard_of_its_own_stops_has_failed(store: Store) -> None:
    async def stop(call_next: ToolExecution, event: ToolCallEvent, context: Context) -> ToolResultType:
        raise PermissionError("not today")

    ask(agent(Call("add", {"a": 1, "b": 2}), Say("No."), memory=store, tools=[tool(add, middleware=[stop])]), "Add")
    (failed,) = [episode for episode in store.episodes.list() if episode.success is False]
    assert failed.content == "add failed: PermissionError: not today"


def test_a_question_that_nobody_answers_is_one_failure(store: Store) -> None:
    """Newer releases end the turn with it, older ones tell the model."""

    async def decide(context: Context) -> str:
        """Ask a person."""
        return await context.input("Deploy?")

    with suppress(AG2Error):
        ask(agent(Call("decide", {}), Say("Nobody is there."), memory=store, tools=[decide]), "Deploy it")
    (failed,) = [episode for episode in store.episodes.list() if episode.success is False]
    assert "HumanInput" in failed.content


def test_a_result_of_several_parts_keeps_its_text(store: Store) -> None:
    def chart() -> ToolResult:
        """Draw a chart."""
        return ToolResult("As asked", BinaryInput(b"png", media_type="image/png"))

    ask(agent(Call("chart", {}), Say("There."), memory=store, tools=[chart]), "Draw")
    assert ("tool:chart", "As asked\n[image/png]") in told(store)


def test_arguments_that_are_no_json_are_recorded_as_they_are(store: Store) -> None:
    class Careless(ScriptedModel):
        def create(self) -> LLMClient:
            inner = super().create()

            class Client(LLMClient):
                async def __call__(self, messages: Any, context: ConversationContext, **more: Any) -> ModelResponse:
                    response = await inner(messages, context, **more)
                    for call in response.tool_calls.calls:
                        call.arguments = "{broken"
                    return response

            return Client()

    config = Careless(Script(Call("add", {"a": 1, "b": 2}), Say("Sorry.")))
    ask(Agent("main", config=config, tools=[add], middleware=[AssayMiddleware(store)]), "Add")
    assert ("agent:main", "add {broken") in told(store)
    assert [episode.success for episode in store.episodes.list()].count(False) == 1


def test_a_client_runs_a_tool_and_resumes_in_another_process(tmp_path: Path) -> None:
    schema = {"type": "function", "function": {"name": "approve", "description": "", "parameters": {"type": "object"}}}
    with StoreRouter(tmp_path / "memory.db") as router:
        steps = (Call("approve", {"what": "deploy"}, "c7"),)
        waits = agent(*steps, memory=AssayMiddleware(router, options=EACH_RUN), tools=[ClientTool(schema)])
        events = asyncio.run(events_of(ask(waits, "Deploy it")))
    with StoreRouter(tmp_path / "memory.db") as router:
        script = Script(Say("Deployed."), Compose(honest_document))
        later = agent(script, memory=AssayMiddleware(router, options=EACH_RUN), tools=[ClientTool(schema)])
        results = ToolResultsEvent([ToolResultEvent(parent_id="c7", name="approve", result=ToolResult("yes"))])
        named = {"user_id": "ada", "session_id": "s1"}
        reply = asyncio.run(later.resume(*events, results, variables=named))
        assert reply.body == "Deployed."
        with Store(tmp_path / "memory.db") as store:
            assert [text for _, text in told(store)] == ["Deploy it", 'approve {"what": "deploy"}', "yes", "Deployed."]
            assert len(runs(store)) == 1
            assert store.status().wraps == 1


# -- the user's own ------------------------------------------------------------------------------------------------


def test_a_prompt_of_the_users_own_is_still_made(store: Store) -> None:
    script = Script(Say("Noted."))
    mine = agent(script, memory=store)

    @mine.prompt
    def today() -> str:
        return "It is Monday."

    ask(mine, FACT)
    assert script.prompts[0].of("system") == ("You are careful.", "It is Monday.")


def test_middleware_outside_ours_sees_the_history_alone(store: Store) -> None:
    store.record(FACT)
    seen: list[str] = []

    class Looks(BaseMiddleware):
        async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> ModelResponse:
            seen.extend(map(str, events))
            response: ModelResponse = await call_next(events, context)
            return response

    script = Script(Say("On Tuesday."))
    ask(agent(script, middleware=[Middleware(Looks), AssayMiddleware(store)]))
    assert FACT in script.prompts[0].text and FACT not in "".join(seen)


# -- consolidation -------------------------------------------------------------------------------------------------


def test_a_session_is_ended_by_whoever_knows_that_it_is_over(store: Store) -> None:
    script = Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
    memory = AssayMiddleware(store)
    ask(agent(script, memory=memory), FACT)
    assert memory.end_session(SessionKey("ada", "s1")).status.value == "not_due"
    assert memory.end_session(SessionKey("ada", "s1"), now=True).status.value == "committed"
    assert FACT in store.continuity.text()


def test_what_the_wrap_streams_reaches_no_one(store: Store) -> None:
    chunks: list[str] = []
    script = Script(Say("Noted."), Compose(honest_document))
    mine = agent(script, memory=AssayMiddleware(store, options=EACH_RUN))

    async def watched() -> int | float | None:
        async def take(event: ModelMessageChunk) -> None:
            chunks.append(event.content)

        async with mine.run(FACT, variables={"user_id": "ada"}) as run:
            with run.stream.where(ModelMessageChunk).sub_scope(take):
                await run.result()
        return (await (await run.result()).usage()).total.completion_tokens

    assert asyncio.run(watched()) == 1
    assert chunks == ["Noted."] and store.status().wraps == 1


def test_a_model_that_fails_to_compose_changes_nothing_for_the_turn(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(Say("Noted."), Fail(ConnectionError("down")))
    assert ask(agent(script, memory=AssayMiddleware(store, options=EACH_RUN)), FACT).body == "Noted."
    assert store.status().wraps == 0
    assert "memory fault wrap" in caplog.text
