"""An OpenAI agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with OPENAI_API_KEY set, the same with a real one.
Usage: python openai_agents_agent.py [FOLDER]
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from typing import Any

from agents import Agent, Model, ModelResponse, RunHooks, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.openai_agents import AssayRunner

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@function_tool
def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


@function_tool
def page(person: str) -> str:
    """Page a person."""
    raise RuntimeError(f"no answer from {person}")


async def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    model, prompts = None if os.environ.get("OPENAI_API_KEY") else Scripted(), Prompts()
    agent = Agent("assistant", model=model, tools=[build_status, page])
    runner = AssayRunner(router)  # <- the memory
    done = await runner.run(agent, text, user=user, session=session, hooks=prompts)  # <- instead of Runner.run(...)
    wrapped = await runner.aend_session(SessionKey(user, session), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts.first, re.DOTALL)
    return str(done.final_output), block[0] if block else "", wrapped


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


class Prompts(RunHooks[Any]):
    first = ""

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        self.first = self.first or "\n".join(str(item.get("content")) for item in input_items)


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(Model):
    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **more: Any) -> ModelResponse:
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        return ModelResponse(output=reply(items), usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **more: Any) -> Any:
        raise NotImplementedError("this example does not stream")


def reply(items: list[Any]) -> list[Any]:
    asked, before = str(items[-1].get("content")), "\n".join(str(item.get("content")) for item in items[:-1])
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return [says("\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections))]
    if items[-1].get("type") == "function_call_output":
        return [says("The build is green; nobody answered the page.")]
    if asked == FACT:
        return [calls("build_status", {}), calls("page", {"person": "the captain"})]
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', before, re.MULTILINE)
    return [says(f"{known[2]} [{known[1]}]" if known else "I do not know.")]


def says(text: str) -> ResponseOutputMessage:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    return ResponseOutputMessage.model_validate(message)


def calls(name: str, args: dict[str, str]) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(type="function_call", name=name, call_id=name, arguments=json.dumps(args))


if __name__ == "__main__":
    set_tracing_disabled(not os.environ.get("OPENAI_API_KEY"))
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else temporary))
