"""Drives real agents of the Agents SDK for the contract: its runner, its sessions, its hooks and its guardrails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agents import (
    Agent,
    AgentHooks,
    RunConfig,
    RunHooks,
    Runner,
    RunState,
    SQLiteSession,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolOutputGuardrail,
    ToolOutputGuardrailTripwireTriggered,
    function_tool,
)
from agents.run import get_default_agent_runner
from agents.tracing import get_trace_provider

from assay.session import MissingUser, SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.openai_agents import AssayRunner

from .scripted import ScriptedModel

__all__ = ["Built", "OpenAIAgentsHarness", "on_a_loop"]

SYSTEM = "You are a careful assistant."


class Bare:
    """The host's own runner, called like the one with a memory."""

    async def run(self, *given: Any, user: Any = None, **arguments: Any) -> Any:
        return await Runner.run(*given, **arguments)

    def run_sync(self, *given: Any, user: Any = None, **arguments: Any) -> Any:
        return Runner.run_sync(*given, **arguments)

    def run_streamed(self, *given: Any, user: Any = None, **arguments: Any) -> Any:
        return Runner.run_streamed(*given, **arguments)


@dataclass
class Built:
    """An agent, what runs it, and the sessions in which the host keeps its conversations."""

    agent: Agent[Any]
    runner: Any
    hooks: RunHooks[Any] | None = None
    config: RunConfig | None = None
    log: list[str] = field(default_factory=list[str])
    sessions: dict[SessionKey, SQLiteSession] = field(default_factory=dict[SessionKey, SQLiteSession])
    waiting: dict[SessionKey, RunState[Any]] = field(default_factory=dict[SessionKey, RunState[Any]])
    approved: list[object] = field(default_factory=list[object])

    def arguments(self, key: SessionKey) -> dict[str, Any]:
        session = None
        if key.session is not None:
            session = self.sessions.get(key) or self.sessions.setdefault(key, SQLiteSession(key.session))
        return {"user": key.user, "session": session, "hooks": self.hooks, "run_config": self.config}


class OpenAIAgentsHarness:
    """The harness of the Agents SDK; `binding` makes the runner under test."""

    entries = frozenset({Entry.SYNC, Entry.ASYNC, Entry.ASTREAM})
    package = "assay_integrations.openai_agents"
    extra = "openai-agents"
    framework = ("agents", "openai")

    def __init__(self, binding: Callable[..., Any] = AssayRunner) -> None:
        self._binding = binding
        self._sessions: list[dict[SessionKey, SQLiteSession]] = []
        self.control_flow = (ControlFlow("tripwire", _trip),)

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        runner = Bare() if memory is None else self._binding(memory, options=options)
        built = Built(Agent("main", instructions=SYSTEM, model=ScriptedModel(script)), runner)
        built.agent.tools = _tools(script, built)
        if sub_agent:
            sub = Agent("sub", instructions=SYSTEM, model=ScriptedModel(script, "sub"), tools=_tools(script, built))
            built.agent.tools.append(_ask(sub, built))
            built.agent.handoffs.append(sub)
        if user_hooks:
            built.hooks, built.agent.hooks = UserHooks(built.log), UserAgentHooks(built.log)
            built.config = _config(built.log)
        self._sessions.append(built.sessions)
        return built

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        return self._outcome(agent, text, key, entry)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        chunks: list[str] = []

        async def take() -> None:
            result = agent.runner.run_streamed(agent.agent, text, **agent.arguments(key))
            async for event in result.stream_events():
                if _delta(event):
                    chunks.append(_delta(event))
                    result.cancel()  # the host's way to leave a stream, which is then read to its end

        asyncio.run(take())
        return Outcome(chunks=tuple(chunks))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        state = agent.waiting.pop(key)
        for interruption in state.get_interruptions():
            state.approve(interruption)
        agent.approved.append(value)
        return self._outcome(agent, state, key, Entry.SYNC)

    def history(self, agent: Built, key: SessionKey) -> str:
        session = agent.arguments(key)["session"]
        return "\n".join(map(str, asyncio.run(session.get_items()))) if session else ""

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        return Built(agent.agent.clone(), agent.runner, sessions=agent.sessions)

    def detach(self, agent: Built) -> None:
        agent.runner = Bare()

    def snapshot(self) -> object:
        """The default runner, and the provider of traces with who listens to it."""
        provider = get_trace_provider()
        listeners = getattr(provider, "_multi_processor")  # noqa: B009
        return id(get_default_agent_runner()), id(provider), list(map(id, listeners._processors))

    def close(self) -> None:
        """Close what the host's sessions hold."""
        for sessions in self._sessions:
            for session in sessions.values():
                session.close()

    def _outcome(self, agent: Built, given: object, key: SessionKey, entry: Entry) -> Outcome:
        seen: list[Any] = []
        results: list[Any] = []

        async def run() -> None:
            results.append(await agent.runner.run(agent.agent, given, **agent.arguments(key)))

        async def stream() -> None:
            result = agent.runner.run_streamed(agent.agent, given, **agent.arguments(key))
            async for event in result.stream_events():
                seen.append(event)
            results.append(result)

        ways: dict[Entry, Callable[[], object]] = {
            Entry.SYNC: lambda: on_a_loop(
                lambda: results.append(agent.runner.run_sync(agent.agent, given, **agent.arguments(key)))
            ),
            Entry.ASYNC: lambda: asyncio.run(run()),
            Entry.ASTREAM: lambda: asyncio.run(stream()),
        }
        error: BaseException | None = None
        try:
            ways[entry]()
        except MissingUser:  # of the call itself, before there is a run
            raise
        except BaseException as raised:
            error = raised
        result = results[0] if results else None
        if result is not None and result.interruptions:
            agent.waiting[key] = result.to_state()
        return _described(result, error, seen)


