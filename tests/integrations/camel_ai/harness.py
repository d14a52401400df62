"""Drives real agents of CAMEL for the contract: `step` and `astep`, whole and in pieces, and their own memories."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from camel.agents import ChatAgent
from camel.memories import ChatHistoryMemory, ScoreBasedContextCreator
from camel.toolkits import FunctionTool

from assay.session import MissingUser, SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.camel_ai import AssayAgentMemory, AssayChatAgent

from .scripted import ScriptedModel

__all__ = ["SYSTEM", "Built", "CamelHarness", "UserMemory", "answer_of", "tools_of"]

SYSTEM = "You are a careful assistant."
# Beyond half of its limit, the host itself cuts what a tool gives.
LIMIT = 10_000_000
TELLS_USAGE = "on_request_usage" in signature(ChatAgent.__init__).parameters


@dataclass
class Built:
    """An agent for each conversation, because an agent of this host holds one, and what the user's hooks wrote."""

    make: Callable[[SessionKey], ChatAgent]
    log: list[str]
    agents: dict[SessionKey, ChatAgent] = field(default_factory=dict[SessionKey, ChatAgent])

    def of(self, key: SessionKey) -> ChatAgent:
        """Give the agent of a conversation."""
        return self.agents.get(key) or self.agents.setdefault(key, self.make(key))


class CamelHarness:
    """The harness of CAMEL; `binding` makes the agents under test, `memory` their memories."""

    entries = frozenset(Entry)
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.camel_ai"
    extra = "camel-ai"
    framework = ("camel",)

    def __init__(self, binding: Callable[..., ChatAgent] = AssayChatAgent, memory: Any = AssayAgentMemory) -> None:
        self._binding = binding
        self._memory = memory

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

        def make(key: SessionKey) -> ChatAgent:
            model, settings = ScriptedModel(script), dict[str, Any]()
            inner = UserMemory(model, log) if user_hooks else None
            if user_hooks and TELLS_USAGE:
                settings["on_request_usage"] = lambda usage: log.append(f"usage {usage['request_index']}")
            kept: Any = inner
            agent: Callable[..., ChatAgent] = ChatAgent
            if memory is not None:
                kept = self._memory(memory, user=key.user, session=key.session, inner=inner, options=options)
                agent = self._binding
            tools = [*script.tools()]
            if sub_agent:
                tools.append(_ask(script, agent, None if kept is None else kept.sub("sub")))
            return agent(
                SYSTEM, model, kept, tools=tools_of(tools), token_limit=LIMIT, stream_accumulate=False, **settings
            )

        return Built(make, log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        chunks: list[str] = []
        responses: list[Any] = []
        error: BaseException | None = None
        try:
            found = agent.of(key)
            _stream(found, entry.streams)
            for response in answer_of(found, text, entry):
                responses.append(response)
                chunks += [response.msgs[0].content] if entry.streams and response.msgs else []
        except MissingUser:  # of the memory itself, before there is a step
            raise
        except BaseException as raised:
            error = raised
        last = responses[-1] if responses else None
        result = None
        if error is None and last is not None and last.msgs:
            failed = "error" in last.info
            result = "".join(chunks) if entry.streams and not failed else last.msgs[0].content
        seen = str([(response.msgs, response.info) for response in responses])
        return Outcome(result, error, tuple(filter(None, chunks)), seen)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        found = agent.of(key)
        _stream(found, True)
        if not entry.awaits:
            pieces = iter(found.step(text))
            first: Any = next(pieces)
            pieces.close()
            return Outcome(chunks=(first.msgs[0].content,))

        async def take() -> str:
            response: Any = await found.astep(text)
            async for piece in response:
                return str(piece.msgs[0].content)
            return ""

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError("a step does not wait")

    def history(self, agent: Built, key: SessionKey) -> str:
        found = agent.of(key)
        return str([record.memory_record.to_dict() for record in found.memory.retrieve()])

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """What this host copies is an agent."""
        make = agent.make
        return Built(lambda key: make(key).clone(), agent.log)

    def detach(self, agent: Built) -> None:
        for found in agent.agents.values():
            found.memory = ChatHistoryMemory(found.memory.get_context_creator())

    def snapshot(self) -> object:
        """The classes of the host, which keeps nothing globally."""
        return [(name, id(part)) for one in (ChatAgent, ChatHistoryMemory) for name, part in vars(one).items()]


class UserMemory(ChatHistoryMemory):
    """A memory of the user's own; it writes down what it is asked and told."""

    def __init__(self, model: Any, log: list[str]) -> None:
        self._log = log
        super().__init__(UserCreator(model.token_counter, LIMIT, log))

    def retrieve(self) -> Any:
        found = super().retrieve()
        self._log.append(f"retrieve {[one.memory_record.message.content for one in found]}")
        return found

    def write_records(self, records: Any) -> None:
        self._log.append(f"write {[(one.role_at_backend.value, one.message.content) for one in records]}")
        super().write_records(records)

    def clear(self) -> None:
        self._log.append("clear")
        super().clear()


class UserCreator(ScoreBasedContextCreator):
    """What makes a prompt of records for the user; it writes down who speaks in them."""

    def __init__(self, counter: Any, limit: int, log: list[str]) -> None:
        super().__init__(counter, limit)
        self._log = log

    def create_context(self, records: Any) -> Any:
        self._log.append(f"create {[one.memory_record.role_at_backend.value for one in records]}")
        return super().create_context(records)


def answer_of(agent: ChatAgent, text: str, entry: Entry) -> Any:
    """Step, and give the responses of the host: one, or the pieces of a stream, which may break."""
    if not entry.awaits:
        response: Any = agent.step(text)
        yield from response if entry.streams else [response]
        return
    given: list[Any] = []

    async def astep() -> None:
        response: Any = await agent.astep(text)
        if not entry.streams:
            given.append(response)
        else:
            async for piece in response:
                given.append(piece)

    try:
        asyncio.run(astep())
    finally:
        yield from given


def _stream(agent: ChatAgent, on: bool) -> None:
    agent.model_backend.model_config_dict["stream"] = on


def tools_of(functions: list[Callable[..., object]]) -> list[FunctionTool]:
    """Make tools of the host, which warns of a parameter that nobody has described."""
    tools = [FunctionTool(function) for function in functions]
    for tool in tools:
        for part in tool.openai_tool_schema["function"]["parameters"]["properties"].values():
            part["description"] = "What it is given."
    return tools


def _ask(script: Script, agent: Callable[..., ChatAgent], memory: Any) -> Callable[..., object]:
    sub = agent(SYSTEM, ScriptedModel(script, "sub"), memory, tools=tools_of([*script.tools()]))

    def ask_sub(question: str) -> str:
        """Ask the other agent."""
        response: Any = sub.step(question)
        return str(response.msgs[0].content)

    return ask_sub
