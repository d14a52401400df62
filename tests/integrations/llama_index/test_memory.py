"""What LlamaIndex does with the memory of an agent, beyond the contract."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from llama_index_instrumentation import root_dispatcher
from llama_index_instrumentation.dispatcher import active_instrument_tags, instrument_tags
from workflows.errors import WorkflowCancelledByUser

from assay import Episode, Store
from assay.errors import StorageFailure
from assay.session import MissingUser, Placement, SessionOptions, StoreRouter, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import Call, Compose, Fail, FaultyStore, Say, Script
from assay.testing.composer import honest_document
from assay.testing.tapped import VERBS
from assay_integrations.llama_index import AssayMemory, session

from .harness import SYSTEM, UserEvents
from .scripted import scripted

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


class Answer(HumanResponseEvent):
    answer: str


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def agent(script: Script, *tools: Any, **settings: Any) -> FunctionAgent:
    made = [FunctionTool.from_defaults(tool) for tool in (*script.tools(), *tools)]
    return FunctionAgent(name="main", tools=[*made], llm=scripted(script), system_prompt=SYSTEM, **settings)


def memory(store: Any, session: str = "s1", **settings: Any) -> AssayMemory:
    return AssayMemory.from_defaults(store, session_id=session, **settings)


def ask(store: Any, text: Any, *steps: Any, **settings: Any) -> tuple[str, Script]:
    """Run an agent once in a session of its own; give its answer and its script."""
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)

    async def run() -> str:
        async with session(store, **{"session": "s1", **settings}) as memory:
            return str(await agent(script).run(text, memory=memory))

    return asyncio.run(run()), script


def open_run(store: Store, session: str = "s1") -> bool:
    with database_of(store).read() as reader:
        return bool(find_open_run(reader, session, None))


def test_a_memory_is_needed_on_every_run(store: Store) -> None:
    """A context of the host carries its state from run to run, and no memory."""
    ask(store, FACT, Say("Noted."), session="earlier")
    script = Script(Say("One."), Say("Two."))

    async def run() -> None:
        one = agent(script)
        context, kept = Context(one), memory(store)
        await one.run(QUESTION, memory=kept, ctx=context)
        again = Context.from_dict(one, context.to_dict())
        await one.run("And who told you?", ctx=again)

    with pytest.warns(Warning, match="memory"):
        asyncio.run(run())
    assert [FACT in prompt.text for prompt in script.prompts] == [True, False]
    assert "And who told you?" not in str(told(store))


def test_two_runs_with_one_memory_are_one_conversation(store: Store) -> None:
    ask(store, FACT, Say("Noted."), session="earlier")
    script = Script(Say("On Tuesday."), Say("Yes."))

    async def run() -> None:
        one, kept = agent(script), memory(store)
        await one.run(QUESTION, memory=kept)
        await one.run("Are you sure about the deploys?", memory=kept)

    asyncio.run(run())
    assert script.prompts[1].text.count("<memory-") == 1
    assert QUESTION in script.prompts[1].of("user")
    assert len({episode.run for episode in held(store) if episode.session == "s1"}) == 2


def test_outside_of_a_run_a_memory_gives_the_conversation_alone(store: Store) -> None:
    ask(store, FACT, Say("Noted."), session="earlier")

    async def run() -> list[ChatMessage]:
        kept = memory(store)
        await agent(Script(Say("On Tuesday."))).run(QUESTION, memory=kept)
        return await kept.aget()

    assert [message.content for message in asyncio.run(run())] == [QUESTION, "On Tuesday."]


def test_system_placement_gives_a_system_message_of_its_own(store: Store) -> None:
    ask(store, FACT, Say("Noted."), session="earlier")
    options = SessionOptions(placement=Placement.SYSTEM)
    _, script = ask(store, QUESTION, Call("add", {"a": 1, "b": 2}), Say("On Tuesday."), options=options)
    for prompt in script.prompts:
        system, recalled = prompt.of("system")
        assert system == SYSTEM and FACT in recalled
        assert prompt.of("user") == (QUESTION,)


def test_pictures_are_named_and_not_kept(store: Store) -> None:
    blocks = [TextBlock(text="What is this?"), ImageBlock(url="https://example.org/roof.png")]
    ask(store, ChatMessage(role="user", blocks=blocks), Say("A roof."))
    assert told(store)[0] == ("user", "What is this?\n[image]")


def test_a_tool_that_waits_for_a_person_is_recorded_once_and_has_not_failed(store: Store) -> None:
    """The host runs it again when the answer has come."""

    async def approve(ctx: Context, question: str) -> str:
        """Ask a person."""
        answer = await ctx.wait_for_event(Answer, waiter_id=question, waiter_event=InputRequiredEvent())
        return answer.answer

    # What the host looks for is the class, not its name.
    approve.__annotations__["ctx"] = Context
    script = Script(Call("approve", {"question": "Deploy?"}, "c7"), Say("Deployed."))

    async def run() -> str:
        async with session(store, session="s1", options=EACH_RUN) as kept:
            handler = agent(script, approve).run("Deploy it", memory=kept)
            async for event in handler.stream_events():
                if isinstance(event, InputRequiredEvent):
                    handler.ctx.send_event(Answer(answer="yes"))
            script.extend(Compose(honest_document))
            return str(await handler)

    assert asyncio.run(run()) == "Deployed."
    assert told(store) == [
        ("user", "Deploy it"),
        ("agent:main", 'approve {"question": "Deploy?"}'),
        ("tool:approve", "yes"),
        ("agent:main", "Deployed."),
    ]
    assert len({episode.run for episode in held(store)}) == 1


def test_a_cancelled_run_stays_open_and_is_no_failure(store: Store) -> None:
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return ""

    async def run() -> None:
        async with session(store, session="s1", options=EACH_RUN) as kept:
            handler = agent(Script(Call("wait", {}, "c1")), wait).run(FACT, memory=kept)
            while ("agent:main", "wait {}") not in told(store):
                await asyncio.sleep(0.01)
            await handler.cancel_run()
            with pytest.raises(WorkflowCancelledByUser):
                await handler

    asyncio.run(run())
    assert told(store) == [("user", FACT), ("agent:main", "wait {}")]
    assert open_run(store) and store.continuity.version() == 0


def test_a_run_that_reaches_its_limit_has_failed(store: Store) -> None:
    calls = [Call("add", {"a": 1, "b": number}, f"c{number}") for number in range(4)]

    async def run() -> None:
        async with session(store, session="s1") as kept:
            await agent(Script(*calls)).run("Add them all", memory=kept, max_iterations=3)

    with pytest.raises(Exception, match="Max iterations"):
        asyncio.run(run())
    failures = [episode for episode in held(store) if episode.success is False]
    assert [one.source for one in failures] == ["host:llama-index"]
    assert told(store)[-1][0] == "host:llama-index", "what was said before it is recorded before it"


def test_what_a_tool_returns_directly_is_not_recorded_as_the_agents_words(store: Store) -> None:
    def status() -> str:
        """Say how it is."""
        return "The build is green."

    tool = FunctionTool.from_defaults(status, return_direct=True)
    script = Script(Call("status", {}, "c1"))

    async def run() -> str:
        async with session(store, session="s1") as kept:
            one = FunctionAgent(name="main", tools=[tool], llm=scripted(script))
            return str(await one.run("How is it?", memory=kept))

    assert asyncio.run(run()) == "The build is green."
    assert told(store) == [("user", "How is it?"), ("agent:main", "status {}"), ("tool:status", "The build is green.")]
    assert not open_run(store)


def test_an_agent_that_serves_another_person_is_in_that_persons_memory(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:

        async def ask_for_bob() -> str:
            """Ask for bob."""
            async with session(router, user="bob", session="b1") as kept:
                return str(await agent(Script(Say("Hello bob."))).run("Hello, I am bob", memory=kept))

        async def run() -> None:
            async with session(router, user="ada", session="s1") as kept:
                await agent(Script(Call("ask_for_bob", {}, "c1"), Say("Done.")), ask_for_bob).run(FACT, memory=kept)

        asyncio.run(run())
        with Store(router.path("ada")) as adas, Store(router.path("bob")) as bobs:
            assert "Hello, I am bob" not in [text for _, text in told(adas)]
            assert told(bobs) == [("user:bob", "Hello, I am bob"), ("agent:main", "Hello bob.")]


def test_a_chat_engine_is_recorded_and_briefed(store: Store) -> None:
    """It has no runs: its memory is all that it has, and it is called from a thread without a loop."""
    ask(store, FACT, Say("Noted."), session="earlier")
    script = Script(Say("On Tuesday."), Say("Yes."))
    engine = SimpleChatEngine.from_defaults(llm=scripted(script), memory=memory(store))
    for text in (QUESTION, "Are you sure about the deploys?"):
        engine.chat(text)
    assert FACT in script.prompts[0].of("user")[-2]
    assert [text for _, text in told(store)][2:] == [
        QUESTION,
        "On Tuesday.",
        "Are you sure about the deploys?",
        "Yes.",
    ]
    assert not open_run(store)


def test_the_wrap_is_heard_by_listeners_as_a_call_of_no_run(store: Store) -> None:
    heard: list[tuple[str, Any]] = []

    class Listens(UserEvents):
        def handle(self, event: Any, **kwargs: Any) -> None:
            if event.class_name() == "LLMChatStartEvent":
                heard.append((str(event.messages[-1].content)[:20], event.tags.get("llamaindex.run_id")))

    dispatcher: Any = root_dispatcher
    before = dispatcher.event_handlers
    dispatcher.event_handlers = [*before, Listens(log=[])]
    try:
        ask(
            store,
            FACT,
            Say("Noted."),
            *[Compose(lambda prompt: honest_document(prompt, about=FACT))] * 3,
            options=EACH_RUN,
        )
    finally:
        dispatcher.event_handlers = before
    assert store.continuity.version() == 1
    asked, composed = (
        {run for text, run in heard if text.startswith("Deploys")},
        {run for text, run in heard if not text.startswith("Deploys")},
    )
    assert None not in asked and composed == {None}


def test_a_fault_reaches_the_log_though_the_host_swallows_what_its_handlers_raise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.WARNING, "assay.session"):
        answer, _ = ask(broken, FACT, Call("add", {"a": 1, "b": 2}), Say("Noted."))
    assert answer == "Noted."
    assert "memory fault" in caplog.text
    broken.close()


def test_our_handler_is_there_only_while_runs_are_heard_and_keeps_no_spans(store: Store) -> None:
    dispatcher: Any = root_dispatcher
    before = [*dispatcher.span_handlers]
    during: list[Any] = []

    def look() -> str:
        """Look."""
        during.extend(one for one in dispatcher.span_handlers if one not in before)
        return "seen"

    async def run() -> None:
        async with session(store, session="s1") as kept:
            await agent(Script(Call("look", {}, "c1"), Say("Done.")), look).run(FACT, memory=kept)

    asyncio.run(run())
    (ours,) = during
    assert [*dispatcher.span_handlers] == before
    assert (ours.open_spans, ours.completed_spans, ours.dropped_spans) == ({}, [], [])


def test_tags_of_the_users_own_stay_as_they_are(store: Store) -> None:
    seen: list[Any] = []

    async def look() -> str:
        """Look."""
        seen.append({name: tag for name, tag in active_instrument_tags.get().items() if not name.startswith("llama")})
        return "seen"

    async def run() -> None:
        with instrument_tags({"team": "billing"}):
            async with session(store, session="s1") as kept:
                await agent(Script(Call("look", {}, "c1"), Say("Done.")), look).run(FACT, memory=kept)

    asyncio.run(run())
    assert seen == [{"team": "billing"}]


def test_a_failed_run_does_not_wrap_and_its_error_is_the_callers(store: Store) -> None:
    error = ValueError("the provider is down")
    with pytest.raises(ValueError) as raised:
        ask(store, FACT, Fail(error), options=EACH_RUN)
    assert raised.value is error
    assert store.continuity.version() == 0


def test_a_run_that_is_given_a_history_alone_is_recorded_and_briefed(store: Store) -> None:
    ask(store, FACT, Say("Noted."), session="earlier")
    script = Script(Say("On Tuesday."))
    history = [ChatMessage(role="user", content=text) for text in ("Hello", QUESTION)]

    async def run() -> None:
        async with session(store, session="s1") as kept:
            await agent(script).run(chat_history=history, memory=kept)

    asyncio.run(run())
    assert FACT in script.prompts[0].of("user")[-2]
    assert [text for _, text in told(store)][2:] == [QUESTION, "On Tuesday."]


def test_a_run_that_fails_before_its_first_call_of_a_model_has_failed(store: Store) -> None:
    class Broken(BaseMemoryBlock[str]):
        async def _aget(self, *given: Any, **more: Any) -> str:
            raise LookupError("no such notes")

        async def _aput(self, messages: list[ChatMessage]) -> None: ...

    dispatcher: Any = root_dispatcher
    before = [*dispatcher.span_handlers]
    with pytest.raises(LookupError):
        ask(store, FACT, Say("Noted."), memory_blocks=[Broken(name="broken")])
    assert told(store) == [("user", FACT), ("host:llama-index", "run failed: LookupError: no such notes")]
    assert [*dispatcher.span_handlers] == before


def test_a_memory_says_early_that_a_user_is_missing(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router, pytest.raises(MissingUser):
        AssayMemory.from_defaults(router)


@pytest.mark.parametrize("wait", [False, True])
def test_a_session_ends_when_the_caller_says_so(store: Store, wait: bool) -> None:
    kept = memory(store)

    async def run() -> None:
        script = Script(Say("Noted."), *[Compose(honest_document)] * 3)
        await agent(script).run("The lights of the hall are on", memory=kept)

    asyncio.run(run())
    assert kept.end_session().status.value == "not_due"
    result = asyncio.run(kept.aend_session(now=True)) if wait else kept.end_session(now=True)
    assert result.status.value == "committed"
    kept.close()


def test_what_it_opened_it_closes(tmp_path: Path) -> None:
    ask(tmp_path / "own.db", FACT, Say("Noted."))
    with Store(tmp_path / "own.db") as store:
        assert [text for _, text in told(store)] == [FACT, "Noted."]
