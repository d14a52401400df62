"""A Pydantic AI agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python pydantic_ai_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from typing import Any

from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability, WrapModelRequestHandler
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.pydantic_ai import AssayCapability

MODELS = {"ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5", "OPENAI_API_KEY": "openai:gpt-5-mini"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise ModelRetry(f"no answer from {person}")


def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    model = next((MODELS[key] for key in MODELS if os.environ.get(key)), None) or FunctionModel(scripted)
    prompts = Prompts()
    memory = AssayCapability(router)  # <- the memory
    agent = Agent(model, tools=[build_status, page], capabilities=[memory, prompts], name="assistant")  # <-
    done = agent.run_sync(text, conversation_id=session, metadata={"user_id": user})
    wrapped = memory.end_session(SessionKey(user, session), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts.first, re.DOTALL)
    return done.output, block[0] if block else "", wrapped


def main(folder: str) -> None:
    with StoreRouter(f"{folder}/{{user}}.db") as router, Store(router.path("ada")) as store:
        _, _, wrapped = chat(router, "ada", "monday", FACT)
        print("recorded")
        for episode in store.episodes.list():
            print(f"  {episode.kind.value:12} {episode.trust.value:6} {episode.source:18} {episode.content[:40]}")
        print(f"wrapped: {wrapped.status.value}, {[f'{held.name} {held.level}x' for held in store.beliefs.list()]}")
        for finding in wrapped.findings:
            print(f"  {finding.action.value} {finding.rule}: {finding.message}")
    with StoreRouter(f"{folder}/{{user}}.db") as router, Store(router.path("ada")) as store:
        answer, recalled, _ = chat(router, "ada", "thursday", QUESTION)
        to_bob, shown_to_bob, _ = chat(router, "bob", "friday", QUESTION)
        print(f"recalled\n{recalled}\nanswer to ada: {answer}\nanswer to bob: {to_bob}")
        state = store.status()
        print(f"status: faults {sum(state.faults.values())}, loop_dropped {state.loop_dropped}, {store.verify()}")
    if "Tuesday" not in recalled or shown_to_bob:
        sys.exit("the second session was not briefed, or bob was")


class Prompts(AbstractCapability[Any]):
    first = ""

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        response = await handler(request_context)
        self.first = self.first or text_of(request_context.messages)
        return response


def text_of(messages: list[ModelMessage]) -> str:
    return "\n".join(str(getattr(part, "content", "")) for message in messages for part in message.parts)


# From here on: a model of a few rules, so that the example runs offline.
def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    last = messages[-1].parts[-1]
    asked, shown = str(getattr(last, "content", "")), text_of(messages)
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return ModelResponse([TextPart("\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections))])
    if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
        return ModelResponse([TextPart("The build is green; nobody answered the page.")])
    if asked == FACT:
        return ModelResponse([ToolCallPart("build_status", {}), ToolCallPart("page", {"person": "the captain"})])
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', shown, re.MULTILINE)
    return ModelResponse([TextPart(f"{known[2]} [{known[1]}]" if known else "I do not know.")])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
