"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents import Agent, Model, ModelProvider, ModelTracing, MultiProvider, RunConfig
from assay_integrations.openai_agents.items import field, spoken

__all__ = ["Config", "compose"]

Config = RunConfig | dict[str, Any] | None


async def compose(agent: Agent[Any], config: Config, prompt: str) -> str:
    """Let the model of an agent answer a prompt of the wrap: beside its runs, so that no stream or trace shows it."""
    chosen: Model | str | None = field(config, "model") or agent.model
    provider: ModelProvider | None = field(config, "model_provider")
    ours = provider or MultiProvider()
    try:
        response = await (chosen if isinstance(chosen, Model) else ours.get_model(chosen)).get_response(
            *(None, prompt),
            # A limit or a tool that is meant for the agent's answers would cut or replace the text.
            replace(agent.model_settings, tool_choice=None, parallel_tool_calls=None, max_tokens=None),
            *([], None, [], ModelTracing.DISABLED),
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
    finally:
        if provider is None:
            await ours.aclose()
    return spoken(response)
