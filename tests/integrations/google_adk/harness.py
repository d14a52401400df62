"""Drives real ADK agents for the contract: `App`, `Runner`, its session service, plugins and callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.adk import runners
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.events import Event
from google.adk.plugins import BasePlugin
from google.adk.plugins.plugin_manager import PluginManager
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.adk.tools.tool_context import ToolContext
from google.adk.workflow._errors import NodeInterruptedError
from google.genai.types import Content, FunctionResponse, Part

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay_integrations.google_adk import AssayPlugin

from .scripted import ScriptedModel

__all__ = ["APP", "SYSTEM", "Built", "GoogleADKHarness", "ask", "texts"]

APP = "deploys"
SYSTEM = "You are a careful assistant."

# Before 2.10 `Runner.run` keeps errors to itself or runs on when nobody reads: there it has nothing to show.
_SYNC_RUNS_LIKE_ASYNC = hasattr(runners, "_CALLER_CLOSED_EARLY_MSG")


@dataclass
class Built:
    """An agent, the plugins of its app, where its sessions are, and what the user's hooks wrote."""

    agent: LlmAgent
    model: ScriptedModel
    plugins: list[BasePlugin]
    ours: list[BasePlugin]
    sessions: InMemorySessionService = field(default_factory=InMemorySessionService)
    log: list[str] = field(default_factory=list[str])

    def runner(self) -> Runner:
        app = App(name=APP, root_agent=self.agent, plugins=self.plugins)
        return Runner(app=app, session_service=self.sessions, auto_create_session=True)


