"""A Google ADK agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with GOOGLE_API_KEY or GEMINI_API_KEY set, the same with a real one.
Usage: python google_adk_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.apps import App
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai.types import Content, Part

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.google_adk import AssayPlugin

MODELS = {"GOOGLE_API_KEY": "gemini-2.5-flash", "GEMINI_API_KEY": "gemini-2.5-flash"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise TimeoutError(f"no answer from {person}")


def tell(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: Exception) -> dict[str, Any]:
    """Let the model know that a tool broke, instead of ending the run."""
    return {"error": str(error)}


def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    prompts: list[str] = []

    def note(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        prompts.append(text_of(llm_request.contents))

    model = next((MODELS[key] for key in MODELS if os.environ.get(key)), None) or Scripted(model="scripted")
    agent = LlmAgent(name="assistant", model=model, tools=[build_status, page])
    agent.on_tool_error_callback, agent.before_model_callback = tell, note
    memory = AssayPlugin(router)  # <- the memory
    app = App(name="deploys", root_agent=agent, plugins=[memory])  # <-
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)
    asked = Content(role="user", parts=[Part(text=text)])
    *_, last = runner.run(user_id=user, session_id=session, new_message=asked)
    wrapped = memory.end_session(SessionKey(user, session), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts[0], re.DOTALL)
    return text_of([last.content or Content()]), block[0] if block else "", wrapped


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


def text_of(contents: list[Content]) -> str:
    return "\n".join(part.text for content in contents for part in content.parts or () if part.text)


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(BaseLlm):
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=Content(role="model", parts=reply(llm_request.contents)))


def reply(contents: list[Content]) -> list[Part]:
    asked, before = text_of(contents[-1:]), text_of(contents[:-1])
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return [Part(text="\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections))]
    if any(part.function_response for part in contents[-1].parts or ()):
        return [Part(text="The build is green; nobody answered the page.")]
    if asked == FACT:
        calls: list[tuple[str, dict[str, str]]] = [("build_status", {}), ("page", {"person": "the captain"})]
        return [Part.from_function_call(name=name, args=args) for name, args in calls]
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', before, re.MULTILINE)
    return [Part(text=f"{known[2]} [{known[1]}]" if known else "I do not know.")]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