class UserHooks(RunHooks[Any]):
    """Hooks of the user's own; they write down what they are told."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        self._log.append(f"run: {agent.name} starts with {context.turn_input}")

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        self._log.append(f"run: {agent.name} ends with {output}")

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        # The items are what the model receives, which the prompts of the script show.
        self._log.append(f"run: {agent.name} is asked under {system_prompt}")

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        self._log.append(f"run: {agent.name} answers {response.output}")

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self._log.append(f"run: {agent.name} calls {tool.name} {context.tool_arguments} {context.tool_call_id}")

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        self._log.append(f"run: {tool.name} gives {result!r}")


class UserAgentHooks(AgentHooks[Any]):
    def __init__(self, log: list[str]) -> None:
        self._log = log

    async def on_start(self, context: Any, agent: Any) -> None:
        self._log.append(f"agent: {agent.name} starts")

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        self._log.append(f"agent: {tool.name} gives {result!r}")

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        self._log.append(f"agent: {agent.name} ends with {output}")


def on_a_loop(run: Callable[[], object]) -> None:
    """Give `run_sync` a loop of its own, which the host would otherwise leave open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        run()
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        asyncio.set_event_loop(None)


def _config(log: list[str]) -> RunConfig:
    def filter(data: Any) -> Any:
        log.append(f"filter: {data.agent.name} {data.model_data}")
        return data.model_data

    def formatter(args: Any) -> None:
        log.append(f"formatter: {args.tool_name}")

    return RunConfig(call_model_input_filter=filter, tool_error_formatter=formatter)


def _delta(event: Any) -> str:
    raw = event.data if event.type == "raw_response_event" else None
    return str(raw.delta) if raw is not None and raw.type == "response.output_text.delta" else ""


def _described(result: Any, error: BaseException | None, seen: list[Any]) -> Outcome:
    interrupted = result is not None and bool(result.interruptions)
    shown = result and (result.new_items, result.raw_responses, result.to_input_list(), result.context_wrapper.usage)
    return Outcome(
        result=None if result is None or interrupted else result.final_output,
        error=error,
        chunks=tuple(filter(None, map(_delta, seen))),
        seen=f"{seen} {shown}",
        interrupted=interrupted,
    )


def _tools(script: Script, built: Built) -> list[Tool]:
    def approve(question: str) -> str:
        """Ask a person for approval."""
        return str(built.approved.pop(0))

    *plain, signal = script.tools()
    return [
        *(function_tool(tool) for tool in plain),
        function_tool(signal, failure_error_function=None),
        function_tool(approve, needs_approval=True),
    ]


def _ask(sub: Agent[Any], built: Built) -> Tool:
    async def ask_sub(question: str) -> str:
        """Ask the other agent."""
        return str((await built.runner.run(sub, question)).final_output)

    return function_tool(ask_sub)


def _trip() -> None:
    """Do what a guardrail of the user does to stop a run."""
    guardrail = ToolOutputGuardrail[Any](guardrail_function=lambda data: ToolGuardrailFunctionOutput.allow())
    raise ToolOutputGuardrailTripwireTriggered(guardrail, ToolGuardrailFunctionOutput.raise_exception())
