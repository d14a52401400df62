"""An agent of smolagents that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one, by
`pip install 'smolagents[litellm]'`. Usage: python smolagents_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from typing import Any

from smolagents import ChatMessage, LiteLLMModel, LogLevel, MessageRole, Model, ToolCallingAgent, tool
from smolagents.memory import ActionStep
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from assay import Store
from assay.session import StoreRouter, WrapResult
from assay_integrations.smolagents import session

MODELS = {"ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-5", "OPENAI_API_KEY": "openai/gpt-5-mini"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@tool
def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


@tool
def page(person: str) -> str:
    """Page a person.

    Args:
        person: Who is paged.
    """
    raise ConnectionError(f"no answer from {person}")


def chat(router: StoreRouter, user: str, thread: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    name = next((MODELS[key] for key in MODELS if os.environ.get(key)), None)
    model = LiteLLMModel(model_id=name) if name else Scripted()
    agent = ToolCallingAgent([build_status, page], model, verbosity_level=LogLevel.OFF)
    with session(router, user=user, session=thread) as memory:  # <- the memory
        memory.attach(agent)  # <-
        answer = agent.run(text)
        wrapped = memory.end_session(now=True)
    first = next(step for step in agent.memory.steps if isinstance(step, ActionStep))
    block = re.search(r"<memory-(\w+).*</memory-\1>", text_of(first.model_input_messages), re.DOTALL)
    return str(answer), block[0] if block else "", wrapped


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


def text_of(messages: Any) -> str:
    return "\n".join(part.get("text", "") for message in messages or () for part in message.content)


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(Model):
    def generate(self, messages: Any, *arguments: Any, **more: Any) -> ChatMessage:
        asked = text_of(messages[-1:])
        if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
            ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
            claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
            sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
            lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
            text = "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
            return ChatMessage(role=MessageRole.ASSISTANT, content=text)
        if messages[-1].role == MessageRole.TOOL_RESPONSE:
            return calling(final_answer={"answer": "The build is green; nobody answered the page."})
        if FACT in asked:
            return calling(build_status={}, page={"person": "the captain"})
        known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', text_of(messages), re.MULTILINE)
        return calling(final_answer={"answer": f"{known[2]} [{known[1]}]" if known else "I do not know."})


def calling(**calls: dict[str, str]) -> ChatMessage:
    functions = [ChatMessageToolCallFunction(name=name, arguments=given) for name, given in calls.items()]
    made = [ChatMessageToolCall(id=one.name, type="function", function=one) for one in functions]
    return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=made)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
