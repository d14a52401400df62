"""A client of AG2 classic that says what a script says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import autogen
from autogen import ConversableAgent
from autogen.tools import Tool

from assay.testing import Call, HandOff, Say, Script

__all__ = ["ScriptedClient", "scripted"]


class ScriptedClient:
    """Answers from the lane of one agent."""

    def __init__(self, config: Mapping[str, Any], script: Script, agent: str) -> None:
        self._script = script
        self._agent = agent

    def create(self, params: Mapping[str, Any]) -> SimpleNamespace:
        step = self._script.reply(_received(params["messages"]), agent=self._agent)
        content, calls = None, None
        match step:
            case Say():
                content = str(step.text)
            case Call():
                function = {"name": step.name, "arguments": json.dumps(dict(step.args))}
                calls = [{"id": step.id, "type": "function", "function": function}]
            case HandOff():
                raise AssertionError("no hook of this host sees a transfer")
        message = {"role": "assistant", "content": content, "tool_calls": calls}
        choices = [SimpleNamespace(message=message)]
        return SimpleNamespace(choices=choices, model="scripted", cost=0, usage=None, message_retrieval_function=None)

    def message_retrieval(self, response: SimpleNamespace) -> list[Any]:
        message = response.choices[0].message
        return [message if message["tool_calls"] else message["content"]]

    def cost(self, response: SimpleNamespace) -> float:
        return 0

    @staticmethod
    def get_usage(response: SimpleNamespace) -> dict[str, Any]:
        return {}


def scripted(
    name: str,
    script: Script,
    *functions: Callable[..., Any],
    lane: str = "main",
    tools: Sequence[Tool] = (),
    executor: ConversableAgent | None = None,
    client: type[ScriptedClient] | None = None,
    **given: Any,
) -> ConversableAgent:
    """Make an agent with a scripted model, whose tools another agent runs."""
    speaks: Any = client or ScriptedClient
    config = {"config_list": [{"model": "scripted", "model_client_cls": speaks.__name__}], "cache_seed": None}
    given = {"system_message": "You are a careful assistant.", "human_input_mode": "NEVER", **given}
    agent = ConversableAgent(name, llm_config=config, **given)
    for one in tools:
        one.register_for_llm(agent)
        one.register_for_execution(executor or agent)
    for function in functions:
        named = {"name": function.__name__, "description": str(function.__doc__)}
        autogen.register_function(function, caller=agent, executor=executor or agent, **named)
    # Each tool makes the host build its client anew, so this comes last.
    agent.register_model_client(speaks, script=script, agent=lane)
    return agent


def _received(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if message.get("content") is not None:
            yield message["role"], str(message["content"])
