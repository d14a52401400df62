"""Drives real agents of LlamaIndex for the contract: runs and their streams, its memory, spans and workflows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index_instrumentation import root_dispatcher

from assay.session import MissingUser, SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.llama_index import session

from .lists import Lists
from .scripted import scripted

__all__ = ["SYSTEM", "Built", "LlamaIndexHarness"]

SYSTEM = "You are a careful assistant."
STEPS = ("init_run", "setup_agent", "run_agent_step", "parse_agent_output", "call_tool", "aggregate_tool_results")

Opens = Callable[..., AbstractAsyncContextManager[Any]]


@dataclass
class Built:
    """An agent, how its sessions are opened, where its conversations are kept, and what the user's hooks wrote."""

    agent: Any
    opens: Callable[[SessionKey], AbstractAsyncContextManager[Any]]
    script: Script
    store: Lists
    log: list[str]
    hooks: list[Any] = field(default_factory=list[Any])
    contexts: dict[SessionKey, Any] = field(default_factory=dict[SessionKey, Any])


class LlamaIndexHarness:
    """The harness of LlamaIndex; `binding` opens the sessions under test."""

    entries = frozenset({Entry.ASYNC, Entry.ASTREAM})
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.llama_index"
    extra = "llama-index"
    framework = ("llama_index", "llama_index_instrumentation", "workflows")

    def __init__(self, binding: Opens = session) -> None:
        self._binding = binding

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        log, store = list[str](), Lists()
        blocks = [UserBlock(log=log)] if user_hooks else []

        def opens(key: SessionKey) -> AbstractAsyncContextManager[Any]:
            if memory is None:
                return _kept(_bare(key, memory_blocks=blocks), store)
            whose = {"user": key.user, "session": key.session}
            return _kept(self._binding(memory, options=options, memory_blocks=blocks, **whose), store)

        built = Built(_agent(script, opens, sub_agent=sub_agent), opens, script, store, log)
        built.hooks = [UserSpans(log=log), UserEvents(log=log)] if user_hooks else []
        return built

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        seen: list[Any] = []
        results: list[Any] = []
        error: BaseException | None = None
        try:
            asyncio.run(_run(agent, text, key, entry, seen, results))
        except MissingUser:  # of the session itself, before there is a run
            raise
        except BaseException as raised:
            error = raised
        chunks = [one.delta for one in seen if isinstance(one, AgentStream)] if entry.streams else []
        # What streams by itself is shown as it comes; which ids and times it carries is the host's.
        shown = [(type(one).__name__, str(getattr(one, "response", ""))) for one in seen]
        answer = str(results[0].response.content) if results else None
        return Outcome(answer, error, tuple(filter(None, chunks)), f"{shown} {results}")

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        chunks: list[str] = []

        async def take() -> None:
            async with agent.opens(key) as memory:
                handler = _started(agent, text, memory, streams=True)
                async for event in handler.stream_events():
                    if isinstance(event, AgentStream) and event.delta:
                        chunks.append(event.delta)
                        await handler.cancel_run()
                        break

        asyncio.run(take())
        return Outcome(chunks=tuple(chunks))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError("a saved context has no memory")

    def history(self, agent: Built, key: SessionKey) -> str:
        return str(asyncio.run(agent.store.get_messages(str(key.session))))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """What this host saves is the context of a workflow."""
        saved = Context(agent.agent).to_dict()
        agent.contexts[SessionKey()] = Context.from_dict(agent.agent, saved)
        return agent

    def detach(self, agent: Built) -> None:
        kept = agent.store
        agent.opens = lambda key: _kept(_bare(key), kept)

    def snapshot(self) -> object:
        """Who hears the host's dispatcher."""
        dispatcher: Any = root_dispatcher
        return [*map(id, dispatcher.span_handlers)], [*map(id, dispatcher.event_handlers)]


class UserBlock(BaseMemoryBlock[str]):
    """A block of the user's own; it writes down what it is asked."""

    name: str = "notes"
    log: list[str]

    def __init__(self, *, log: list[str]) -> None:
        super().__init__(name="notes", log=log)  # type: ignore[call-arg]
        self.log = log

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        self.log.append(f"block {[one.content for one in messages or []]} {block_kwargs}")
        return "Notes of the user."

    async def _aput(self, messages: list[ChatMessage]) -> None: ...


