"""Drives real agents of Haystack for the contract: `run` and `run_async`, their streaming callbacks, and hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.hooks import Hook, HookPoint
from haystack.hooks.protocol import VALID_HOOK_POINTS
from haystack.tools import ComponentTool
from haystack.tools.from_function import create_tool_from_function
from haystack.tools.tool import Tool
from haystack.tracing.tracer import tracer

from assay.session import MissingUser, SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.haystack import AssayHook, AssayTracer, session
from assay_integrations.haystack.hooks import At

from .scripted import scripted

__all__ = ["Block", "Built", "Context", "HaystackHarness", "Traced", "agent_of", "tools_of"]

Around = tuple[AbstractContextManager[Any], dict[str, Any]]


def Block(memory: AssayHook, key: SessionKey) -> Around:
    """Say whose a run is by a block around it."""
    return session(memory, user=key.user, session=key.session), {}


def Context(memory: AssayHook, key: SessionKey) -> Around:
    """Say it by the `hook_context` of the run."""
    return nullcontext(), {"hook_context": {"user_id": key.user, "session_id": key.session}}


def Traced(memory: AssayHook, key: SessionKey) -> Around:
    """Say it so, with a tracer that sees how runs fail."""
    return AssayTracer(), Context(memory, key)[1]


@dataclass
class Built:
    """An agent, its memory, what the user's hooks wrote, and the conversations that its caller keeps."""

    agent: Agent
    memory: AssayHook | None
    log: list[str] | None
    histories: dict[SessionKey, list[ChatMessage]] = field(default_factory=dict[SessionKey, list[ChatMessage]])


class HaystackHarness:
    """The harness of Haystack; `door` says whose a run is."""

    entries = frozenset(Entry)
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.haystack"
    extra = "haystack"
    framework = ("haystack",)

    def __init__(
        self, door: Callable[[AssayHook, SessionKey], Around] = Block, hook: type[AssayHook] = AssayHook
    ) -> None:
        self._door = door
        self._hook = hook
        self._agents: list[Agent] = []

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        tools = tools_of(script)
        log: list[str] | None = [] if user_hooks else None
        if sub_agent:
            sub = agent_of(script, "sub")
            if memory is not None:
                self._hook(memory, agent="sub", options=options).attach(sub)
            self._agents.append(sub)
            tools.append(_asking(sub))
        hooks: dict[HookPoint, list[Hook]] = {} if log is None else {p: [_Log(p, log)] for p in VALID_HOOK_POINTS}
        agent = agent_of(script, tools=tools, hooks=hooks)
        self._agents.append(agent)
        attached = None if memory is None else self._hook(memory, options=options)
        if attached is not None:
            attached.attach(agent)
        return Built(agent, attached, log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        chunks: list[str] = []
        callback = _hear(entry, lambda chunk: chunks.append(_shown(chunk))) if entry.streams else None
        return self._outcome(agent, text, key, entry, callback, chunks)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        """Stop at the first piece: the host gives pieces to a callback, and has nothing that could be closed."""
        chunks: list[str] = []

        def take(chunk: StreamingChunk) -> None:
            chunks.append(_shown(chunk))
            task = asyncio.current_task() if entry.awaits else None
            if task is None:
                raise KeyboardInterrupt
            task.cancel()

        return self._outcome(agent, text, key, entry, _hear(entry, take), chunks)

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError("a run does not wait")

    def history(self, agent: Built, key: SessionKey) -> str:
        return "\n".join(map(str, agent.histories.get(key, [])))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log or ())

    def save_and_load(self, agent: Built) -> Built:
        return Built(agent.agent.clone(), agent.memory, agent.log)

    def detach(self, agent: Built) -> None:
        if agent.memory is not None:
            agent.memory.close()
        agent.memory = None

    def snapshot(self) -> object:
        """Give what of ours hangs on the agents that were built, and the tracer of the program."""
        hooks = [hook for agent in self._agents for listed in agent.hooks.values() for hook in listed]
        return tracer.actual_tracer, [hook for hook in hooks if isinstance(hook, At)]

    def _outcome(
        self, agent: Built, text: str, key: SessionKey, entry: Entry, callback: Any, chunks: list[str]
    ) -> Outcome:
        history = agent.histories.setdefault(key, [])
        around, given = (nullcontext(), {}) if agent.memory is None else self._door(agent.memory, key)
        messages, result = [*history, ChatMessage.from_user(text)], None
        error: BaseException | None = None
        try:
            with around:
                result = _ran(agent.agent, entry, messages, {**given, "streaming_callback": callback})
        except MissingUser:
            raise
        except BaseException as raised:
            error = raised
        if result is None:
            return Outcome(None, error, tuple(chunks))
        agent.histories[key] = result["messages"]
        return Outcome(result["last_message"].text, error, tuple(chunks), str(result))


def agent_of(script: Script, name: str = "main", **more: Any) -> Agent:
    more.setdefault("tools", tools_of(script))
    return Agent(chat_generator=scripted(script, name), system_prompt="You help.", **more)


def tools_of(script: Script) -> list[Tool]:
    return [create_tool_from_function(function) for function in script.tools()]


def _ran(agent: Agent, entry: Entry, messages: list[ChatMessage], given: dict[str, Any]) -> dict[str, Any]:
    if entry.awaits:
        return asyncio.run(agent.run_async(messages, **given))
    return agent.run(messages, **given)


def _asking(sub: Agent) -> Tool:
    return ComponentTool(
        sub,
        name="ask_sub",
        description="Ask the other agent.",
        parameters={"type": "object", "properties": {"messages": {"type": "array"}}},
        outputs_to_string={"source": "last_message", "handler": _answer},
    )


def _answer(message: ChatMessage) -> str:
    return str(message.text)


def _hear(entry: Entry, hear: Callable[[StreamingChunk], None]) -> Callable[[StreamingChunk], Any]:
    async def ahear(chunk: StreamingChunk) -> None:
        hear(chunk)
        await asyncio.sleep(0)

    return ahear if entry.awaits else hear


def _shown(chunk: StreamingChunk) -> str:
    return f"{chunk.content}{chunk.tool_calls or ''}{chunk.tool_call_result or ''}"


class _Log:
    """A hook of the user's own: it writes down what it is shown."""

    def __init__(self, point: str, log: list[str]) -> None:
        self.point = point
        self.log = log

    def run(self, state: State) -> None:
        shown = [str(message) for message in state.data["messages"]]
        self.log.append(f"{self.point} {state.data['step_count']} {state.data['exit_reason']} {shown}")

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Hook:
        raise NotImplementedError
