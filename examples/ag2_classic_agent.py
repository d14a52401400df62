"""An agent of AG2 before 1.0 that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with OPENAI_API_KEY set (and `ag2[openai]`), the same with a real one.
Usage: python ag2_classic_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from autogen import ConversableAgent, register_function

from assay import Store
from assay.session import StoreRouter, WrapResult
from assay_integrations.autogen.ag2_classic import session as remembered

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(who: str) -> str:
    """Page a person."""
    raise TimeoutError(f"no answer from {who}")


def agents() -> tuple[ConversableAgent, ConversableAgent]:
    """Make the agent, and the one that speaks for the person and runs the tools."""
    real = os.environ.get("OPENAI_API_KEY")
    model = {"model": "gpt-5-mini"} if real else {"model": "scripted", "model_client_cls": "Scripted"}
    quiet: dict[str, Any] = {"human_input_mode": "NEVER", "is_termination_msg": lambda said: not said.get("tool_calls")}
    person = ConversableAgent("person", llm_config=False, **quiet)
    config: dict[str, Any] = {"config_list": [model], "cache_seed": None}
    assistant = ConversableAgent("assistant", llm_config=config, human_input_mode="NEVER")
    for tool in (build_status, page):
        register_function(tool, caller=assistant, executor=person, description=str(tool.__doc__))
    if not real:
        client: Any = Scripted
        assistant.register_model_client(client)
    return assistant, person


def chat(router: StoreRouter, user: str, session: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    prompts: list[str] = []
    assistant, person = agents()

    def note(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        prompts.append("\n".join(str(message["content"]) for message in messages))
        return messages

    with remembered(router, user=user, session=session) as memory:  # <- the memory
        memory.attach(assistant)  # <-
        assistant.register_hook("process_all_messages_before_reply", note)
        with memory.run():  # <-
            done = person.initiate_chat(assistant, message=text, silent=True)
        wrapped = memory.end_session(now=True)
    block = re.search(r"<memory-(\w+).*</memory-\1>", prompts[0], re.DOTALL)
    return str(done.chat_history[-1]["content"]), block[0] if block else "", wrapped


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


# From here on: a model of a few rules, so that the example runs offline.
class Scripted:
    def __init__(self, config: Mapping[str, Any]) -> None:
        pass

    def create(self, params: Mapping[str, Any]) -> SimpleNamespace:
        message = {"role": "assistant", "content": None, "tool_calls": None} | answer(params["messages"])
        choices = [SimpleNamespace(message=message)]
        return SimpleNamespace(choices=choices, model="scripted", cost=0, usage=None, message_retrieval_function=None)

    def message_retrieval(self, response: SimpleNamespace) -> list[Any]:
        message = response.choices[0].message
        return [message if message["tool_calls"] else message["content"]]

    def cost(self, response: SimpleNamespace) -> float:
        return 0

    @staticmethod
    def get_usage(response: SimpleNamespace) -> dict[str, Any]:
        return {}


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    asked, shown = str(messages[-1]["content"]), "\n".join(str(message["content"]) for message in messages)
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return {"content": "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)}
    if messages[-1]["role"] == "tool":
        return {"content": "The build is green; nobody answered the page."}
    if asked == FACT:
        called = (("build_status", "{}"), ("page", '{"who": "the captain"}'))
        functions = [{"name": name, "arguments": arguments} for name, arguments in called]
        return {"tool_calls": [{"id": one["name"], "type": "function", "function": one} for one in functions]}
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', shown, re.MULTILINE)
    return {"content": f"{known[2]} [{known[1]}]" if known else "I do not know."}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(sys.argv[1] if len(sys.argv) > 1 else temporary)
