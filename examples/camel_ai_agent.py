"""A CAMEL agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python camel_ai_agent.py [FOLDER]
"""

import json
import os
import re
import sys
import tempfile
from typing import Any

from camel.messages import OpenAIMessage
from camel.models import BaseModelBackend, ModelFactory
from camel.models.stub_model import StubModel
from camel.types import ChatCompletion, ModelPlatformType, ModelType

from assay import Store
from assay.session import StoreRouter, WrapResult
from assay_integrations.camel_ai import AssayAgentMemory, AssayChatAgent

MODELS = {
    "ANTHROPIC_API_KEY": (ModelPlatformType.ANTHROPIC, "claude-sonnet-4-5"),
    "OPENAI_API_KEY": (ModelPlatformType.OPENAI, "gpt-5-mini"),
}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person.

    Args:
        person (str): Whom to page.
    """
    raise RuntimeError(f"no answer from {person}")


def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    found = next((MODELS[key] for key in MODELS if os.environ.get(key)), None)
    model: BaseModelBackend = ModelFactory.create(*found) if found else Scripted(ModelType.STUB)
    memory = Shown(router, user=user, session=session)  # <- the memory: an AssayAgentMemory
    agent = AssayChatAgent("You are an assistant.", model, memory, tools=[build_status, page])  # <-
    answer: Any = agent.step(text)
    wrapped = memory.end_session(now=True)
    block = re.search(r"<memory-(\w+).*?</memory-\1>", memory.first, re.DOTALL)
    return answer.msgs[0].content, block[0] if block else "", wrapped


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


class Shown(AssayAgentMemory):
    first = ""

    def get_context(self) -> tuple[list[OpenAIMessage], int]:
        messages, tokens = super().get_context()
        self.first = self.first or text_of(messages)
        return messages, tokens


def text_of(messages: Any) -> str:
    return "\n".join(str(message.get("content")) for message in messages)


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(StubModel):
    def _run(self, messages: list[Any], *rest: Any, **more: Any) -> ChatCompletion:
        message: dict[str, Any] = {"role": "assistant"}
        if messages[-1]["content"] != FACT:
            message["content"] = answer_to(messages)
        else:
            calls = [("c1", "build_status", {}), ("c2", "page", {"person": "the captain"})]
            message["tool_calls"] = [
                {"id": one, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for one, name, arguments in calls
            ]
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = {"id": "scripted", "model": "scripted", "object": "chat.completion", "created": 1, "choices": [choice]}
        return ChatCompletion.model_validate(reply)


def answer_to(messages: list[Any]) -> str:
    asked = str(messages[-1]["content"])
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
    if messages[-1]["role"] == "tool":
        return "The build is green; nobody answered the page."
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', text_of(messages), re.MULTILINE)
    return f"{known[2]} [{known[1]}]" if known else "I do not know."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
