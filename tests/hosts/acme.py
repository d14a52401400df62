"""A framework for agents, as small as one can be: docs/integrations/custom.md gives it a memory."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Agent", "Hooks", "Message", "Model", "Run", "ToolCall"]

_TURNS = 12


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `role` is system, user, assistant or tool."""

    role: str
    text: str


@dataclass(frozen=True)
class ToolCall:
    """What a model answers when it wants a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


Model = Callable[[Sequence[Message]], Awaitable[str | ToolCall]]


@dataclass(frozen=True)
class Run:
    """What every hook is told: which run it is in, and whose."""

    id: str
    agent: str
    model: Model
    user: str | None
    thread: str | None


class Hooks:
    """What a user of Acme may subclass. What a hook raises ends the run."""

    async def started(self, run: Run, text: str) -> None:
        """A run begins, with what the person says."""

    async def before_model(self, run: Run, messages: list[Message]) -> list[Message]:
        """Change what the model is about to receive; the thread itself stays as it is."""
        return messages

    async def after_model(self, run: Run, text: str) -> None:
        """The model has said something."""

    async def before_tool(self, run: Run, call: ToolCall) -> None:
        """A tool is about to be called."""

    async def after_tool(self, run: Run, call: ToolCall, result: object) -> None:
        """A tool has given a result."""

    async def tool_failed(self, run: Run, call: ToolCall, error: Exception) -> None:
        """A tool has raised; the model is told."""

    async def ended(self, run: Run, answer: str) -> None:
        """The run has ended well."""

    async def failed(self, run: Run, error: BaseException) -> None:
        """The run has ended by an exception, which its caller gets."""


@dataclass
class Agent:
    """A model with tools, hooks, and the threads that it keeps.

    Attributes:
        threads: What was said, by user and thread.
    """

    model: Model
    tools: Sequence[Callable[..., object]] = ()
    hooks: list[Hooks] = field(default_factory=list[Hooks])
    name: str = "assistant"
    system: str = "You are a careful assistant."
    threads: dict[tuple[str | None, str | None], list[Message]] = field(
        default_factory=dict[tuple[str | None, str | None], list[Message]]
    )

    async def run(self, text: str, *, user: str | None = None, thread: str | None = None) -> str:
        """Answer a person."""
        run = Run(secrets.token_hex(8), self.name, self.model, user, thread)
        messages = self.threads.setdefault((user, thread), [])
        messages.append(Message("user", text))
        for hooks in self.hooks:
            await hooks.started(run, text)
        try:
            answer = await self._answer(run, messages)
        except BaseException as error:
            for hooks in self.hooks:
                await hooks.failed(run, error)
            raise
        for hooks in self.hooks:
            await hooks.ended(run, answer)
        return answer

    async def _answer(self, run: Run, messages: list[Message]) -> str:
        for _ in range(_TURNS):
            prompt = [Message("system", self.system), *messages]
            for hooks in self.hooks:
                prompt = await hooks.before_model(run, prompt)
            reply = await self.model(prompt)
            if isinstance(reply, ToolCall):
                messages.append(Message("tool", await self._call(run, reply)))
                continue
            for hooks in self.hooks:
                await hooks.after_model(run, reply)
            messages.append(Message("assistant", reply))
            return reply
        raise RuntimeError("the run took too many turns")

    async def _call(self, run: Run, call: ToolCall) -> str:
        for hooks in self.hooks:
            await hooks.before_tool(run, call)
        try:
            tool = next(tool for tool in self.tools if getattr(tool, "__name__", "") == call.name)
            result = tool(**call.arguments)
            result = await result if inspect.isawaitable(result) else result
        except Exception as error:
            for hooks in self.hooks:
                await hooks.tool_failed(run, call, error)
            return f"Error: {error}"
        for hooks in self.hooks:
            await hooks.after_tool(run, call, result)
        return str(result)
