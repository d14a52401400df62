"""An AutoGen agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with OPENAI_API_KEY set (and `autogen-ext[openai]`), the same with a real one.
Usage: python autogen_agent.py [FOLDER]
"""

import asyncio
import importlib
import os
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage, ModelInfo, RequestUsage, UserMessage

from assay import Store
from assay.session import StoreRouter, WrapResult
from assay_integrations.autogen.agentchat import session as remembered

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise TimeoutError(f"no answer from {person}")


def model() -> ChatCompletionClient:
    if os.environ.get("OPENAI_API_KEY"):
        real: ChatCompletionClient = importlib.import_module("autogen_ext.models.openai").OpenAIChatCompletionClient(
            model="gpt-5-mini"
        )
        return real
    return Scripted()


async def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    client, prompts = model(), list[str]()
    with remembered(router, user=user, session=session, client=client) as memory:  # <- the memory
        context = Prompts(memory.context(), prompts)  # <-
        given: dict[str, Any] = {"tools": [build_status, page], "max_tool_iterations": 5}
        agent = AssistantAgent("assistant", client, model_context=context, **given)
        result = await memory.run(agent, task=text)  # <- instead of agent.run(task=text)
        wrapped = await memory.aend_session(now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts[0], re.DOTALL)
    return result.messages[-1].to_text(), block[0] if block else "", wrapped


async def main(folder: str) -> None:
    with StoreRouter(f"{folder}/{{user}}.db") as router, Store(router.path("ada")) as store:
        _, _, wrapped = await chat(router, "ada", "monday", FACT)
        print("recorded")
        for episode in store.episodes.list():
            print(f"  {episode.kind.value:12} {episode.trust.value:6} {episode.source:18} {episode.content[:40]}")
        print(f"wrapped: {wrapped.status.value}, {[f'{held.name} {held.level}x' for held in store.beliefs.list()]}")
        for finding in wrapped.findings:
            print(f"  {finding.action.value} {finding.rule}: {finding.message}")
    with StoreRouter(f"{folder}/{{user}}.db") as router, Store(router.path("ada")) as store:
        answer, recalled, _ = await chat(router, "ada", "thursday", QUESTION)
        to_bob, shown_to_bob, _ = await chat(router, "bob", "friday", QUESTION)
        print(f"recalled\n{recalled}\nanswer to ada: {answer}\nanswer to bob: {to_bob}")
        state = store.status()
        print(f"status: faults {sum(state.faults.values())}, loop_dropped {state.loop_dropped}, {store.verify()}")
    if "Tuesday" not in recalled or shown_to_bob:
        sys.exit("the second session was not briefed, or bob was")


class Prompts(ChatCompletionContext):
    """Notes what the model is given; the context inside is the one that matters."""

    def __init__(self, inner: ChatCompletionContext, seen: list[str]) -> None:
        super().__init__()
        self._inner, self._seen = inner, seen

    async def add_message(self, message: LLMMessage) -> None:
        await self._inner.add_message(message)

    async def get_messages(self) -> list[LLMMessage]:
        messages = await self._inner.get_messages()
        self._seen.append(text_of(messages))
        return messages


def text_of(messages: Sequence[LLMMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(ChatCompletionClient):
    component_config_schema = dict

    async def create(self, messages: Sequence[LLMMessage], **_: Any) -> CreateResult:
        last = messages[-1]
        asked, shown = str(last.content), text_of(messages)
        if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
            ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
            claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
            sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
            lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
            return said("\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections))
        if not isinstance(last, UserMessage):
            return said("The build is green; nobody answered the page.")
        if asked == FACT:
            return said(
                [FunctionCall("1", "{}", "build_status"), FunctionCall("2", '{"person": "the captain"}', "page")]
            )
        known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', shown, re.MULTILINE)
        return said(f"{known[2]} [{known[1]}]" if known else "I do not know.")

    async def create_stream(self, messages: Sequence[LLMMessage], **_: Any) -> AsyncGenerator[str | CreateResult, None]:
        yield await self.create(messages)

    async def close(self) -> None:
        pass

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    total_usage = actual_usage

    def count_tokens(self, messages: Sequence[LLMMessage], **_: Any) -> int:
        return 0

    remaining_tokens = count_tokens

    @property
    def model_info(self) -> ModelInfo:
        return {
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "family": "unknown",
            "structured_output": False,
        }

    @property
    def capabilities(self) -> Any:
        return self.model_info


def said(content: str | list[FunctionCall]) -> CreateResult:
    reason: Any = "stop" if isinstance(content, str) else "function_calls"
    return CreateResult(finish_reason=reason, content=content, usage=RequestUsage(0, 0), cached=False)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else temporary))
