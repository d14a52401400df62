"""One memory for a LangGraph agent and a Pydantic AI agent in one process: each recalls what the other one learned.

Offline it runs with scripted models; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with real ones.
Usage: python two_frameworks.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability, WrapModelRequestHandler
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assay import Store, Trust
from assay.session import RecordPolicy, SessionOptions, StoreRouter
from assay_integrations.langgraph import AssayMiddleware
from assay_integrations.pydantic_ai import AssayCapability

MODELS = {"ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5", "OPENAI_API_KEY": "openai:gpt-5-mini"}
MODEL = next((MODELS[key] for key in MODELS if os.environ.get(key)), None)
# What a page of the web says is not what ada says: both agents are to see the difference.
OPTIONS = SessionOptions(record=RecordPolicy(tool_trust={"read_page": Trust.EXTERNAL}))
TOLD = "Deploys go out on Tuesday. Read the release page."
DAY, ROOM = "When do deploys go out?", "Which room is on call?"


@tool
def read_page() -> str:
    """Read the release page."""
    return "Deploys go out on Friday from now on, says the release page."


def planner(router: StoreRouter, user: str, thread: str, text: str) -> tuple[str, str]:
    """Ask the agent of LangGraph; give its answer, and what it was shown of memory."""
    seen, model = Prompts(), init_chat_model(MODEL) if MODEL else ScriptedChat()
    agent = create_agent(model, [read_page], middleware=[AssayMiddleware(router, options=OPTIONS)], name="planner")
    config: RunnableConfig = {"configurable": {"thread_id": thread, "user_id": user}, "callbacks": [seen]}
    done = agent.invoke({"messages": [{"role": "user", "content": text}]}, config)
    return done["messages"][-1].text, block_of(seen.first)


def helper(router: StoreRouter, user: str, conversation: str, text: str) -> tuple[str, str]:
    """Ask the agent of Pydantic AI; give its answer, and what it was shown of memory."""
    seen, memory = Requests(), AssayCapability(router, options=OPTIONS)
    agent = Agent(MODEL or FunctionModel(scripted), capabilities=[memory, seen], name="helper")
    done = agent.run_sync(text, conversation_id=conversation, metadata={"user_id": user})
    return done.output, block_of(seen.first)


def main(folder: str) -> None:
    with StoreRouter(f"{folder}/{{user}}.db") as router:  # <- the one memory of both
        planner(router, "ada", "monday", TOLD)
        day, shown_to_helper = helper(router, "ada", "tuesday", DAY)
        helper(router, "ada", "wednesday", "The on-call room is number twelve.")
        room, shown_to_planner = planner(router, "ada", "thursday", ROOM)
        shown_to_bobs = [ask(router, "bob", "friday", DAY)[1] for ask in (planner, helper)]
        with Store(router.path("ada")) as store:
            print("recorded")
            for episode in store.episodes.list():
                print(f"  {episode.effective_trust.value:8} {episode.source:15} {episode.content[:60]}")
            print(f"recalled by the helper\n{shown_to_helper}\nanswer of the helper: {day}")
            print(f"recalled by the planner\n{shown_to_planner}\nanswer of the planner: {room}")
            state = store.status()
            print(f"status: faults {sum(state.faults.values())}, {store.verify()}")
    told, page = (re.search(rf"^- ep_\w+ .*{text}.*$", shown_to_helper, re.MULTILINE) for text in ("Tuesday", "Friday"))
    if told is None or "user:ada" not in told[0] or "number twelve" not in shown_to_planner:
        sys.exit("an agent was not shown what the other one learned, or from whom")
    if page is None or "tool:read_page (external)" not in page[0]:
        sys.exit("what the page says has lost its source, or its trust")
    if any("Tuesday" in shown or "ada" in shown for shown in shown_to_bobs):
        sys.exit("bob was shown what is ada's")


def block_of(prompt: str) -> str:
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompt, re.DOTALL)
    return block[0] if block else ""


class Prompts(BaseCallbackHandler):
    first = ""

    def on_chat_model_start(self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any) -> None:
        self.first = self.first or "\n".join(str(message.text) for message in messages[0])


class Requests(AbstractCapability[Any]):
    first = ""

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler
    ) -> ModelResponse:
        response = await handler(request_context)
        self.first = self.first or "\n".join(texts_of(request_context.messages))
        return response


def texts_of(messages: Sequence[ModelMessage]) -> list[str]:
    return [str(getattr(part, "content", "")) for message in messages for part in message.parts]


# From here on: models of a few rules, so that the example runs offline.
class ScriptedChat(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        asked = str(messages[-1].text)
        if asked == TOLD:
            reply = AIMessage("", tool_calls=[{"name": "read_page", "args": {}, "id": "page"}])
        elif isinstance(messages[-1], ToolMessage):
            reply = AIMessage("I have read it.")
        else:
            reply = AIMessage(answer(asked, "\n".join(str(message.text) for message in messages[:-1])))
        return ChatResult(generations=[ChatGeneration(message=reply)])


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    *before, asked = texts_of(messages)
    return ModelResponse([TextPart(answer(asked, "\n".join(before)))])


def answer(asked: str, shown: str) -> str:
    """Say the line of memory that a person has said on what is asked."""
    about = {DAY: "Deploys", ROOM: "room"}.get(asked)
    known = re.search(rf'^- (\w+) \S+ (user:\w+) "([^"]*{about}[^"]*)"', shown, re.MULTILINE) if about else None
    return f"{known[3]} [{known[1]}, {known[2]}]" if known else "I do not know." if about else "Noted."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
