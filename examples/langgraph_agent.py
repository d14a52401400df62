"""A LangGraph agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python langgraph_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.langgraph import AssayMiddleware

MODELS = {"ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5", "OPENAI_API_KEY": "openai:gpt-5-mini"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@tool
def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


@tool
def page(person: str) -> str:
    """Page a person."""
    raise ToolException(f"no answer from {person}")


page.handle_tool_error = True


def chat(router: StoreRouter, user: str, thread: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    name, prompts = next((MODELS[key] for key in MODELS if os.environ.get(key)), None), Prompts()
    memory = AssayMiddleware(router)  # <- the memory
    agent = create_agent(init_chat_model(name) if name else Scripted(), [build_status, page], middleware=[memory])  # <-
    config: RunnableConfig = {"configurable": {"thread_id": thread, "user_id": user}, "callbacks": [prompts]}
    done = agent.invoke({"messages": [{"role": "user", "content": text}]}, config)
    wrapped = memory.end_session(SessionKey(user, thread), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts.first, re.DOTALL)
    return done["messages"][-1].text, block[0] if block else "", wrapped


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


class Prompts(BaseCallbackHandler):
    first = ""

    def on_chat_model_start(self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any) -> None:
        self.first = self.first or "\n".join(str(message.text) for message in messages[0])


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=reply(messages))])


def reply(messages: list[BaseMessage]) -> AIMessage:
    asked, before = str(messages[-1].text), "\n".join(str(message.text) for message in messages[:-1])
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return AIMessage("\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections))
    if isinstance(messages[-1], ToolMessage):
        return AIMessage("The build is green; nobody answered the page.")
    if asked == FACT:
        calls: list[tuple[str, dict[str, str]]] = [("build_status", {}), ("page", {"person": "the captain"})]
        return AIMessage("", tool_calls=[{"name": name, "args": args, "id": name} for name, args in calls])
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', before, re.MULTILINE)
    return AIMessage(f"{known[2]} [{known[1]}]" if known else "I do not know.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
