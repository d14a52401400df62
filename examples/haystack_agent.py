"""A Haystack agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with OPENAI_API_KEY set, the same with a real one.
Usage: python haystack_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from typing import Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks import hook
from haystack.tools import tool

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.haystack import session

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@tool
def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


@tool
def page(person: str) -> str:
    """Page a person."""
    raise ConnectionError(f"no answer from {person}")


def chat(router: StoreRouter, user: str, thread: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    real, prompts = bool(os.environ.get("OPENAI_API_KEY")), list[str]()
    generator: Any = OpenAIChatGenerator(model="gpt-5-mini") if real else MockChatGenerator(response_fn=scripted)
    agent = Agent(chat_generator=generator, tools=[build_status, page])
    with session(router, user=user, session=thread) as memory:  # <- the memory
        memory.attach(agent)  # <-
        agent.hooks["before_llm"].append(hook(looking_into(prompts)))
        done = agent.run([ChatMessage.from_user(text)])
        wrapped = memory.end_session(SessionKey(user, thread), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts[0], re.DOTALL)
    return str(done["last_message"].text), block[0] if block else "", wrapped


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


def looking_into(prompts: list[str]) -> Any:
    def look(state: State) -> None:
        prompts.append(text_of(state.data["messages"]))

    return look


def text_of(messages: list[ChatMessage]) -> str:
    return "\n".join(message.text or "" for message in messages)


# From here on: a model of a few rules, so that the example runs offline.
def scripted(messages: list[ChatMessage]) -> ChatMessage | str:
    asked, shown = messages[-1].text or "", text_of(messages)
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
    if messages[-1].tool_call_results:
        return "The build is green; nobody answered the page."
    if asked == FACT:
        calls = [ToolCall("build_status", {}, id="1"), ToolCall("page", {"person": "the captain"}, id="2")]
        return ChatMessage.from_assistant(tool_calls=calls)
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', shown, re.MULTILINE)
    return f"{known[2]} [{known[1]}]" if known else "I do not know."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
