"""Drives real agents of AG2 for the contract: `ask`, `run` with its stream, `resume`, and agents run as tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ag2 import Agent, AgentReply, AgentSpec, MemoryStream, Middleware, observer
from ag2.annotations import Context
from ag2.events import (
    BaseEvent,
    ModelMessageChunk,
    ModelRequest,
    ModelResponse,
    ToolCallEvent,
    ToolResultEvent,
    ToolResultsEvent,
)
from ag2.middleware import AgentTurn, BaseMiddleware, LLMCall, ToolExecution, ToolResultType
from ag2.middleware.base import MiddlewareFactory
from ag2.tools.final.client_tool import ClientTool
from ag2.tools.subagents.run_task import run_task
from fast_depends import dependency_provider

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.autogen.ag2 import AssayMiddleware

from .scripted import ScriptedModel

__all__ = ["SYSTEM", "AG2Harness", "Built"]

SYSTEM = "You are a careful assistant."
_APPROVE = {
    "type": "function",
    "function": {
        "name": "approve",
        "description": "Ask a person for approval.",
        "parameters": {"type": "object", "properties": {"question": {"type": "string"}}},
    },
}


@dataclass
class Built:
    """An agent, with what makes it anew with other middleware, its conversations, and what the hooks wrote."""

    agent: Agent
    make: Callable[[Sequence[MiddlewareFactory]], Agent]
    available: Sequence[Any]
    middleware: Sequence[MiddlewareFactory]
    log: list[str]
    threads: dict[SessionKey, MemoryStream] = field(default_factory=dict[SessionKey, MemoryStream])


class AG2Harness:
    """The harness of AG2; `binding` makes the middleware under test."""

    entries = frozenset({Entry.ASYNC, Entry.ASTREAM})
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.autogen.ag2"
    extra = "ag2"
    framework = ("ag2", "fast_depends")

    def __init__(self, binding: Callable[..., MiddlewareFactory] = AssayMiddleware) -> None:
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
        log = list[str]()
        tools: list[Any] = [*script.tools(), ClientTool(_APPROVE)]
        hears = [observer(ModelResponse, _heard(log))] if user_hooks else []

        def make(ours: Sequence[MiddlewareFactory]) -> Agent:
            middleware = [_user("first", log), *ours, _user("last", log)] if user_hooks else [*ours]
            inner = [
                _ask(Agent("sub", SYSTEM, config=ScriptedModel(script, "sub"), tools=script.tools(), middleware=ours))
            ]
            given = [*tools, *(inner if sub_agent else [])]
            return Agent(
                "main", SYSTEM, config=ScriptedModel(script), tools=given, middleware=middleware, observers=hears
            )

        ours = [] if memory is None else [self._binding(memory, options=options)]
        return Built(make(ours), make, tools, ours, log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        given = _given(agent, key)

        async def ask(chunks: list[str]) -> AgentReply:
            async def take(event: ModelMessageChunk) -> None:
                chunks.append(event.content)

            if not entry.streams:
                return await agent.agent.ask(text, **given)
            run = agent.agent.run(text, **given)
            async with run:
                with run.stream.where(ModelMessageChunk).sub_scope(take):
                    await run.result()
            return await run.result()

        return _outcome(given["stream"], ask)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        given = _given(agent, key)

        async def take() -> str:
            async with agent.agent.run(text, **given) as run:
                with run.stream.where(ModelMessageChunk).join() as events:
                    run.start()
                    async for event in events:
                        assert isinstance(event, ModelMessageChunk)
                        return event.content
            return ""

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        given = _given(agent, key)

        async def go_on(chunks: list[str]) -> AgentReply:
            events = list(await given["stream"].history.get_events())
            calls = next(event.tool_calls.calls for event in reversed(events) if isinstance(event, ModelResponse))
            results = ToolResultsEvent([ToolResultEvent.from_call(call, value) for call in calls])
            return await agent.agent.resume(*events, results, **given)

        return _outcome(given["stream"], go_on)

    def history(self, agent: Built, key: SessionKey) -> str:
        stream = agent.threads.get(key)
        return "" if stream is None else "\n".join(map(repr, asyncio.run(_events(stream))))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """What this host saves is a spec; whoever loads it brings tools, model and middleware along."""
        saved = AgentSpec.from_agent(agent.agent).model_dump_json()
        loaded = AgentSpec.model_validate_json(saved).to_agent(
            available_tools=agent.available, config=agent.agent.config, middleware=agent.middleware
        )
        return Built(loaded, agent.make, agent.available, agent.middleware, agent.log, agent.threads)

    def detach(self, agent: Built) -> None:
        agent.agent = agent.make([])

    def snapshot(self) -> object:
        """What can be put in the place of a dependency is all that this host keeps globally."""
        return dict(dependency_provider.overrides)


class UserMiddleware(BaseMiddleware):
    """Hooks of the user's own in every place where ours are; they write down what they are told."""

    def __init__(self, event: BaseEvent, context: Context, label: str, log: list[str]) -> None:
        super().__init__(event, context)
        self._note: Callable[[str], None] = lambda text: log.append(f"{label} {text}")

    async def on_turn(self, call_next: AgentTurn, event: BaseEvent, context: Context) -> ModelResponse:
        self._note(f"turn {event} {sorted(map(str, context.variables))}")
        response = await call_next(event, context)
        self._note(f"turn gave {response}")
        return response

    async def on_llm_call(self, call_next: LLMCall, events: Sequence[BaseEvent], context: Context) -> ModelResponse:
        kinds = [type(event).__name__ for event in events]
        asked = [str(event) for event in events if isinstance(event, ModelRequest)]
        self._note(f"model {kinds} {asked} {context.prompt}")
        response = await call_next(events, context)
        self._note(f"model gave {response}")
        return response

    async def on_tool_execution(
        self, call_next: ToolExecution, event: ToolCallEvent, context: Context
    ) -> ToolResultType:
        self._note(f"tool {event}")
        result = await call_next(event, context)
        self._note(f"tool gave {result}")
        return result


