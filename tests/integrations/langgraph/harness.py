"""Drives real LangChain agents for the contract: `create_agent`, LangGraph's runner, its checkpointer and callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tracers import context as tracing
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.langgraph import AssayMiddleware

from .scripted import ScriptedModel

__all__ = ["Built", "LangGraphHarness"]

SYSTEM = "You are a careful assistant."
MODES: list[Any] = ["messages", "updates", "values", "custom", "debug"]


@dataclass
class Built:
    """A compiled graph, with what it takes to compile it again without memory, and what the user's hooks wrote."""

    graph: Any
    without_memory: Callable[[], Any]
    log: list[str] = field(default_factory=list[str])


class LangGraphHarness:
    """The harness of LangGraph; `binding` makes the middleware under test."""

    entries = frozenset(Entry)
    control_flow = (
        ControlFlow("interrupt", lambda: interrupt("who goes there?")),
        ControlFlow("bubble-up", lambda: _raise(GraphBubbleUp("stop here"))),
    )
    package = "assay_integrations.langgraph"
    extra = "langgraph"
    framework = ("langgraph", "langchain", "langchain_core")

    def __init__(self, binding: Callable[..., AgentMiddleware[Any, Any, Any]] = AssayMiddleware) -> None:
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
        log, saver = list[str](), InMemorySaver()

        def compile(middleware: Sequence[AgentMiddleware[Any, Any, Any]]) -> Any:
            if user_hooks:
                middleware = [UserHooks("first", log), *middleware, UserHooks("last", log)]
            if sub_agent:
                return _team(script, middleware, saver)
            return create_agent(
                ScriptedModel(script=script),
                _tools(script),
                system_prompt=SYSTEM,
                middleware=middleware,
                checkpointer=saver,
            )

        ours = [] if memory is None else [self._binding(memory, options=options)]
        return Built(compile(ours), lambda: compile([]), log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        return self._outcome(agent, {"messages": [HumanMessage(text)]}, key, entry)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        given, config = {"messages": [HumanMessage(text)]}, _config(key, [])
        if not entry.awaits:
            stream = agent.graph.stream(given, config, stream_mode="messages")
            piece, _ = next(stream)
            stream.close()
            return Outcome(chunks=(piece.text,))

        async def take() -> str:
            stream = agent.graph.astream(given, config, stream_mode="messages")
            piece, _ = await anext(stream)
            await stream.aclose()
            return str(piece.text)

        return Outcome(chunks=(asyncio.run(take()),))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        return self._outcome(agent, Command(resume=value), key, Entry.SYNC)

    def history(self, agent: Built, key: SessionKey) -> str:
        messages = agent.graph.get_state(_config(key, [])).values.get("messages", [])
        return "\n".join(f"{message.type}: {message.text} {getattr(message, 'tool_calls', '')}" for message in messages)

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        return Built(agent.graph.copy().with_config(tags=["copied"]), agent.without_memory, agent.log)

    def detach(self, agent: Built) -> None:
        agent.graph = agent.without_memory()

    def snapshot(self) -> object:
        """Hooks that are configured for every run are all that LangChain keeps globally."""
        return [(hook[0].name, *hook[1:]) for hook in tracing._configure_hooks]

    def _outcome(self, agent: Built, given: object, key: SessionKey, entry: Entry) -> Outcome:
        graph, heard = agent.graph, Heard()
        config = _config(key, [heard, heard.usage])
        streamed: list[tuple[str, Any]] = []

        async def collect() -> None:
            async for item in graph.astream(given, config, stream_mode=MODES):
                streamed.append(item)

        ways: dict[Entry, Callable[[], object]] = {
            Entry.SYNC: lambda: streamed.append(("values", graph.invoke(given, config))),
            Entry.ASYNC: lambda: streamed.append(("values", asyncio.run(graph.ainvoke(given, config)))),
            Entry.STREAM: lambda: streamed.extend(graph.stream(given, config, stream_mode=MODES)),
            Entry.ASTREAM: lambda: asyncio.run(collect()),
        }
        error: BaseException | None = None
        try:
            ways[entry]()
        except BaseException as raised:
            error = raised
        return _described(streamed, error, f"{streamed} {heard.events} {heard.usage.usage_metadata}")


class UserHooks(AgentMiddleware[Any, Any, Any]):
    """Hooks of the user's own in every place where ours are; they write down what they are told."""

    def __init__(self, label: str, log: list[str]) -> None:
        super().__init__()
        self.tools = ()
        self._label = label
        self._log = log

    @property
    def name(self) -> str:
        return f"user-{self._label}"

    def _note(self, hook: str, messages: Sequence[Any], *rest: object) -> None:
        self._log.append(f"{self._label} {hook} {[(message.type, message.text) for message in messages]} {rest}")

    def before_agent(self, state: Any, runtime: Any) -> None:
        self._note("before_agent", state["messages"], runtime.context)

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        self.before_agent(state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> None:
        self._note("after_agent", state["messages"], runtime.context)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        self.after_agent(state, runtime)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self._note(
            "before call", request.state["messages"], request.system_message.text, [tool.name for tool in request.tools]
        )
        response = handler(request)
        self._note("after call", response.result)
        return response

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self._note(
            "before call", request.state["messages"], request.system_message.text, [tool.name for tool in request.tools]
        )
        response = await handler(request)
        self._note("after call", response.result)
        return response

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._note("before tool", request.state["messages"], request.tool_call)
        result = handler(request)
        self._note("after tool", [result])
        return result

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self._note("before tool", request.state["messages"], request.tool_call)
        result = await handler(request)
        self._note("after tool", [result])
        return result


class Heard(BaseCallbackHandler):
    """Everything that a caller's callbacks are told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.usage = UsageMetadataCallbackHandler()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)
        return lambda *args, **kwargs: self.events.append(f"{name} {args} {kwargs}")


def _config(key: SessionKey, callbacks: list[BaseCallbackHandler]) -> RunnableConfig:
    ids = {"thread_id": key.session, "user_id": key.user}
    return {"configurable": {name: value for name, value in ids.items() if value is not None}, "callbacks": callbacks}


def _described(streamed: Sequence[tuple[str, Any]], error: BaseException | None, seen: str) -> Outcome:
    values = [chunk for mode, chunk in streamed if mode == "values"]
    last: dict[str, Any] = values[-1] if values else {}
    interrupted = any("__interrupt__" in chunk for mode, chunk in streamed if mode in ("values", "updates"))
    pieces = [chunk[0] for mode, chunk in streamed if mode == "messages" and isinstance(chunk[0], AIMessageChunk)]
    newest = last.get("messages", [None])[-1]
    done = error is None and not interrupted and isinstance(newest, AIMessage)
    return Outcome(
        result=str(newest.text) if done else None,
        error=error,
        chunks=tuple(str(piece.text) for piece in pieces if piece.text),
        seen=seen,
        interrupted=interrupted,
    )


def _tools(script: Script) -> list[BaseTool]:
    def approve(question: str) -> str:
        """Ask a person for approval."""
        return str(interrupt(question))

    return [StructuredTool.from_function(tool) for tool in (*script.tools(), approve)]


def _team(script: Script, middleware: Sequence[AgentMiddleware[Any, Any, Any]], saver: InMemorySaver) -> Any:
    """Make a main agent that can ask a sub-agent by a tool, or hand the conversation over to it."""
    model = ScriptedModel(script=script, agent="sub")
    sub = create_agent(model, _tools(script), system_prompt=SYSTEM, middleware=middleware, name="sub")

    def ask_sub(question: str) -> str:
        """Ask the other agent."""
        return str(sub.invoke({"messages": [HumanMessage(question)]})["messages"][-1].text)

    async def aask_sub(question: str) -> str:
        return str((await sub.ainvoke({"messages": [HumanMessage(question)]}))["messages"][-1].text)

    def transfer_to_sub(runtime: ToolRuntime) -> Command[Any]:
        """Hand the conversation over to the other agent."""
        done = ToolMessage("transferred", tool_call_id=runtime.tool_call_id or "")
        return Command(goto="sub", graph=Command.PARENT, update={"messages": [*runtime.state["messages"], done]})

    tools = [
        *_tools(script),
        StructuredTool.from_function(ask_sub, coroutine=aask_sub),
        StructuredTool.from_function(transfer_to_sub),
    ]
    main = create_agent(ScriptedModel(script=script), tools, system_prompt=SYSTEM, middleware=middleware, name="main")
    graph = StateGraph(MessagesState)
    graph.add_node("main", main)
    graph.add_node("sub", sub)
    graph.add_edge(START, "main")
    return graph.compile(checkpointer=saver)


def _raise(error: BaseException) -> None:
    raise error
