"""Drives real agents of Pydantic AI for the contract: its four ways to run one, its messages and its deferred tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, SkipToolExecution
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.output import ToolOutput
from pydantic_ai.result import StreamedRunResultSync
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults
from pydantic_ai.usage import RunUsage

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.pydantic_ai import AssayCapability

from .scripted import ScriptedModel

__all__ = ["SYSTEM", "Built", "PydanticAIHarness"]

SYSTEM = "You are a careful assistant."
# Before it could be closed, the host dropped the run of a sync stream as soon as it had begun.
CLOSES_SYNC_STREAMS = hasattr(StreamedRunResultSync, "__exit__")

Capabilities = Sequence[AbstractCapability[Any]]


@dataclass
class Deps:
    """What the app hands to its tools."""

    user_id: str


@dataclass
class Built:
    """An agent, with what it takes to build it again without memory, its conversations, and what the hooks wrote."""

    agent: Agent[Any, Any]
    without_memory: Callable[[], Agent[Any, Any]]
    log: list[str]
    threads: dict[SessionKey, list[ModelMessage]] = field(default_factory=dict[SessionKey, list[ModelMessage]])


class PydanticAIHarness:
    """The harness of Pydantic AI; `binding` makes the capability under test."""

    entries = frozenset(Entry if CLOSES_SYNC_STREAMS else set(Entry) - {Entry.STREAM})
    control_flow = (
        ControlFlow("retry", lambda: _raise(ModelRetry("try again"))),
        ControlFlow("deferred", lambda: _raise(CallDeferred())),
        ControlFlow("approval", lambda: _raise(ApprovalRequired())),
        ControlFlow("skip", lambda: _raise(SkipToolExecution("skipped"))),
    )
    package = "assay_integrations.pydantic_ai"
    extra = "pydantic-ai"
    framework = ("pydantic_ai", "pydantic_core")

    def __init__(self, binding: Callable[..., AbstractCapability[Any]] = AssayCapability) -> None:
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

        def make(capabilities: Capabilities) -> Agent[Any, Any]:
            if user_hooks:
                capabilities = [UserHooks("first", log), *capabilities, UserHooks("last", log)]
            return _agent(script, capabilities, sub_agent=sub_agent)

        ours = [] if memory is None else [self._binding(memory, options=options)]
        return Built(make(ours), lambda: make([]), log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        return self._outcome(agent, text, key, entry)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        given = _given(agent, key)
        if not entry.awaits:
            with _loop(), agent.agent.run_stream_sync(text, **given) as stream:
                return Outcome(chunks=(next(iter(stream.stream_text(delta=True, debounce_by=None))),))

        async def take() -> str:
            async with agent.agent.run_stream(text, **given) as stream:
                async for piece in stream.stream_text(delta=True, debounce_by=None):
                    return piece
            return ""

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        newest = agent.threads[key][-1]
        ids = [call.tool_call_id for call in newest.tool_calls] if isinstance(newest, ModelResponse) else []
        results = DeferredToolResults(
            approvals=dict.fromkeys(ids, True), metadata={one: {"value": value} for one in ids}
        )
        return self._outcome(agent, None, key, Entry.SYNC, deferred_tool_results=results)

    def history(self, agent: Built, key: SessionKey) -> str:
        return ModelMessagesTypeAdapter.dump_json(agent.threads.get(key, [])).decode()

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """What this host saves is the conversation, as JSON."""
        saved = {key: ModelMessagesTypeAdapter.dump_json(messages) for key, messages in agent.threads.items()}
        threads = {key: ModelMessagesTypeAdapter.validate_json(messages) for key, messages in saved.items()}
        return Built(agent.agent, agent.without_memory, agent.log, threads)

    def detach(self, agent: Built) -> None:
        agent.agent = agent.without_memory()

    def snapshot(self) -> object:
        """Whether every agent is traced is all that this host keeps globally."""
        return Agent._instrument_default

    def _outcome(self, agent: Built, text: str | None, key: SessionKey, entry: Entry, **more: Any) -> Outcome:
        usage = RunUsage()
        given = {**_given(agent, key), "usage": usage, **more}
        chunks: list[str] = []

        def stream() -> Any:
            with agent.agent.run_stream_sync(text, **given) as result:
                if result.response.text:
                    chunks.extend(result.stream_text(delta=True, debounce_by=None))
                return result, result.get_output()

        async def astream() -> Any:
            async with agent.agent.run_stream(text, **given) as result:
                if result.response.text:
                    chunks.extend([piece async for piece in result.stream_text(delta=True, debounce_by=None)])
                return result, await result.get_output()

        def plain(result: Any) -> Any:
            return result, result.output

        ways: dict[Entry, Callable[[], Any]] = {
            Entry.SYNC: lambda: plain(agent.agent.run_sync(text, **given)),
            Entry.ASYNC: lambda: plain(asyncio.run(agent.agent.run(text, **given))),
            Entry.STREAM: stream,
            Entry.ASTREAM: lambda: asyncio.run(astream()),
        }
        try:
            with _loop():
                result, output = ways[entry]()
        except BaseException as error:
            return Outcome(error=error, chunks=tuple(chunks))
        agent.threads[key] = result.all_messages()
        waits = isinstance(output, DeferredToolRequests)
        seen = f"{result.new_messages()} {usage} {result.metadata}"
        return Outcome(None if waits else str(output), None, tuple(chunks), seen, interrupted=waits)


class UserHooks(AbstractCapability[Any]):
    """Hooks of the user's own in every place where ours are; they write down what they are told."""

    def __init__(self, label: str, log: list[str]) -> None:
        self._label = label
        self._log = log

    def _note(self, hook: str, ctx: RunContext[Any], *rest: object) -> None:
        kinds = [[(part.part_kind, getattr(part, "content", "")) for part in message.parts] for message in ctx.messages]
        self._log.append(f"{self._label} {hook} {ctx.prompt} {ctx.run_step} {kinds} {rest}")

    async def before_run(self, ctx: RunContext[Any]) -> None:
        self._note("before_run", ctx)

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        self._note("before wrapped run", ctx)
        result = await handler()
        self._note("after wrapped run", ctx, result.output)
        return result

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        self._note("after_run", ctx, result.output)
        return result

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        self._note("before_model_request", ctx, request_context.model.model_name)
        return request_context

    async def wrap_model_request(self, ctx: RunContext[Any], *, request_context: Any, handler: Any) -> Any:
        self._note("before wrapped request", ctx, request_context.model_settings)
        response = await handler(request_context)
        self._note("after wrapped request", ctx, response.text)
        return response

    async def after_model_request(self, ctx: RunContext[Any], *, request_context: Any, response: Any) -> Any:
        self._note("after_model_request", ctx, response.text)
        return response

    async def before_tool_execute(self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any) -> Any:
        self._note("before_tool_execute", ctx, call.tool_name, tool_def.name, args)
        return args

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any, handler: Any
    ) -> Any:
        self._note("before wrapped tool", ctx, call.tool_name, args)
        result = await handler(args)
        self._note("after wrapped tool", ctx, result)
        return result

    async def after_tool_execute(
        self, ctx: RunContext[Any], *, call: Any, tool_def: Any, args: Any, result: Any
    ) -> Any:
        self._note("after_tool_execute", ctx, result)
        return result

    async def wrap_output_process(self, ctx: RunContext[Any], *, output_context: Any, output: Any, handler: Any) -> Any:
        self._note("before output", ctx, output_context.mode, output)
        result = await handler(output)
        self._note("after output", ctx, result)
        return result


