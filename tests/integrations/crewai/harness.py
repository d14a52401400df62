"""Drives real crews for the contract: `Crew.kickoff`, `akickoff`, their streams, the host's hooks and its bus."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from crewai import Agent, Crew, Task
from crewai.events import crewai_event_bus
from crewai.events.types.llm_events import LLMCallCompletedEvent, LLMStreamChunkEvent
from crewai.hooks import InterceptionPoint, get_hooks, register_hook, unregister_hook
from crewai.hooks.dispatch import get_scoped_hooks, register_scoped, scoped_hooks
from crewai.tasks.conditional_task import ConditionalTask
from crewai.tasks.task_output import TaskOutput
from crewai.tools import BaseTool
from crewai.tools import tool as make_tool

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.crewai import AssayEventListener, session

from .scripted import HANDED_OVER, ScriptedModel

__all__ = ["Block", "Built", "CrewAIHarness", "Listener", "agent_of", "tools_of"]


class Block:
    """Memory by `session(...)` around each kickoff."""

    def __init__(self, router: StoreRouter, options: SessionOptions | None) -> None:
        self._router = router
        self._options = options

    def around(self, key: SessionKey) -> AbstractContextManager[Any]:
        return session(self._router, user=key.user, session=key.session, options=self._options)

    def close(self) -> None:
        """Nothing is left when a block is over."""


class Listener:
    """Memory by a listener for the whole program, which is told whose each kickoff is."""

    def __init__(self, router: StoreRouter, options: SessionOptions | None) -> None:
        self._listener = AssayEventListener(router, options=options)

    def around(self, key: SessionKey) -> AbstractContextManager[Any]:
        return session(self._listener, user=key.user, session=key.session)

    def close(self) -> None:
        self._listener.close()


@dataclass
class Built:
    """A crew that was never kicked off, to copy; the one that is; its memory; and what the user's hooks wrote."""

    pristine: Crew
    crew: Crew
    attach: Callable[[], Any] | None
    log: list[str] | None
    memory: Any = None
    busy: threading.Lock = field(default_factory=threading.Lock)
    histories: dict[SessionKey, list[str]] = field(default_factory=dict[SessionKey, list[str]])


class CrewAIHarness:
    """The harness of CrewAI; `door` is how memory is attached.

    Attributes:
        hears: The events of the bus that a caller listens to.
    """

    entries = frozenset(Entry)
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.crewai"
    extra = "crewai"
    framework = ("crewai",)

    def __init__(self, door: Callable[[StoreRouter, SessionOptions | None], Any] = Block) -> None:
        self._door = door
        self._attached: list[Built] = []
        self.hears: tuple[type[Any], ...] = (LLMCallCompletedEvent, LLMStreamChunkEvent)

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        attach = None if memory is None else lambda: self._door(memory, options)
        crew = _team(script) if sub_agent else _crew(script)
        built = Built(crew.copy(), crew, attach, [] if user_hooks else None)
        self._attach(built)
        return built

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        self._attach(agent)
        alone = agent.busy.acquire(blocking=False)
        crew = agent.crew if alone else agent.pristine.copy()
        try:
            with ExitStack() as around:
                if agent.log is not None:
                    around.enter_context(_user_hooks("first", agent.log, register_hook))
                around.enter_context(nullcontext() if agent.memory is None else agent.memory.around(key))
                if agent.log is not None:
                    around.enter_context(scoped_hooks({point: get_scoped_hooks(point) for point in InterceptionPoint}))
                    around.enter_context(_user_hooks("last", agent.log, register_scoped))
                return self._outcome(agent, crew, text, key, entry)
        finally:
            if alone:
                agent.busy.release()

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        self._attach(agent)
        agent.crew.stream = True

        async def take() -> str:
            stream: Any = await agent.crew.akickoff({"request": text})
            async for chunk in stream:
                await stream.aclose()
                return str(chunk.content)
            return ""

        with nullcontext() if agent.memory is None else agent.memory.around(key):
            if entry.awaits:
                return Outcome(chunks=(asyncio.run(take()),))
            stream: Any = agent.crew.kickoff({"request": text})
            piece = next(iter(stream)).content
            stream.close()
            return Outcome(chunks=(piece,))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError("a crew does not wait")

    def history(self, agent: Built, key: SessionKey) -> str:
        """A crew keeps the messages of its last tasks, in their outputs and in the executors of its agents."""
        kept = [str(getattr(one.agent_executor, "messages", "")) for one in agent.crew.agents]
        return "\n".join([*agent.histories.get(key, []), *kept])

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log or ())

    def save_and_load(self, agent: Built) -> Built:
        return Built(agent.pristine, agent.crew.copy(), agent.attach, agent.log, agent.memory)

    def detach(self, agent: Built) -> None:
        if agent.memory is not None:
            agent.memory.close()
        agent.attach = agent.memory = None

    def snapshot(self) -> object:
        tables = (crewai_event_bus._sync_handlers, crewai_event_bus._async_handlers)
        hooks = [(point, get_hooks(point), get_scoped_hooks(point)) for point in InterceptionPoint]
        return hooks, [{kind: set(handlers) for kind, handlers in table.items()} for table in tables]

    def close(self) -> None:
        for built in self._attached:
            built.memory = built.memory and built.memory.close()
        self._attached.clear()

    def _attach(self, agent: Built) -> None:
        """Attach what this agent needs, and nothing else: a listener hears every crew of the program."""
        if agent in self._attached and agent.memory is not None:
            return
        self.close()
        if agent.attach is not None:
            agent.memory = agent.attach()
            self._attached.append(agent)

    def _outcome(self, agent: Built, crew: Crew, text: str, key: SessionKey, entry: Entry) -> Outcome:
        crew.stream = entry.streams
        chunks: list[str] = []
        result: Any = None

        async def collect() -> Any:
            stream: Any = await crew.akickoff({"request": text})
            async for chunk in stream:
                chunks.append(chunk.content)
            return stream.result

        def stream() -> Any:
            stream: Any = crew.kickoff({"request": text})
            with _quiet_threads():
                chunks.extend(chunk.content for chunk in stream)
            return stream.result

        ways: dict[Entry, Callable[[], Any]] = {
            Entry.SYNC: lambda: crew.kickoff({"request": text}),
            Entry.ASYNC: lambda: asyncio.run(crew.akickoff({"request": text})),
            Entry.STREAM: stream,
            Entry.ASTREAM: lambda: asyncio.run(collect()),
        }
        error: BaseException | None = None
        with _listening(self.hears) as heard:
            try:
                result = ways[entry]()
            except BaseException as raised:
                error = raised
        if result is not None:
            kept = [str(output.messages) for output in result.tasks_output]
            agent.histories.setdefault(key, []).extend(kept)
        seen = f"{result and result.model_dump()} {heard}"
        return Outcome(result.raw if result is not None else None, error, tuple(chunks), seen)


