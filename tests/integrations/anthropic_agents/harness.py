"""Drives the Claude Agent SDK for the contract: `query` and the client, their hooks, their MCP server."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    Message,
    ResultMessage,
    SdkMcpTool,
    StreamEvent,
    create_sdk_mcp_server,
    query,
    tool,
)

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.anthropic_agents import AssayHooks, AssaySDKClient

from .command_line import SERVER, CommandLine, Machine

__all__ = ["Built", "ClaudeHarness", "host_options"]

EVENTS: tuple[Any, ...] = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
)


@dataclass
class Built:
    """The options of an agent, the machine it runs on, its memory, and what the user's hooks wrote."""

    machine: Machine
    options: ClaudeAgentOptions
    memory: StoreRouter | None
    memory_options: SessionOptions | None
    user_hooks: bool
    approval: list[object]
    log: list[str] = field(default_factory=list[str])
    cloned: bool = False

    def with_users_last(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """Do with options what a user may do with them once the memory's hooks are in."""
        if self.cloned:
            options = replace(options, max_turns=50)
        if not self.user_hooks:
            return options
        last = {event: HookMatcher(hooks=[_user_hook("last", event, self.log)]) for event in EVENTS}
        return replace(options, hooks={event: [*(options.hooks or {})[event], last[event]] for event in EVENTS})


class ClaudeHarness:
    """The harness of the SDK; `binding` makes the hooks under test."""

    entries = frozenset({Entry.ASYNC, Entry.ASTREAM})
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.anthropic_agents"
    extra = "anthropic-agents"
    framework = ("claude_agent_sdk",)

    def __init__(self, binding: Callable[..., AssayHooks] = AssayHooks) -> None:
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
        approval: list[object] = []
        built = Built(Machine(script), host_options(script, approval), memory, options, user_hooks, approval)
        if user_hooks:
            built.options.hooks = {
                event: [HookMatcher(hooks=[_user_hook("first", event, built.log)])] for event in EVENTS
            }
        return built

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        return self._outcome(self._stream(agent, text, key, entry))

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        async def take() -> str:
            async with self._client(agent, key) as client:
                await client.query(text)
                async for message in client.receive_response():
                    if isinstance(message, StreamEvent):
                        return str(message.event["delta"]["text"])
            raise AssertionError("nothing was streamed")

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        agent.approval.append(value)

        return self._outcome(_by_client(self._client(agent, key, resume=True), None))

    def history(self, agent: Built, key: SessionKey) -> str:
        return "\n".join(f"{role}: {text}" for role, text in agent.machine.transcripts[str(key.session)])

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        return replace(agent, cloned=True)

    def detach(self, agent: Built) -> None:
        agent.memory = None

    def snapshot(self) -> object:
        """The SDK keeps no hooks globally; what it hands to its process is the environment."""
        return dict(os.environ)

    def _stream(self, agent: Built, text: str, key: SessionKey, entry: Entry) -> AsyncIterator[Message]:
        if entry is Entry.ASTREAM:
            return _by_client(self._client(agent, key), text)
        made = self._transports(agent, key)
        if agent.memory is None:
            options = agent.with_users_last(agent.options)
            return query(prompt=text, options=options, transport=made(options))
        memory = self._binding(agent.memory, user=key.user, transport=made, options=agent.memory_options)
        return _by_query(memory, agent, text, made)

    def _client(self, agent: Built, key: SessionKey, *, resume: bool = False) -> ClaudeSDKClient:
        options = replace(agent.options, include_partial_messages=True)
        made = self._transports(agent, key, resume=resume)
        if agent.memory is None:
            options = agent.with_users_last(options)
            return ClaudeSDKClient(options, made(options))
        client = AssaySDKClient(agent.memory, options, made, user=key.user, memory_options=agent.memory_options)
        client.options = agent.with_users_last(client.options)
        return client

    def _transports(
        self, agent: Built, key: SessionKey, *, resume: bool = False
    ) -> Callable[[ClaudeAgentOptions], CommandLine]:
        return lambda options: CommandLine(agent.machine, options, str(key.session), resume=resume)

    def _outcome(self, stream: AsyncIterator[Message]) -> Outcome:
        messages: list[Message] = []

        async def collect() -> None:
            async for message in stream:
                messages.append(message)

        error: BaseException | None = None
        try:
            asyncio.run(collect())
        except BaseException as raised:
            error = raised
        last = messages[-1] if messages else None
        interrupted = isinstance(last, ResultMessage) and last.terminal_reason == "tool_deferred"
        done = error is None and isinstance(last, ResultMessage) and not last.is_error and not interrupted
        return Outcome(
            result=last.result if done and isinstance(last, ResultMessage) else None,
            error=error,
            chunks=tuple(one.event["delta"]["text"] for one in messages if isinstance(one, StreamEvent)),
            seen=str(messages),
            interrupted=interrupted,
        )


async def _by_client(client: ClaudeSDKClient, text: str | None) -> AsyncIterator[Message]:
    async with client:
        if text is not None:
            await client.query(text)
        async for message in client.receive_response():
            yield message


async def _by_query(memory: AssayHooks, agent: Built, text: str, made: Any) -> AsyncIterator[Message]:
    async with memory:
        options = agent.with_users_last(memory.attach(agent.options))
        async for message in query(prompt=text, options=options, transport=made(options)):
            yield message


def host_options(script: Script, approval: list[object]) -> ClaudeAgentOptions:
    """Make the options of an agent with the script's tools, one of which has to be approved first."""

    async def defer(given: Any, tool_use_id: str | None, context: Any) -> Any:
        if approval:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}

    def approve(question: str) -> str:
        """Ask a person for approval."""
        return str(approval[-1])

    made = [_tool(function) for function in (*script.tools(), approve)]
    return ClaudeAgentOptions(
        mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=made)},
        hooks={"PreToolUse": [HookMatcher(matcher=f"mcp__{SERVER}__approve", hooks=[defer])]},
    )


def _tool(function: Callable[..., object]) -> SdkMcpTool[Any]:
    parameters: dict[str, Any] = dict.fromkeys(inspect.signature(function).parameters, str)
    if function.__name__ == "add":
        parameters = {"a": int, "b": int}

    async def handler(given: dict[str, Any]) -> dict[str, Any]:
        try:
            result = function(**given)
        except Exception as error:
            # The host tells a hook what an error says, and not its type.
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        return {"content": [{"type": "text", "text": str(result)}]}

    return tool(function.__name__, str(function.__doc__), parameters)(handler)


def _user_hook(label: str, event: str, log: list[str]) -> Any:
    async def hook(given: Any, tool_use_id: str | None, context: Any) -> Any:
        log.append(f"{label} {event} { {name: told for name, told in given.items() if name != 'prompt_id'} }")
        return {}

    return hook