class GoogleADKHarness:
    """The harness of Google ADK; `binding` makes the plugin under test."""

    entries = frozenset(Entry) if _SYNC_RUNS_LIKE_ASYNC else frozenset({Entry.ASYNC, Entry.ASTREAM})
    control_flow = (ControlFlow("node-interrupted", lambda: _raise(NodeInterruptedError())),)
    package = "assay_integrations.google_adk"
    extra = "google-adk"
    framework = ("google.adk", "google.genai")

    def __init__(self, binding: Callable[..., BasePlugin] = AssayPlugin) -> None:
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
        ours = [] if memory is None else [self._binding(memory, options=options)]
        plugins = [UserHooks("first", log), *ours, UserHooks("last", log)] if user_hooks else [*ours]
        model = ScriptedModel(script=script)
        tools: list[Any] = [*script.tools(), LongRunningFunctionTool(approve)]
        subs: list[BaseAgent] = [_sub(script)] if sub_agent else []
        if sub_agent:
            tools.append(AskSub(_sub(script)))
        agent = LlmAgent(name="main", model=model, instruction=SYSTEM, tools=tools, sub_agents=subs)
        if user_hooks:
            agent.before_model_callback = agent.after_model_callback = _noting(log)
        return Built(agent, model, plugins, ours, log=log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        return _outcome(agent, Content(role="user", parts=[Part(text=text)]), key, entry)

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        agent.model.stalls = True
        runner, given = agent.runner(), _given(Content(role="user", parts=[Part(text=text)]), key, entry)
        if not entry.awaits:
            stream = runner.run(**given)
            first = next(stream)
            stream.close()
            agent.model.stalls = False
            return Outcome(chunks=tuple(texts([first])))

        async def take() -> Event:
            stream = runner.run_async(**given)
            first = await anext(stream)
            await stream.aclose()
            return first

        first = asyncio.run(take())
        agent.model.stalls = False
        return Outcome(chunks=tuple(texts([first])))

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        call = next(call for event in reversed(_stored(agent, key)) for call in event.get_function_calls())
        answer = FunctionResponse(id=call.id, name=call.name, response={"result": value})
        return _outcome(agent, Content(role="user", parts=[Part(function_response=answer)]), key, Entry.ASYNC)

    def history(self, agent: Built, key: SessionKey) -> str:
        return "\n".join(event.model_dump_json(exclude_none=True) for event in _stored(agent, key))

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        return Built(agent.agent.clone(), agent.model, agent.plugins, agent.ours, agent.sessions, agent.log)

    def detach(self, agent: Built) -> None:
        agent.plugins = [plugin for plugin in agent.plugins if plugin not in agent.ours]

    def snapshot(self) -> object:
        """A runner's own list of plugins is all that ADK keeps: nothing of its classes may have been replaced."""
        return [dict(vars(kind)) for kind in (BasePlugin, PluginManager, Runner, LlmAgent)]


class AskSub(AgentTool):
    """The host's own way to call an agent, under the name and argument that the contract uses."""

    def __init__(self, agent: LlmAgent) -> None:
        super().__init__(agent)
        self.name = "ask_sub"

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        return await super().run_async(args={"request": args["question"]}, tool_context=tool_context)


class UserHooks(BasePlugin):
    """Hooks of the user's own in every place where ours are; they write down what they are told."""

    def __init__(self, label: str, log: list[str]) -> None:
        super().__init__(f"user-{label}")
        self._log = log

    def __getattribute__(self, name: str) -> Any:
        if not name.endswith("_callback"):
            return super().__getattribute__(name)

        async def note(**given: Any) -> None:
            self._log.append(f"{self.name} {name} {_shown(given)}")

        return note


def approve(question: str) -> None:
    """Ask a person for approval."""


def ask(agent: Built, text: str, *, user: str = "ada", session: str = "s1", entry: Entry = Entry.ASYNC) -> Outcome:
    return GoogleADKHarness().run(agent, text, key=SessionKey(user, session), entry=entry)


def texts(events: Sequence[Event]) -> list[str]:
    """Give the words in events, one text an event."""
    told = ["".join(part.text or "" for part in event.content.parts or ()) for event in events if event.content]
    return [text for text in told if text]


def _sub(script: Script) -> LlmAgent:
    model = ScriptedModel(script=script, agent="sub")
    return LlmAgent(
        name="sub", description="Knows it.", model=model, instruction=SYSTEM, tools=[*script.tools()], mode="chat"
    )


def _given(content: Content, key: SessionKey, entry: Entry) -> dict[str, Any]:
    config = RunConfig.model_validate({"streaming_mode": "sse"} if entry.streams else {})
    # Every run of ADK names a user and a session; an empty name stands for none.
    return {
        "user_id": key.user or "",
        "session_id": key.session or "none",
        "new_message": content,
        "run_config": config,
    }


def _outcome(agent: Built, content: Content, key: SessionKey, entry: Entry) -> Outcome:
    runner, given, happened = agent.runner(), _given(content, key, entry), list[Event]()

    async def collect() -> None:
        async for event in runner.run_async(**given):
            happened.append(event)

    error: BaseException | None = None
    try:
        if entry.awaits:
            asyncio.run(collect())
        else:
            happened.extend(runner.run(**given))
    except BaseException as raised:
        error = raised
    last = happened[-1] if happened else None
    answered = {answer.id for event in happened for answer in event.get_function_responses()}
    waits = any((event.long_running_tool_ids or set()) - answered for event in happened)
    final = last is not None and last.is_final_response() and error is None and not waits
    return Outcome(
        result="".join(texts([last])) if final and last else None,
        error=error,
        chunks=tuple(texts([event for event in happened if event.partial])),
        seen=str(happened),
        interrupted=waits,
    )


def _stored(agent: Built, key: SessionKey) -> list[Event]:
    service, ids = agent.sessions, _given(Content(), key, Entry.ASYNC)
    session = asyncio.run(service.get_session(app_name=APP, user_id=ids["user_id"], session_id=ids["session_id"]))
    return session.events if session else []


def _noting(log: list[str]) -> Callable[..., None]:
    def note(**given: Any) -> None:
        log.append(f"agent {_shown(given)}")

    return note


def _shown(given: dict[str, Any]) -> str:
    """Describe what a hook is told, without ids, times, and the place of our block in a prompt."""
    told: list[str] = []
    for name, value in sorted(given.items()):
        if name == "event":
            told.append(f"{value.author}: {texts([value])} {value.get_function_calls()} {value.partial}")
        elif name in ("user_message", "llm_response"):
            told.append(str(value.model_dump(exclude_none=True, exclude={"usage_metadata"})))
        elif name == "llm_request":
            told.append(str([*value.tools_dict, value.config.system_instruction, len(value.contents)]))
        elif name in ("agent", "tool"):
            told.append(str(value.name))
        elif name in ("tool_args", "tool_response", "result", "error", "args"):
            told.append(f"{name}={value!r}")
    return " | ".join(told)


def _raise(error: BaseException) -> None:
    raise error
