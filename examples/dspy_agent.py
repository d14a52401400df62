"""A DSPy agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python dspy_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
import warnings
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import dspy

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.dspy import session

MODELS = {"ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-5", "OPENAI_API_KEY": "openai/gpt-5-mini"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise ConnectionError(f"no answer from {person}")


def chat(router: StoreRouter, user: str, thread: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    name = next((MODELS[key] for key in MODELS if os.environ.get(key)), None)
    model = dspy.LM(name, cache=False) if name else Scripted("scripted")
    signature: Any = "question -> answer"
    agent: Any = dspy.ReAct(signature, tools=[build_status, page])
    with dspy.context(lm=model), session(router, user=user, session=thread) as memory:  # <- the memory
        answer = agent(question=text).answer
        wrapped = memory.end_session(SessionKey(user, thread), now=True)
    shown = "\n".join(str(message["content"]) for message in model.history[0]["messages"])
    block = re.search(r"<memory-(\w+).*</memory-\1>", shown, re.DOTALL)
    return answer, block[0] if block else "", wrapped


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


# From here on: a model of a few rules, so that the example runs offline, in releases that know no engines as well.
warnings.filterwarnings("ignore", "Implementing custom LMs")


class Scripted(dspy.BaseLM):  # type: ignore[misc]
    def forward(self, prompt: Any = None, messages: Any = None, **more: Any) -> Any:
        text = reply([str(message["content"]) for message in messages or [{"content": prompt}]])
        choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={}, model=self.model)


def reply(texts: list[str]) -> str:
    asked, before = texts[-1], "\n".join(texts[:-1])
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
    if "`next_tool_name`" not in texts[0]:
        known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', before, re.MULTILINE)
        answer = f"{known[2]} [{known[1]}]" if known else "I do not know."
        return fields(reasoning="So it is.", answer="Nobody answered the page." if FACT in asked else answer)
    calls = [("build_status", "{}"), ("page", '{"person": "the captain"}')] if FACT in asked else []
    tool, given = [*calls, ("finish", "{}")][len(re.findall(r"## observation_\d", asked))]
    return fields(next_thought="I go on.", next_tool_name=tool, next_tool_args=given)


def fields(**named: str) -> str:
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in named.items())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