class UserSpans(BaseSpanHandler[BaseSpan]):
    """A tracer of the user's own; it writes down which steps begin and end."""

    log: list[str] = []  # noqa: RUF012

    def __init__(self, *, log: list[str]) -> None:
        super().__init__()
        self.log = log

    def new_span(self, id_: str, *given: Any, **more: Any) -> BaseSpan:
        self._note("enter", id_)
        return BaseSpan(id_=id_)

    def prepare_to_exit_span(self, id_: str, *given: Any, result: Any = None, **more: Any) -> BaseSpan | None:
        self._note(f"exit with {type(result).__name__}", id_)
        return self.open_spans.get(id_)

    def prepare_to_drop_span(self, id_: str, *given: Any, err: Any = None, **more: Any) -> BaseSpan | None:
        self._note(f"drop with {err!r}", id_)
        return self.open_spans.get(id_)

    def _note(self, what: str, id_: str) -> None:
        self.log.append(f"{what} {id_[:-37]}")


class UserEvents(BaseEventHandler):
    """A listener of the user's own; it writes down which events come."""

    log: list[str] = []  # noqa: RUF012

    def __init__(self, *, log: list[str]) -> None:
        super().__init__()
        self.log = log

    def handle(self, event: Any, **kwargs: Any) -> None:
        self.log.append(f"event {event.class_name()}")


async def _run(agent: Built, text: str, key: SessionKey, entry: Entry, seen: list[Any], results: list[Any]) -> None:
    dispatcher: Any = root_dispatcher
    spans, listeners = dispatcher.span_handlers, dispatcher.event_handlers
    dispatcher.span_handlers = [*spans, *agent.hooks[:1]]
    dispatcher.event_handlers = [*listeners, *agent.hooks[1:]]
    try:
        async with agent.opens(key) as memory:
            handler = _started(agent, text, memory, streams=entry.streams)
            stopper = asyncio.ensure_future(_stopped(agent.script, asyncio.current_task()))
            try:
                if entry.streams:
                    seen.extend([event async for event in handler.stream_events()])
                results.append(await handler)
            finally:
                stopper.cancel()
    finally:
        for one in agent.hooks[:1]:
            dispatcher.span_handlers = [other for other in dispatcher.span_handlers if other is not one]
        dispatcher.event_handlers = listeners


def _started(agent: Built, text: str, memory: Any, *, streams: bool) -> Any:
    one = agent.agent
    for each in [*one.agents.values()] if isinstance(one, AgentWorkflow) else [one]:
        each.streaming = streams
    context = agent.contexts.pop(SessionKey(), None)
    return one.run(text, memory=memory) if context is None else one.run(text, memory=memory, ctx=context)


async def _stopped(script: Script, caller: Any) -> None:
    """Cancel the caller of a run whose tool was cancelled: nobody else does that, and the host would wait for ever."""
    while not any(isinstance(one, asyncio.CancelledError) for one in script.raised):
        await asyncio.sleep(0.005)
    caller.cancel()


@asynccontextmanager
async def _bare(key: SessionKey, **settings: Any) -> AsyncGenerator[Memory]:
    yield Memory.from_defaults(session_id=key.session, **settings)


@asynccontextmanager
async def _kept(opened: AbstractAsyncContextManager[Any], store: Lists) -> AsyncGenerator[Any]:
    """Keep the messages where the next session of the same conversation finds them."""
    async with opened as memory:
        memory.sql_store = store
        yield memory


def _agent(script: Script, opens: Callable[[SessionKey], Any], *, sub_agent: bool) -> Any:
    tools = [FunctionTool.from_defaults(tool) for tool in script.tools()]
    given: dict[str, Any] = {"system_prompt": SYSTEM}
    if not sub_agent:
        return FunctionAgent(name="main", tools=[*tools], llm=scripted(script), **given)
    sub = FunctionAgent(name="sub", description="It knows.", tools=[*tools], llm=scripted(script, "sub"), **given)

    async def ask_sub(question: str) -> str:
        """Ask the other agent."""
        async with opens(SessionKey("ada", "of-sub")) as memory:
            return str(await sub.run(question, memory=memory))

    main = FunctionAgent(
        name="main",
        description="It asks.",
        tools=[*tools, FunctionTool.from_defaults(async_fn=ask_sub)],
        llm=scripted(script),
        can_handoff_to=["sub"],
        **given,
    )
    return AgentWorkflow(agents=[main, sub], root_agent="main")
