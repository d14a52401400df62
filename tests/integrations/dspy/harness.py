"""Drives real programs of DSPy for the contract: `ReAct`, called, awaited and streamed, with callbacks and adapters."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy
from dspy.streaming import StreamListener, StreamResponse
from dspy.utils.callback import BaseCallback

from assay.session import MissingUser, SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.dspy import AssayCallback, session

from .scripted import STREAMS, scripted_model

__all__ = ["Block", "Built", "DSPyHarness", "Shared", "agent_of"]

# Of a fallback to another format the contract need not know: models that fail would be asked twice by old releases.
ADAPTER = dspy.ChatAdapter(use_json_adapter_fallback=False)


class Block:
    """Memory by `session(...)` around each run."""

    def __init__(self, router: StoreRouter, options: SessionOptions | None) -> None:
        self._router = router
        self._options = options

    def around(self, key: SessionKey) -> Any:
        return session(self._router, user=key.user, session=key.session, options=self._options)

    def settings(self, hooks: list[Any]) -> dict[str, Any]:
        return {}


class Shared:
    """Memory by one callback that is configured for all runs, which are told whose they are."""

    def __init__(self, router: StoreRouter, options: SessionOptions | None) -> None:
        self._memory = AssayCallback(router, options=options)

    def around(self, key: SessionKey) -> Any:
        return session(self._memory, user=key.user, session=key.session)

    def settings(self, hooks: list[Any]) -> dict[str, Any]:
        return {"callbacks": [*hooks, self._memory], "adapter": self._memory.attach(ADAPTER)}


@dataclass
class Built:
    """A program, with what it takes to make it anew; its memory, its conversations, and what the user's hooks wrote."""

    make: Callable[[], dspy.Module]
    program: dspy.Module
    model: dspy.BaseLM
    door: Any
    log: list[str] | None
    turns: dict[SessionKey, list[dict[str, str]]] = field(default_factory=dict[SessionKey, list[dict[str, str]]])


class DSPyHarness:
    """The harness of DSPy; `door` is how memory is attached."""

    entries = frozenset(Entry if STREAMS else {Entry.SYNC, Entry.ASYNC})
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.dspy"
    extra = "dspy"
    framework = ("dspy", "pydantic")

    def __init__(self, door: Callable[[StoreRouter, SessionOptions | None], Any] = Block) -> None:
        self._door = door

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        def make() -> dspy.Module:
            return agent_of(script, sub_agent=sub_agent)

        door = None if memory is None else self._door(memory, options)
        return Built(make, make(), scripted_model(script), door, [] if user_hooks else None)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        chunks: list[str] = []
        before = len(agent.model.history)
        result: Any = None
        error: BaseException | None = None
        with dspy.track_usage() as usage:
            try:
                result = _ways(agent, text, key, chunks)[entry]()
            except MissingUser:
                raise
            except BaseException as raised:
                error = raised
        if not isinstance(result, dspy.Prediction):
            result = None  # a stream that is cancelled just ends
        else:
            agent.turns.setdefault(key, []).append({"question": text, "answer": result.answer})
        seen = f"{result} {usage.get_total_tokens()} {agent.model.history[before:]}"
        return Outcome(None if result is None else result.answer, error, tuple(chunks), seen)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        given = _given(agent, text, key)
        if entry.awaits:

            async def take() -> str:
                async with _aaround(agent, key):
                    stream = _streamed(agent, is_async_program=True)(**given)
                    async for piece in stream:
                        await stream.aclose()
                        return str(piece.chunk)
                return ""

            return Outcome(chunks=(asyncio.run(take()),))
        with _around(agent, key), _threads_end():
            stream: Any = _streamed(agent, async_streaming=False)(**given)
            piece = str(next(stream).chunk)
            stream.close()
        return Outcome(chunks=(piece,))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError("a program does not wait")

    def history(self, agent: Built, key: SessionKey) -> str:
        """A program keeps no conversation: what it is given as `dspy.History`, its caller has kept."""
        return str(agent.turns.get(key))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log or ())

    def save_and_load(self, agent: Built) -> Built:
        program = agent.make()
        with tempfile.TemporaryDirectory() as folder, _around(agent, SessionKey("ada", "saves")):
            path = Path(folder) / "program.json"
            agent.program.save(path)
            program.load(path)
        return Built(agent.make, program, agent.model, agent.door, agent.log, agent.turns)

    def detach(self, agent: Built) -> None:
        agent.door = None

    def snapshot(self) -> object:
        return dict(dspy.settings.config)