def agent_of(script: Script, role: str = "main", **more: Any) -> Agent:
    model = ScriptedModel(model="scripted", script=script, agent=role, calls_tools=more.pop("calls_tools", True))
    return Agent(role=role, goal="Be careful.", backstory="An assistant.", llm=model, max_retry_limit=0, **more)


def tools_of(script: Script) -> list[BaseTool]:
    return [make_tool(function.__name__)(function) for function in script.tools()]


def _crew(script: Script) -> Crew:
    agent = agent_of(script, tools=tools_of(script))
    return Crew(agents=[agent], tasks=[Task(description="{request}", expected_output="An answer.", agent=agent)])


def _team(script: Script) -> Crew:
    """Make a crew whose main agent can ask another one by a tool, or leave the question to it as the next task."""

    def ask_sub(question: str) -> str:
        """Ask the other agent."""
        answer: Any = agent_of(script, "sub").kickoff(question)
        return str(answer.raw)

    main = agent_of(script, tools=[*tools_of(script), make_tool("ask_sub")(ask_sub)])
    sub = agent_of(script, "sub", tools=tools_of(script))
    first = Task(description="{request}", expected_output="An answer.", agent=main)
    second = ConditionalTask(
        description="In place of the other one: {request}",
        expected_output="An answer.",
        agent=sub,
        condition=_was_handed_over,
    )
    return Crew(agents=[main, sub], tasks=[first, second])


def _was_handed_over(output: TaskOutput) -> bool:
    return output.raw == HANDED_OVER


@contextmanager
def _user_hooks(label: str, log: list[str], register: Callable[..., None]) -> Generator[None]:
    """Install hooks of the user's own in every place where ours are; they write down what they are told."""

    def make(point: InterceptionPoint) -> Callable[[Any], None]:
        def write(context: Any) -> None:
            told = {
                name: str(value)
                for name, value in vars(context).items()
                if name in ("messages", "response", "tool_name", "tool_input", "tool_result", "agent_role", "status")
            }
            log.append(f"{label} {point.value} {told}")

        return write

    hooks = {point: make(point) for point in InterceptionPoint}
    for point, hook in hooks.items():
        register(point, hook)
    try:
        yield
    finally:
        for point, hook in hooks.items():
            unregister_hook(point, hook)


@contextmanager
def _quiet_threads() -> Generator[None]:
    """Let the thread of a stream end by what is no `Exception`: the host gives it to nobody."""
    before, threading.excepthook = threading.excepthook, lambda arguments: None
    try:
        yield
    finally:
        threading.excepthook = before


@contextmanager
def _listening(kinds: tuple[type[Any], ...]) -> Generator[list[str]]:
    """Hear what the bus tells every listener of a program."""
    heard: list[str] = []

    def hear(source: object, event: Any) -> None:
        heard.append(f"{type(event).__name__} {event.model_dump()}")

    for kind in kinds:
        crewai_event_bus.register_handler(kind, hear)
    try:
        yield heard
    finally:
        crewai_event_bus.flush()
        for kind in kinds:
            crewai_event_bus.off(kind, hear)
