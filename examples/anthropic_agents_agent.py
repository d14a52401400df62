"""A Claude agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY set, the same with a real one.
Usage: python anthropic_agents_agent.py [FOLDER]
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    InMemorySessionStore,
    ResultMessage,
    Transport,
    create_sdk_mcp_server,
    tool,
)

from assay import Store
from assay.session import StoreRouter, WrapResult
from assay_integrations.anthropic_agents import AssaySDKClient

FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@tool("build_status", "Say how the build is.", {})
async def build_status(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "The build is green."}]}


@tool("page", "Page a person.", {"person": str})
async def page(given: dict[str, Any]) -> dict[str, Any]:
    raise RuntimeError(f"no answer from {given['person']}")


async def chat(router: StoreRouter, user: str, text: str) -> tuple[str, str, WrapResult]:
    """Hold one session, with everything made anew; give the answer, what the model was shown, and the wrap."""
    office, shown = create_sdk_mcp_server("office", tools=[build_status, page]), Transcript()
    options = ClaudeAgentOptions(mcp_servers={"office": office}, allowed_tools=["mcp__office"], session_store=shown)
    made = None if os.environ.get("ANTHROPIC_API_KEY") else partial(Scripted, session=f"{user}-{len(text)}")
    async with AssaySDKClient(router, options, made, user=user) as client:  # <- the memory
        await client.query(text)
        answers = [message async for message in client.receive_response() if isinstance(message, ResultMessage)]
        wrapped = await client.end_session(now=True)
    block = re.search(r"<memory-(\w+).*?</memory-\1>", shown.text)
    return answers[-1].result or "", json.loads(f'"{block[0]}"') if block else "", wrapped


async def main(folder: str) -> None:
    with StoreRouter(f"{folder}/{{user}}.db") as router, Store(router.path("ada")) as store:
        _, _, wrapped = await chat(router, "ada", FACT)
        print("recorded")
        for episode in store.episodes.list():
            print(f"  {episode.kind.value:12} {episode.trust.value:6} {episode.source:18} {episode.content[:40]}")
        print(f"wrapped: {wrapped.status.value}, {[f'{held.name} {held.level}x' for held in store.beliefs.list()]}")
        for finding in wrapped.findings:
            print(f"  {finding.action.value} {finding.rule}: {finding.message}")
    with StoreRouter(f"{folder}/{{user}}.db") as router, Store(router.path("ada")) as store:
        answer, recalled, _ = await chat(router, "ada", QUESTION)
        to_bob, shown_to_bob, _ = await chat(router, "bob", QUESTION)
        print(f"recalled\n{recalled}\nanswer to ada: {answer}\nanswer to bob: {to_bob}")
        state = store.status()
        print(f"status: faults {sum(state.faults.values())}, loop_dropped {state.loop_dropped}, {store.verify()}")
    if "Tuesday" not in recalled or shown_to_bob:
        sys.exit("the second session was not briefed, or bob was")


class Transcript(InMemorySessionStore):
    """Listens to what the host writes down of a conversation."""

    text = ""

    async def append(self, key: Any, entries: list[Any]) -> None:
        self.text += json.dumps(entries, ensure_ascii=False)


# From here on: the host's command line tool with a model of a few rules, so that the example runs offline.
class Scripted(Transport):
    def __init__(self, options: ClaudeAgentOptions, session: str) -> None:
        self.session, self.hooks, self.out, self.numbers = session, dict[str, Any](), asyncio.Queue[Any](), count()
        self.answers, self.turn = dict[str, asyncio.Future[Any]](), asyncio.get_running_loop().create_future()

    async def connect(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        await self.turn
        self.out.put_nowait(None)

    async def close(self) -> None:
        self.out.put_nowait(None)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while message := await self.out.get():
            yield message

    async def write(self, data: str) -> None:
        given = json.loads(data)
        if given["type"] == "user":
            self.turn = asyncio.ensure_future(self.converse(given["message"]["content"]))
        elif given["type"] == "control_response":
            self.answers.pop(given["response"]["request_id"]).set_result(given["response"].get("response"))
        else:
            self.hooks = given["request"].get("hooks") or {}
            done = {"subtype": "success", "request_id": given["request_id"], "response": {}}
            self.out.put_nowait({"type": "control_response", "response": done})

    async def ask(self, **request: Any) -> Any:
        number = str(next(self.numbers))
        self.answers[number] = asyncio.get_running_loop().create_future()
        self.out.put_nowait({"type": "control_request", "request_id": number, "request": request})
        return await self.answers[number]

    async def hook(self, event: str, **given: Any) -> str:
        told, added = {"session_id": self.session, "hook_event_name": event, **given}, ""
        for callback in [name for matcher in self.hooks.get(event, ()) for name in matcher["hookCallbackIds"]]:
            answer = await self.ask(subtype="hook_callback", callback_id=callback, input=told)
            added += answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return added

    async def use(self, name: str, **arguments: str) -> None:
        called = {"tool_name": f"mcp__office__{name}", "tool_input": arguments, "tool_use_id": name}
        await self.hook("PreToolUse", **called)
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "-", "version": "1"}}
        for method, params in (("initialize", version), ("tools/call", {"name": name, "arguments": arguments})):
            message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
            answer = await self.ask(subtype="mcp_message", server_name="office", message=message)
        result = answer["mcp_response"]["result"]
        if result.get("isError"):
            await self.hook("PostToolUseFailure", error=result["content"][0]["text"], **called)
        else:
            await self.hook("PostToolUse", tool_response=result["content"], **called)

    async def converse(self, prompt: str) -> None:
        added = await self.hook("UserPromptSubmit", prompt=prompt)
        folder = Path(os.environ.get("CLAUDE_CONFIG_DIR", "~/.claude")).expanduser() / "projects/-"
        path, entry = str(folder / f"{self.session}.jsonl"), {"type": "-", "said": added}
        self.out.put_nowait({"type": "transcript_mirror", "filePath": path, "entries": [entry]})
        if prompt == FACT:
            await self.use("build_status")
            await self.use("page", person="the captain")
        text = reply(prompt, added)
        await self.hook("Stop", stop_hook_active=False, last_assistant_message=text)
        facts = {"duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1, "session_id": self.session}
        self.out.put_nowait({"type": "result", "subtype": "success", "result": text, **facts})


def reply(asked: str, before: str) -> str:
    if "Rewrite the memory" in asked:  # as a model that overrates what it heard once
        ref = re.search(r'(ep_\w+) .*"Deploys go out', asked)
        claim = f'9x [evidence: {ref[1]} "Deploys go out on Tuesday"] [no-contradicts]' if ref else "1x"
        sections = re.findall(r"^## (.+?) - ", asked, re.MULTILINE)
        lines = {"Patterns": f"- deploy_day: Deploys go out on Tuesday | {claim}"}
        return "\n".join(f"## {section}\n{lines.get(section, '')}" for section in sections)
    if asked == FACT:
        return "The build is green; nobody answered the page."
    known = re.search(r'^- (\w+) .*?"([^"]*Deploys go out[^"]*)"', before, re.MULTILINE)
    return f"{known[2]} [{known[1]}]" if known else "I do not know."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else temporary))
