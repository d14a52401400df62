"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents import Agent, Model, ModelProvider, ModelTracing, MultiProvider, RunConfig

from assay.session import field_of
from assay_integrations.openai_agents.items import spoken

__all__ = ["Config", "compose"]

Config = RunConfig | dict[str, Any] | None


async def compose(agent: Agent[Any], config: Config, prompt: str) -> str:
    """Let the model of an agent answer a prompt of the wrap: beside its runs, so that no stream or trace shows it."""
    chosen: Model | str | None = field_of(config, "model") or agent.model
    theirs: ModelProvider | None = field_of(config, "model_provider")
    provider = theirs or MultiProvider()
    model = chosen if isinstance(chosen, Model) else provider.get_model(chosen)
    try:
        response = await model.get_response(
            system_instructions=None,
            input=prompt,
            # A tool or a limit that is meant for the agent's answers would replace the text, or cut it.
            model_settings=replace(agent.model_settings, tool_choice=None, parallel_tool_calls=None, max_tokens=None),
            tools=[],
            output_schema=None,
            handoffs=[],
            tracing=ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
    finally:
        if theirs is None:
            await provider.aclose()
    return spoken(response)