def _agent(script: Script, capabilities: Capabilities, *, sub_agent: bool) -> Agent[Any, Any]:
    def approve(ctx: RunContext[Any], question: str) -> str:
        """Ask a person for approval."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired()
        return str(ctx.tool_call_metadata["value"])

    sub: Agent[Any, Any] = Agent(
        ScriptedModel(script, "sub"), name="sub", instructions=SYSTEM, tools=script.tools(), capabilities=capabilities
    )

    async def ask_sub(ctx: RunContext[Any], question: str) -> str:
        """Ask the other agent."""
        return str((await sub.run(question, deps=ctx.deps, usage=ctx.usage)).output)

    async def transfer_to_sub(ctx: RunContext[Any], question: str) -> str:
        """Hand the question over to the other agent."""
        return str((await sub.run(ctx.prompt, deps=ctx.deps, usage=ctx.usage)).output)

    outputs: list[Any] = [str, DeferredToolRequests]
    return Agent(
        ScriptedModel(script),
        name="main",
        instructions=SYSTEM,
        tools=[*script.tools(), approve, *([ask_sub] if sub_agent else [])],
        output_type=[*outputs, ToolOutput(transfer_to_sub, name="transfer_to_sub")] if sub_agent else outputs,
        capabilities=capabilities,
    )


def _given(agent: Built, key: SessionKey) -> dict[str, Any]:
    deps = None if key.user is None else Deps(key.user)
    return {"deps": deps, "conversation_id": key.session, "message_history": agent.threads.get(key)}


@contextmanager
def _loop() -> Generator[None]:
    """Give the host's sync calls a loop of their own, and leave none of its tasks behind, even after an interrupt."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with suppress(BaseException):
                loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()


def _raise(error: BaseException) -> None:
    raise error