def agent_of(script: Script, *, sub_agent: bool = False) -> dspy.Module:
    """Make an agent with the tools of a script."""
    tools: list[Any] = list(script.tools())
    if sub_agent:
        sub: Any = dspy.ReAct(_signature("question -> answer"), tools=list(script.tools()))
        sub.name = "sub"
        sub.set_lm(scripted_model(script, "sub"))

        def ask_sub(question: str) -> str:
            """Ask the other agent."""
            return str(sub(question=question).answer)

        tools.append(ask_sub)
    agent: Any = dspy.ReAct(_signature("question, history: dspy.History -> answer"), tools=tools)
    agent.name = "main"
    return agent


def _signature(text: str) -> Any:
    """Give what the host reads as well as a signature, though its types do not say so."""
    return text


class UserHooks(BaseCallback):  # type: ignore[misc]
    """Callbacks of the user's own, which write down what they are told."""

    def __init__(self, label: str, log: list[str]) -> None:
        self._label = label
        self._log = log

    def __getattribute__(self, name: str) -> Any:
        def write(call_id: str, **told: Any) -> None:
            instance = told.pop("instance", None)
            self._log.append(f"{self._label} {name} {type(instance).__name__} {sorted(told.items())}")

        return write if name.startswith("on_") else super().__getattribute__(name)


@contextmanager
def _outer(agent: Built) -> Generator[None]:
    """Set the model, the adapter, the user's first callback, and what a memory that is shared is configured by."""
    # Of a tool that fails, models are shown lines of the host's own: not the same where there is no callback at all.
    hooks: list[Any] = [BaseCallback() if agent.log is None else UserHooks("first", agent.log)]
    shared = {} if agent.door is None else agent.door.settings(hooks)
    with dspy.context(**{"lm": agent.model, "adapter": ADAPTER, "callbacks": hooks, **shared}):
        yield


@contextmanager
def _inner(agent: Built) -> Generator[None]:
    """Add the user's last callback."""
    hooks: list[Any] = [] if agent.log is None else [UserHooks("last", agent.log)]
    with dspy.context(callbacks=[*dspy.settings.callbacks, *hooks]):
        yield


@contextmanager
def _around(agent: Built, key: SessionKey) -> Generator[None]:
    with _outer(agent), _memory(agent, key), _inner(agent):
        yield


@asynccontextmanager
async def _aaround(agent: Built, key: SessionKey) -> AsyncGenerator[None]:
    with _outer(agent):
        async with _memory(agent, key):
            with _inner(agent):
                yield


@contextmanager
def _threads_end() -> Generator[None]:
    """Wait for the threads of a stream; one may end by what is no `Exception`, which the caller has been given."""
    others = set(threading.enumerate())
    before, threading.excepthook = threading.excepthook, lambda arguments: None
    try:
        yield
    finally:
        for thread in set(threading.enumerate()) - others:
            thread.join(10)
        threading.excepthook = before


def _memory(agent: Built, key: SessionKey) -> Any:
    return nullcontext() if agent.door is None else agent.door.around(key)


def _given(agent: Built, text: str, key: SessionKey) -> dict[str, Any]:
    return {"question": text, "history": dspy.History(messages=list(agent.turns.get(key, [])))}


def _streamed(agent: Built, **how: Any) -> Any:
    """Stream the answer of a program, piece by piece, and its end."""
    program: Any = agent.program
    return dspy.streamify(program, stream_listeners=[StreamListener("answer", predict=program.extract.predict)], **how)


def _ways(agent: Built, text: str, key: SessionKey, chunks: list[str]) -> dict[Entry, Callable[[], Any]]:
    program, given = agent.program, _given(agent, text, key)

    def take(item: Any) -> Any:
        if isinstance(item, StreamResponse):
            chunks.append(item.chunk)
        return item

    def call() -> Any:
        with _around(agent, key):
            return program(**given)

    async def acall() -> Any:
        async with _aaround(agent, key):
            return await program.acall(**given)

    def stream() -> Any:
        with _around(agent, key), _threads_end():
            return [take(item) for item in _streamed(agent, async_streaming=False)(**given)][-1]

    async def astream() -> Any:
        async with _aaround(agent, key):
            return [take(item) async for item in _streamed(agent, is_async_program=True)(**given)][-1]

    return {
        Entry.SYNC: call,
        Entry.ASYNC: lambda: asyncio.run(acall()),
        Entry.STREAM: stream,
        Entry.ASTREAM: lambda: asyncio.run(astream()),
    }
