"""Drives the plain host for the contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import cast

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing.harness import ControlFlow, Entry, Outcome
from assay.testing.plain.host import Hooks, Interrupt, PlainAgent, Run, StopRun
from assay.testing.plain.memory import PlainMemory
from assay.testing.script import Script

__all__ = ["PlainHarness"]


class _UserHooks(Hooks):
    """Hooks of the user's own, which write down what they are told."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name = name
        self._log = log

    def __getattribute__(self, name: str) -> object:
        def write(run: Run, *rest: object) -> None:
            self._log.append(f"{self._name} {name} {rest}")

        return write if name.startswith(("on_", "after_")) else super().__getattribute__(name)


@dataclass
class Built:
    """An agent with its memory, and what the user's hooks have written."""

    agent: PlainAgent
    memory: PlainMemory | None
    log: list[str]


class PlainHarness:
    """The harness of the plain host; `binding` is the class under test."""

    entries = frozenset(Entry)
    control_flow = (ControlFlow("stop", lambda: _raise(StopRun())),)
    package = ""
    extra = ""
    framework: tuple[str, ...] = ()

    def __init__(self, binding: Callable[..., PlainMemory] = PlainMemory) -> None:
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
        """Make an agent, and attach the memory between the user's hooks."""
        agent, log = PlainAgent(script, sub_agent=sub_agent), list[str]()
        attached = None if memory is None else self._binding(memory, options=options)
        if user_hooks:
            agent.hooks.append(_UserHooks("first", log))
        if attached is not None:
            attached.attach(agent)
        if user_hooks:
            agent.hooks.append(_UserHooks("last", log))
        return Built(agent, attached, log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        """Run to the end."""
        plain = agent.agent
        seen = len(plain.events)
        chunks: list[str] = []

        async def collect() -> str:
            async for chunk in plain.astream(text, key):
                chunks.append(chunk)
            return "".join(chunks)

        def stream() -> str:
            chunks.extend(plain.stream(text, key))
            return "".join(chunks)

        ways: dict[Entry, Callable[[], str]] = {
            Entry.SYNC: lambda: plain.invoke(text, key),
            Entry.ASYNC: lambda: asyncio.run(plain.ainvoke(text, key)),
            Entry.STREAM: stream,
            Entry.ASTREAM: lambda: asyncio.run(collect()),
        }
        outcome = _outcome(ways[entry])
        return Outcome(
            outcome.result, outcome.error, tuple(chunks), "\n".join(plain.events[seen:]), outcome.interrupted
        )

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        """Take the first piece of a stream and close it."""
        plain = agent.agent
        if not entry.awaits:
            stream = plain.stream(text, key)
            first = next(stream)
            cast("Callable[[], None]", getattr(stream, "close"))()  # noqa: B009
            return Outcome(chunks=(first,))

        async def take() -> str:
            chunks: AsyncIterator[str] = plain.astream(text, key)
            piece = await anext(chunks)
            await cast("Callable[[], Awaitable[None]]", getattr(chunks, "aclose"))()  # noqa: B009
            return piece

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        """Go on after an interrupt."""
        return _outcome(lambda: agent.agent.resume(value, key))

    def history(self, agent: Built, key: SessionKey) -> str:
        """Give the conversation as the host keeps it."""
        return "\n".join(f"{role}: {text}" for role, text in agent.agent.threads.get(key, []))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        """Give what the user's hooks wrote."""
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """Clone the agent."""
        return Built(agent.agent.clone(), agent.memory, agent.log)

    def detach(self, agent: Built) -> None:
        """Take the memory off."""
        if agent.memory is not None:
            agent.agent.hooks.remove(agent.memory)

    def snapshot(self) -> object:
        """Nothing of this host is global."""
        return ()


def _outcome(run: Callable[[], str]) -> Outcome:
    try:
        return Outcome(run())
    except Interrupt:
        return Outcome(interrupted=True)
    except BaseException as error:
        return Outcome(error=error)


def _raise(error: BaseException) -> None:
    raise error
