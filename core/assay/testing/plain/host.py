"""A host without a framework: an agent loop with hooks, to run the contract on and to read."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass, field

from assay.session import SessionKey
from assay.testing.script import Call, HandOff, Script

__all__ = ["Hooks", "Interrupt", "Message", "PlainAgent", "Run", "StopRun"]

_TURNS = 12
Message = tuple[str, str]
SYSTEM = "You are a careful assistant."


class Interrupt(Exception):
    """Control flow of this host: the run waits for a person."""


class StopRun(Exception):
    """Control flow of this host: the run ends here, which is no failure."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a hook is told about the run it is in.

    Attributes:
        agent: Name of the agent that is running.
        nested: Whether that agent was called by another one's tool.
    """

    id: str
    key: SessionKey
    agent: str = "main"
    nested: bool = False


class Hooks:
    """What a user of this host may subclass; each hook has an async twin that does the same."""

    def on_start(self, run: Run, text: str) -> None:
        """A run begins."""

    def before_model(self, run: Run, messages: list[Message]) -> list[Message]:
        """Change what the model is about to receive; the conversation itself stays as it is."""
        return messages

    def after_model(self, run: Run, text: str) -> None:
        """The model has said something."""

    def on_tool(self, run: Run, call: Call) -> None:
        """A tool is about to be called."""

    def on_tool_end(self, run: Run, call: Call, result: object) -> None:
        """A tool has given a result."""

    def on_tool_error(self, run: Run, call: Call, error: BaseException) -> None:
        """A tool has raised."""

    def on_handoff(self, run: Run, target: str) -> None:
        """Another agent takes over."""

    def on_end(self, run: Run, output: str) -> None:
        """A run has ended well."""

    def on_error(self, run: Run, error: BaseException) -> None:
        """A run has failed."""

    async def aon(self, hook: str, *arguments: object) -> object:
        """Run a hook from an event loop."""
        return getattr(self, hook)(*arguments)


@dataclass(frozen=True, slots=True)
class _Hook:
    name: str
    arguments: tuple[object, ...]


Steps = Generator["_Hook | str", object, str]


@dataclass
class PlainAgent:
    """An agent: a model (the script), its tools, its hooks, and the conversations that it keeps.

    Attributes:
        threads: The conversation of each (user, session).
        events: What this host shows to those who watch it.
    """

    script: Script
    hooks: list[Hooks] = field(default_factory=list[Hooks])
    sub_agent: bool = False
    threads: dict[SessionKey, list[Message]] = field(default_factory=dict[SessionKey, list[Message]])
    waiting: dict[SessionKey, tuple[Run, Call]] = field(default_factory=dict[SessionKey, tuple[Run, Call]])
    events: list[str] = field(default_factory=list[str])

    def invoke(self, text: str, key: SessionKey) -> str:
        """Run to the end."""
        return "".join(self.stream(text, key))

    def stream(self, text: str, key: SessionKey) -> Iterator[str]:
        """Run, giving the answer word by word."""
        yield from self._drive(self._run(text, key))

    async def ainvoke(self, text: str, key: SessionKey) -> str:
        """Run to the end on an event loop."""
        return "".join([chunk async for chunk in self.astream(text, key)])

    async def astream(self, text: str, key: SessionKey) -> AsyncIterator[str]:
        """Run on an event loop, giving the answer word by word."""
        steps = self._run(text, key)
        try:
            answer: object = None
            while True:
                effect = steps.send(answer)
                answer = None
                if isinstance(effect, str):
                    yield effect
                else:
                    answer = await self._ahook(effect)
        except StopIteration:
            return

    def resume(self, value: object, key: SessionKey) -> str:
        """Go on with a run that a tool interrupted; the tool is called again and gets the value."""
        run, call = self.waiting.pop(key)
        return "".join(self._drive(self._turns(run, self.threads[key], call, value)))

    def clone(self) -> PlainAgent:
        """Make the same agent anew."""
        return PlainAgent(self.script, list(self.hooks), self.sub_agent, self.threads)

    def _drive(self, steps: Steps) -> Iterator[str]:
        answer: object = None
        try:
            while True:
                effect = steps.send(answer)
                answer = None
                if isinstance(effect, str):
                    yield effect
                else:
                    answer = self._hook(effect)
        except StopIteration:
            return

    def _hook(self, effect: _Hook) -> object:
        arguments = effect.arguments
        for hooks in list(self.hooks):
            result = getattr(hooks, effect.name)(*arguments)
            if effect.name == "before_model":
                arguments = (arguments[0], result)
        return arguments[-1]

    async def _ahook(self, effect: _Hook) -> object:
        arguments = effect.arguments
        for hooks in list(self.hooks):
            result = await hooks.aon(effect.name, *arguments)
            if effect.name == "before_model":
                arguments = (arguments[0], result)
        return arguments[-1]

    def _run(self, text: str, key: SessionKey) -> Steps:
        run = Run(f"plain-{secrets.token_hex(8)}", key)
        messages = self.threads.setdefault(key, [])
        messages.append(("user", text))
        yield _Hook("on_start", (run, text))
        return (yield from self._turns(run, messages))

    def _turns(self, run: Run, messages: list[Message], pending: Call | None = None, value: object = None) -> Steps:
        try:
            for _ in range(_TURNS):
                if pending is not None:
                    messages.append((yield from self._tool(run, pending, value)))
                prompt = yield _Hook("before_model", (run, [("system", SYSTEM), *messages]))
                reply = self.script.reply(prompt, agent=run.agent)  # type: ignore[arg-type]
                self.events.append(f"model call of {run.agent}")
                pending, value = None, None
                if isinstance(reply, Call):
                    pending = reply
                elif isinstance(reply, HandOff):
                    yield _Hook("on_handoff", (run, reply.to))
                    messages.append(("assistant", f"(transfer to {reply.to})"))
                    run = Run(run.id, run.key, reply.to)
                else:
                    return (yield from self._answer(run, messages, str(reply.text)))
            raise RuntimeError("the run took too many turns")
        except StopRun:
            return ""
        except Interrupt:
            self.waiting[run.key] = (run, pending or Call("", {}))
            raise
        except GeneratorExit:
            raise
        except BaseException as error:
            yield _Hook("on_error", (run, error))
            raise

    def _answer(self, run: Run, messages: list[Message], text: str) -> Steps:
        yield _Hook("after_model", (run, text))
        messages.append(("assistant", text))
        for number, word in enumerate(text.split(" ")):
            if not run.nested:
                yield word if number == 0 else f" {word}"
        yield _Hook("on_end", (run, text))
        return text

    def _tool(self, run: Run, call: Call, value: object) -> Generator[_Hook | str, object, Message]:
        yield _Hook("on_tool", (run, call))
        try:
            result = yield from self._called(run, call, value)
        except (Interrupt, StopRun):
            raise
        except Exception as error:
            yield _Hook("on_tool_error", (run, call, error))
            return ("tool", f"Error: {error}")
        except BaseException as error:
            yield _Hook("on_tool_error", (run, call, error))
            raise
        yield _Hook("on_tool_end", (run, call, result))
        return ("tool", str(result))

    def _called(self, run: Run, call: Call, value: object) -> Generator[_Hook | str, object, object]:
        if call.name == "approve":
            if value is None:
                raise Interrupt(str(call.args["question"]))
            return value
        if call.name == "ask_sub":
            question = str(call.args["question"])
            nested = Run(f"{run.id}-sub", run.key, "sub", nested=True)
            yield _Hook("on_start", (nested, question))
            return (yield from self._turns(nested, [("user", question)]))
        tools = {tool.__name__: tool for tool in self.script.tools()}
        return tools[call.name](**call.args)
