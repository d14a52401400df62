"""A LlamaIndex agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with OPENAI_API_KEY set, and llama-index-llms-openai installed, with a real one.
Usage: python llama_index_agent.py [FOLDER]
"""

import asyncio
import os
import re
import sys
import tempfile
from importlib import import_module
from typing import Any

from llama_index.core.agent.workflow import AgentInput, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM

from assay import Store
from assay.session import StoreRouter, WrapResult
from assay_integrations.llama_index import session

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise RuntimeError(f"no answer from {person}")


async def chat(router: StoreRouter, user: str, conversation: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    agent = FunctionAgent(name="assistant", tools=[build_status, page], llm=model())
    async with session(router, user=user, session=conversation) as memory:  # <- the memory
        handler = agent.run(text, memory=memory)  # <-
        prompts = [str(event.input) async for event in handler.stream_events() if isinstance(event, AgentInput)]
        answer = str(await handler)
    wrapped = await memory.aend_session(now=True)
    block = re.search(r"<memory-(\w+).*?</memory-\1>", prompts[0].replace("\\n", "\n"), re.DOTALL)
    return answer, block[0] if block else "", wrapped


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


def model() -> LLM:
    if os.environ.get("OPENAI_API_KEY"):
        real: LLM = import_module("llama_index.llms.openai").OpenAI(model="gpt-5-mini")
        return real
    rules: dict[str, Any] = {"response_generator": scripted, "is_chat_model": True}
    return MockFunctionCallingLLM(**rules)


# From here on: a model of a few rules, so that the example runs offline.
def scripted(messages: list[ChatMessage], **more: Any) -> ChatMessage:
    asked = messages[-1].content or ""
    if asked != FACT:
        return ChatMessage(role="assistant", content=answer_to(messages, asked))
    calls = [
        ToolCallBlock(tool_call_id="c1", tool_name="build_status", tool_kwargs={}),
        ToolCallBlock(tool_call_id="c2", tool_name="page", tool_kwargs={"person": "the captain"}),
    ]
    return ChatMessage(role="assistant", blocks=[*calls])


def answer_to(messages: list[ChatMessage], asked: str) -> str:
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
    if messages[-1].role == "tool":
        return "The build is green; nobody answered the page."
    shown = "\n".join(message.content or "" for message in messages)
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', shown, re.MULTILINE)
    return f"{known[2]} [{known[1]}]" if known else "I do not know."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else temporary))
