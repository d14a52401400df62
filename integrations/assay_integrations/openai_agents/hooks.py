"""The hooks of one run: the user's own come first and see what they always saw, then the memory is told."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from agents import (
    Agent,
    AgentHookContext,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Tool,
    ToolErrorFormatterArgs,
    TResponseInputItem,
)
from agents.memory import Session as HostSession
from agents.run import CallModelData, ModelInputData
from agents.tool_context import ToolContext

from assay.session import Session, field_of, guard
from assay_integrations.openai_agents.composing import Config
from assay_integrations.openai_agents.events import Events

__all__ = ["MemoryHooks"]

Context = RunContextWrapper[Any]


class MemoryHooks(RunHooks[Any]):
    """Records one run and briefs its models.

    Args:
        theirs: The hooks that the user gave to the run.
        config: The user's configuration of the run, whose filter and formatter are kept.
        composer: Writes the continuity, if it is time when the run has ended.

    Attributes:
        output: Name of the agent that gave the run's output, and the output; None while there is none.
    """

    def __init__(
        self,
        events: Events,
        theirs: RunHooks[Any] | None,
        config: Config,
        composer: Callable[[str], Awaitable[str]],
    ) -> None:
        self.events = events
        self._theirs = theirs or RunHooks[Any]()
        self._config = config
        self._composer = composer
        self.output: tuple[str, object] | None = None

    @property
    def session(self) -> Session:
        """Give the session of the run."""
        return self.events.session

    def given(self, session: HostSession | None) -> dict[str, Any]:
        """Give the arguments of a run that hook it: the user's configuration with the memory's filter and formatter.

        It stays a dict where theirs was none, because the host closes the model provider that it makes then.
        """
        ours: dict[str, Any] = {"call_model_input_filter": self.brief, "tool_error_formatter": self.format_error}
        config = self._config
        config = replace(config, **ours) if isinstance(config, RunConfig) else {**(config or {}), **ours}
        return {"hooks": self, "run_config": config, "session": session}

    # -- the run ---------------------------------------------------------------------------------------------------

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Agent[Any]) -> None:
        """Open the run and record what the person said, before the first agent of it."""
        await self._theirs.on_agent_start(context, agent)
        await self._tell("run_started", self.events.began)

    async def on_agent_end(self, context: AgentHookContext[Any], agent: Agent[Any], output: Any) -> None:
        """Note the output: it is recorded when the guardrails have passed it."""
        await self._theirs.on_agent_end(context, agent, output)
        self.output = agent.name, output

    async def finished(self) -> None:
        """Close the run, which the host has ended well, and consolidate if it is time."""
        if self.output is None:  # it waits for an approval, or was asked to stop after a turn
            return await self._tell("agent_message", self.events.released)
        await self._tell("run_ended", partial(self.events.ended, *self.output))
        with guard(self.session, "wrap"):
            await self.session.aio.wrap(self._composer)

    async def failed(self, error: Exception) -> None:
        """Close the run, which the host has ended with an error: no hook sees that."""
        await self._tell("run_failed", partial(self.events.failed, error))

    async def on_handoff(self, context: Context, from_agent: Agent[Any], to_agent: Agent[Any]) -> None:
        """Record who takes over."""
        await self._theirs.on_handoff(context, from_agent, to_agent)
        await self._tell("handoff", partial(self.events.handed_off, from_agent.name, to_agent.name))

    # -- the model -------------------------------------------------------------------------------------------------

    async def brief(self, data: CallModelData[Any]) -> ModelInputData:
        """Filter the input of a model: the user's own filter, then the briefing."""
        filtered = data.model_data
        theirs = field_of(self._config, "call_model_input_filter")
        if theirs is not None:
            made = theirs(data)
            filtered = await made if inspect.isawaitable(made) else made
        if self.events.holds:
            await self._tell("agent_message", self.events.released)
        with guard(self.session, "briefing"):
            return await self.events.briefed(filtered)
        return filtered

    async def on_llm_start(
        self, context: Context, agent: Agent[Any], system_prompt: str | None, input_items: list[TResponseInputItem]
    ) -> None:
        """Show the user's hooks what the model receives, the briefing included."""
        await self._theirs.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(self, context: Context, agent: Agent[Any], response: ModelResponse) -> None:
        """Note what the model says: it is recorded when the run goes on."""
        await self._theirs.on_llm_end(context, agent, response)
        self.events.said(agent.name, response)

    # -- the tools -------------------------------------------------------------------------------------------------

    async def on_tool_start(self, context: Context, agent: Agent[Any], tool: Tool) -> None:
        """Record the call of a tool."""
        await self._theirs.on_tool_start(context, agent, tool)
        arguments, call_id = _call(context)
        await self._tell("tool_call", partial(self.events.called, agent.name, tool.name, arguments, call_id))

    async def on_tool_end(self, context: Context, agent: Agent[Any], tool: Tool, result: object) -> None:
        """Record what the tool gives."""
        await self._theirs.on_tool_end(context, agent, tool, result)
        await self._tell("tool_result", partial(self.events.returned, tool.name, result, _call(context)[1]))

    async def format_error(self, args: ToolErrorFormatterArgs[Any]) -> str | None:
        """Record how a tool fails, and let the user's own formatter word it; old releases do not say how."""
        error = getattr(args, "error", None)
        if isinstance(error, Exception):
            await self._tell("tool_error", partial(self.events.broke, args.call_id, error))
        theirs = field_of(self._config, "tool_error_formatter")
        message = theirs(args) if theirs is not None else None
        return await message if inspect.isawaitable(message) else message

    async def _tell(self, code: str, step: Callable[[], None]) -> None:
        with guard(self.session, code):
            await self.session.aio.run(step)


def _call(context: Context) -> tuple[str, str | None]:
    """Give arguments and id of a call; the host's own tools, such as its shell, do not say them."""
    return (context.tool_arguments, context.tool_call_id) if isinstance(context, ToolContext) else ("{}", None)
