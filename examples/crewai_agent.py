"""A CrewAI crew that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python crewai_agent.py [FOLDER]
"""

import json
import os
import re
import sys
import tempfile
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}

from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.hooks import InterceptionPoint, LLMCallHookContext
from crewai.hooks.dispatch import register_scoped
from crewai.tools import tool

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.crewai import session

MODELS = {"ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-5", "OPENAI_API_KEY": "openai/gpt-5-mini"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@tool("build_status")
def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


@tool("page")
def page(person: str) -> str:
    """Page a person."""
    raise ConnectionError(f"no answer from {person}")


def chat(router: StoreRouter, user: str, thread: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    name, prompts = next((MODELS[key] for key in MODELS if os.environ.get(key)), None), list[str]()
    agent = Agent(
        role="assistant",
        goal="Be useful.",
        backstory="You help a team.",
        llm=LLM(model=name) if name else Scripted(model="scripted"),
        tools=[build_status, page],
    )
    task = Task(description=text, expected_output="A short answer.", agent=agent)
    crew = Crew(agents=[agent], tasks=[task], tracing=False)

    def look(context: LLMCallHookContext) -> None:
        prompts.append("\n".join(str(message.get("content")) for message in context.messages))

    with session(router, user=user, session=thread) as memory:  # <- the memory
        register_scoped(InterceptionPoint.PRE_MODEL_CALL, look)
        answer: Any = crew.kickoff()
        wrapped = memory.end_session(SessionKey(user, thread), now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts[0], re.DOTALL)
    return answer.raw, block[0] if block else "", wrapped


def main(folder: str) -> None:
    os.environ.setdefault("CREWAI_STORAGE_DIR", f"{folder}/crewai")
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


# From here on: a model of a few rules, so that the example runs offline.
class Scripted(BaseLLM):
    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        return reply([str(message.get("content")) for message in messages], str(messages[-1]["role"]))

    async def acall(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        return self.call(messages)


def reply(texts: list[str], newest: str) -> str | list[dict[str, Any]]:
    asked, before = texts[-1], "\n".join(texts[:-1])
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
    if newest == "tool":
        return "The build is green; nobody answered the page."
    if FACT in asked:
        calls: list[tuple[str, dict[str, str]]] = [("build_status", {}), ("page", {"person": "the captain"})]
        functions = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
        return [{"id": function["name"], "type": "function", "function": function} for function in functions]
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', before, re.MULTILINE)
    return f"{known[2]} [{known[1]}]" if known else "I do not know."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
