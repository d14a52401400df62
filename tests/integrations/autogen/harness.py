"""Drives real agents of AutoGen for the contract: `run` and `run_stream` of an agent, and of a swarm."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult, TaskRunner
from autogen_agentchat.conditions import FunctionalTermination
from autogen_agentchat.messages import ModelClientStreamingChunkEvent, TextMessage
from autogen_agentchat.teams import Swarm
from autogen_core.memory import ListMemory, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext, UnboundedChatCompletionContext
from autogen_core.models import LLMMessage

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay.testing.stage import ADA
from assay_integrations.autogen.agentchat import session
from assay_integrations.autogen.agentchat.running import SessionMemory

from .scripted import ScriptedClient

__all__ = ["SYSTEM", "AutoGenHarness", "Built", "Person"]

SYSTEM = "You are a careful assistant."

Opens = Callable[..., AbstractContextManager[SessionMemory]]


@dataclass
class Person:
    """One user's conversation: the agents that serve it, what they are run through, and what ends it."""

    main: AssistantAgent
    runner: TaskRunner
    memory: SessionMemory | None
    stack: ExitStack


@dataclass
class Built:
    """What it takes to make the agents of a conversation: this host's agents hold one each."""

    make: Callable[[SessionKey, bool], Person]
    log: list[str]
    people: dict[SessionKey, Person] = field(default_factory=dict[SessionKey, Person])
    remembers: bool = True

    def of(self, key: SessionKey) -> Person:
        if key not in self.people:
            self.people[key] = self.make(key, self.remembers)
        return self.people[key]


class AutoGenHarness:
    """The harness of AutoGen; `binding` opens the memory under test."""

    entries = frozenset({Entry.ASYNC, Entry.ASTREAM})
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.autogen.agentchat"
    extra = "autogen"
    framework = ("autogen_agentchat", "autogen_core", "pydantic", "typing_extensions")

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
        log = list[str]()

        def make(key: SessionKey, remembers: bool) -> Person:
            stack, ours = ExitStack(), None
            client = ScriptedClient(script)
            if memory is not None and remembers:
                named = {"user": key.user, "session": key.session}
                ours = stack.enter_context(self._binding(memory, client=client, options=options, **named))
            main, runner = _agents(script, client, ours, log if user_hooks else None, sub_agent=sub_agent)
            return Person(main, runner, ours, stack)

        return Built(make, log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        person = agent.of(key)
        chunks, seen = list[str](), list[str]()

        async def run() -> TaskResult:
            if not entry.streams:
                return await _run(person, text)
            last: Any = None
            async for last in _run_stream(person, text):
                if isinstance(last, ModelClientStreamingChunkEvent):
                    chunks.append(last.content)
                else:
                    seen.append(repr(last))
            return last  # type: ignore[no-any-return]

        try:
            result = asyncio.run(_cancellable(run()))
        except BaseException as error:
            return Outcome(error=error, chunks=tuple(chunks), seen="\n".join(seen))
        answer = getattr(result.messages[-1], "content", "")
        return Outcome(str(answer), None, tuple(chunks), "\n".join([*seen, repr(result)]))

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        person = agent.of(key)

        async def take() -> str:
            stream = _run_stream(person, text)
            async for event in stream:
                if isinstance(event, ModelClientStreamingChunkEvent):
                    await stream.aclose()
                    return event.content
            return ""

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError

    def history(self, agent: Built, key: SessionKey) -> str:
        return "" if key not in agent.people else json.dumps(asyncio.run(agent.people[key].main.save_state()))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """What this host saves is the state of each agent; a new agent takes it over."""
        loaded = Built(agent.make, agent.log)
        agent.of(ADA)
        for key, person in agent.people.items():
            state: Mapping[str, Any] = json.loads(json.dumps(asyncio.run(person.main.save_state())))
            asyncio.run(loaded.of(key).main.load_state(state))
        return loaded

    def detach(self, agent: Built) -> None:
        for person in agent.people.values():
            person.stack.close()
        agent.people, agent.remembers = {}, False

    def snapshot(self) -> object:
        """Nothing of this host is global."""
        return ()


class Logged(ChatCompletionContext):
    """A model context of the user's own, which writes down what it is asked, around another one."""

    def __init__(self, label: str, inner: ChatCompletionContext, log: list[str]) -> None:
        super().__init__()
        self._label = label
        self._inner = inner
        self._log = log

    async def add_message(self, message: LLMMessage) -> None:
        self._log.append(f"{self._label} add {message}")
        await self._inner.add_message(message)

    async def get_messages(self) -> list[LLMMessage]:
        messages = await self._inner.get_messages()
        self._log.append(f"{self._label} get {messages}")
        return messages

    async def save_state(self) -> Mapping[str, Any]:
        return await self._inner.save_state()


class LoggedMemory(ListMemory):
    """A memory of the user's own, which writes down what it finds in the context."""

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self._log = log

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        self._log.append(f"memory sees {await model_context.get_messages()}")
        return await super().update_context(model_context)


def _agents(
    script: Script, client: ScriptedClient, ours: SessionMemory | None, log: list[str] | None, *, sub_agent: bool
) -> tuple[AssistantAgent, TaskRunner]:
    def context() -> ChatCompletionContext:
        inner: ChatCompletionContext = UnboundedChatCompletionContext()
        inner = inner if log is None else Logged("inner", inner, log)
        own = inner if ours is None else ours.context(inner)
        return own if log is None else Logged("outer", own, log)

    def agent(name: str, client: ScriptedClient, *more: Callable[..., Any], **given: Any) -> AssistantAgent:
        return AssistantAgent(
            name,
            client,
            tools=[*_tools(script), *more],
            system_message=SYSTEM,
            model_context=context(),
            memory=None if log is None else [LoggedMemory(log)],
            max_tool_iterations=20,
            model_client_stream=True,
            **given,
        )

    sub = agent("sub", ScriptedClient(script, "sub"))

    async def ask_sub(question: str) -> str:
        """Ask the other agent."""
        answer = (await sub.run(task=question)).messages[-1]
        return answer.content if isinstance(answer, TextMessage) else ""

    if not sub_agent:
        main = agent("main", client)
        return main, main
    main = agent("main", client, ask_sub, handoffs=["sub"])
    return main, Swarm([main, sub], termination_condition=FunctionalTermination(_answered))


def _answered(messages: Sequence[Any]) -> bool:
    return any(isinstance(message, TextMessage) and message.source != "user" for message in messages)


_running: ContextVar[asyncio.Task[Any]] = ContextVar("running")


async def _cancellable(run: Awaitable[TaskResult]) -> TaskResult:
    task = asyncio.current_task()
    assert task is not None
    _running.set(task)
    return await run


def _tools(script: Script) -> list[Callable[..., Any]]:
    add, boom, look_up, signal = script.tools()

    async def cancels() -> str:
        """Do what the host's own tools may do besides returning."""
        try:
            return str(signal())
        except asyncio.CancelledError:
            # A tool that raises this itself leaves its run waiting for ever: it is the run that is cancelled.
            _running.get().cancel()
            await asyncio.Event().wait()
            raise

    cancels.__name__ = "signal"
    return [add, boom, look_up, cancels]


async def _run(person: Person, text: str) -> TaskResult:
    if person.memory is None:
        return await person.runner.run(task=text)
    return await person.memory.run(person.runner, task=text)


def _run_stream(person: Person, text: str) -> AsyncGenerator[Any, None]:
    if person.memory is None:
        return person.runner.run_stream(task=text)
    return person.memory.run_stream(person.runner, task=text)