def _user(label: str, log: list[str]) -> MiddlewareFactory:
    return Middleware(UserMiddleware, label=label, log=log)


def _heard(log: list[str]) -> Callable[[ModelResponse], None]:
    def hear(event: ModelResponse) -> None:
        log.append(f"observer {event}")

    return hear


def _ask(sub: Agent) -> Callable[..., Awaitable[str]]:
    async def ask_sub(question: str, context: Context) -> str:
        """Ask the other agent."""
        return str((await run_task(sub, question, parent_context=context)).result)

    return ask_sub


def _given(agent: Built, key: SessionKey) -> dict[str, Any]:
    named = {"user_id": key.user, "session_id": key.session}
    stream = agent.threads.setdefault(key, MemoryStream())
    return {"stream": stream, "variables": {name: value for name, value in named.items() if value is not None}}


async def _events(stream: MemoryStream) -> list[BaseEvent]:
    return list(await stream.history.get_events())


def _outcome(stream: MemoryStream, run: Callable[[list[str]], Awaitable[AgentReply]]) -> Outcome:
    chunks, seen = list[str](), list[str]()

    async def hear(event: BaseEvent) -> None:
        seen.append(repr(event))

    async def watched() -> AgentReply:
        with stream.sub_scope(hear):
            reply = await run(chunks)
            seen.append(str(await reply.usage()))
            return reply

    try:
        reply = asyncio.run(watched())
    except BaseException as error:
        return Outcome(error=error, chunks=tuple(chunks), seen="\n".join(seen))
    waits = bool(reply.response.tool_calls.calls)
    return Outcome(None if waits else reply.body, None, tuple(chunks), "\n".join(seen), interrupted=waits)
