"""An AG2 agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with OPENAI_API_KEY set (and `ag2[openai]`), the same with a real one.
Usage: python ag2_agent.py [FOLDER]
"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NoReturn

from ag2 import Agent, Middleware
from ag2.config import LLMClient, ModelConfig, ModelProvider, OpenAIConfig
from ag2.context import ConversationContext
from ag2.events import BaseEvent, ModelMessage, ModelRequest, ModelResponse, ToolCallEvent, ToolCallsEvent
from ag2.middleware import BaseMiddleware, LLMCall

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.autogen.ag2 import AssayMiddleware

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise TimeoutError(f"no answer from {person}")


async def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    config = OpenAIConfig("gpt-5-mini") if os.environ.get("OPENAI_API_KEY") else Scripted()
    prompts: list[str] = []
    memory = AssayMiddleware(router)  # <- the memory
    middleware = [memory, Middleware(Prompts, seen=prompts)]  # <-
    agent = Agent("assistant", config=config, tools=[build_status, page], middleware=middleware)
    reply = await agent.ask(text, variables={"user_id": user, "session_id": session})
    wrapped = await memory.aend_session(SessionKey(user, session), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts[0], re.DOTALL)
    return reply.body or "", block[0] if block else "", wrapped


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


class Prompts(BaseMiddleware):
    def __init__(self, event: BaseEvent, context: ConversationContext, seen: list[str]) -> None:
        super().__init__(event, context)
        self._seen = seen

    async def on_llm_call(
        self, call_next: LLMCall, events: Sequence[BaseEvent], context: ConversationContext
    ) -> ModelResponse:
        self._seen.append("\n".join(text_of(event) for event in events if isinstance(event, ModelRequest)))
        return await call_next(events, context)


def text_of(request: ModelRequest) -> str:
    return "\n".join(str(getattr(part, "content", "")) for part in request.parts)


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(ModelConfig, LLMClient):
    @property
    def provider(self) -> ModelProvider:
        return ModelProvider.OPENAI

    @property
    def model(self) -> str:
        return "scripted"

    def copy(self) -> "Scripted":
        return self

    def create(self) -> LLMClient:
        return self

    def create_files_client(self) -> NoReturn:
        raise NotImplementedError

    async def __call__(self, messages: Sequence[BaseEvent], context: ConversationContext, **_: Any) -> ModelResponse:
        requests = [text_of(message) for message in messages if isinstance(message, ModelRequest)]
        asked, tool_ran = requests[-1], not isinstance(messages[-1], ModelRequest)
        if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
            ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
            claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
            sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
            lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
            return said("\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections))
        if tool_ran:
            return said("The build is green; nobody answered the page.")
        if asked == FACT:
            calls = [ToolCallEvent("build_status"), ToolCallEvent("page", arguments='{"person": "the captain"}')]
            return ModelResponse(tool_calls=ToolCallsEvent(calls))
        known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', "\n".join(requests), re.MULTILINE)
        return said(f"{known[2]} [{known[1]}]" if known else "I do not know.")


def said(text: str) -> ModelResponse:
    return ModelResponse(ModelMessage(text))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else temporary))
