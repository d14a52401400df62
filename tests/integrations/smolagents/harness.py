"""Drives real agents of smolagents for the contract: `run` and its stream of steps, and the host's callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from smolagents import ChatMessage, LogLevel, MultiStepAgent, Tool, ToolCallingAgent, tool
from smolagents.memory import ActionStep, FinalAnswerStep, MemoryStep
from smolagents.models import ChatMessageStreamDelta
from smolagents.utils import AgentGenerationError

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.smolagents import AssayAgentMemory

from .scripted import ScriptedModel

__all__ = ["Built", "SmolagentsHarness", "agent_of", "tools_of"]

Door = Callable[..., AssayAgentMemory]


@dataclass
class Built:
    """An agent, how memory is attached to it, what is attached, and what the user's callbacks wrote."""

    agent: MultiStepAgent
    attach: Callable[[SessionKey], AssayAgentMemory] | None
    log: list[str] | None
    key: SessionKey | None = None
    memory: AssayAgentMemory | None = None
    said: list[str] = field(default_factory=list[str])


class SmolagentsHarness:
    """The harness of smolagents; `door` makes the memory that is attached."""

    entries = frozenset({Entry.SYNC, Entry.STREAM})
    package = "assay_integrations.smolagents"
    extra = "smolagents"
    framework = ("smolagents",)

    def __init__(self, door: Door = AssayAgentMemory) -> None:
        self._door = door
        self._built: list[Built] = []
        self._running: Built | None = None
        self.control_flow: tuple[ControlFlow, ...] = (ControlFlow("interrupt", self._interrupt),)

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        managed = [agent_of(script, "sub", description="Knows more.")] if sub_agent else []
        log: list[str] | None = [] if user_hooks else None
        theirs = _callbacks("first", log) if log is not None else {}
        checks = [_check(log)] if log is not None else []
        agent = agent_of(script, managed_agents=managed, step_callbacks=theirs, final_answer_checks=checks)

        def attach(key: SessionKey) -> AssayAgentMemory:
            assert memory is not None
            attached = self._door(memory, user=key.user, session=key.session, options=options)
            attached.attach(agent)
            if log is not None and built.key is None:
                for kind, callback in _callbacks("last", log).items():
                    agent.step_callbacks.register(kind, callback)
            return attached

        built = Built(agent, None if memory is None else attach, log)
        if log is not None and memory is None:
            for kind, callback in _callbacks("last", log).items():
                agent.step_callbacks.register(kind, callback)
        self._built.append(built)
        return built

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        goes_on = self._prepare(agent, key, entry)
        chunks: list[str] = []
        result: Any = None
        error: BaseException | None = None
        seen: list[str] = []
        try:
            if entry.streams:
                stream: Any = agent.agent.run(text, stream=True, reset=not goes_on)
                for piece in stream:
                    if isinstance(piece, ChatMessageStreamDelta):
                        chunks.append(_shown(piece))
                    elif isinstance(piece, FinalAnswerStep):
                        result = piece.output
                    seen.append(str(piece))
            else:
                full = agent.agent.run(text, reset=not goes_on, return_full_result=True)
                result = full.output
                seen.append(str(full))
        except AgentGenerationError as raised:  # what a model raises is its cause
            error = raised.__cause__
        except BaseException as raised:
            error = raised
        return Outcome(None if result is None else str(result), error, tuple(chunks), "\n".join(seen))

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        self._prepare(agent, key, entry)
        steps: Any = agent.agent.run(text, stream=True)
        first = next(steps)
        try:
            steps.close()
        except RuntimeError as error:  # the host yields once more
            return Outcome(None, error, (_shown(first),))
        return Outcome(chunks=(_shown(first),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError("a run does not wait")

    def history(self, agent: Built, key: SessionKey) -> str:
        """Give what the agent keeps of a conversation: rendered for a model, and as the host reports it."""
        assert agent.key == key
        messages: list[ChatMessage] = agent.agent.write_memory_to_messages()
        return "\n".join([*(str(one.content) for one in messages), str(agent.agent.memory.get_succinct_steps())])

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log or ())

    def save_and_load(self, agent: Built) -> Built:
        raise NotImplementedError("callbacks and memory are not saved")

    def detach(self, agent: Built) -> None:
        if agent.memory is not None:
            agent.memory.close()
        agent.attach = agent.memory = None

    def snapshot(self) -> object:
        """Give what of ours hangs on the agents that were built: the host keeps nothing else."""
        held = [
            one
            for built in self._built
            for agent in (built.agent, *built.agent.managed_agents.values())
            for one in (
                *(agent.memory, agent.step_callbacks, agent.model),
                *(*agent.tools.values(), *agent.managed_agents.values(), *agent.__dict__.values()),
            )
        ]
        return [type(one).__name__ for one in held if type(one).__module__.startswith("assay")]

    def close(self) -> None:
        for built in self._built:
            self.detach(built)

    def _prepare(self, agent: Built, key: SessionKey, entry: Entry) -> bool:
        """Attach what the session needs, and tell whether its conversation goes on."""
        goes_on, self._running = agent.key == key, agent
        if agent.attach is not None and not (goes_on and agent.memory is not None):
            if agent.memory is not None:
                agent.memory.close()
            agent.memory = None
            agent.memory = agent.attach(key)
        agent.key = key
        agent.agent.stream_outputs = entry.streams
        return goes_on

    def _interrupt(self) -> str:
        assert self._running is not None
        self._running.agent.interrupt()  # type: ignore[no-untyped-call]
        return "stopping"


def agent_of(script: Script, name: str | None = None, **more: Any) -> ToolCallingAgent:
    model = ScriptedModel(script, name or "main")
    return ToolCallingAgent(tools_of(script), model, name=name, verbosity_level=LogLevel.OFF, **more)


def tools_of(script: Script) -> list[Tool]:
    """Make the tools of a script; the host wants to be told of each argument."""
    made: list[Tool] = []
    for function in script.tools():
        names = [name for name in function.__annotations__ if name != "return"]
        told = "".join(f"\n    {name}: {name}" for name in names)
        function.__doc__ = f"{function.__doc__}\n\nArgs:{told}" if told else function.__doc__
        made.append(tool(function))
    return made


def _callbacks(label: str, log: list[str]) -> dict[type[MemoryStep], Any]:
    """Make callbacks of the user's own for every step; they write down what they are told."""

    def write(step: MemoryStep, agent: MultiStepAgent) -> None:
        told = {name: str(value) for name, value in vars(step).items() if name not in ("timing", "token_usage")}
        log.append(f"{label} {type(step).__name__} {agent.step_number} {told}")

    return dict.fromkeys((ActionStep, FinalAnswerStep), write)


def _check(log: list[str]) -> Callable[..., bool]:
    def check(answer: Any, memory: Any, agent: MultiStepAgent) -> bool:
        log.append(f"check {answer} {len(memory.steps)}")
        return True

    return check


def _shown(piece: ChatMessageStreamDelta) -> str:
    calls = piece.tool_calls or ()
    return f"{piece.content or ''}{[(call.function.name, call.function.arguments) for call in calls if call.function]}"
