"""One run through the tool that the SDK brings along, against a Messages API on loopback: is it as it is played?"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, tool

from assay import Store
from assay.session import SessionOptions, WrapPolicy
from assay.testing import Call, Compose, Say, Script
from assay.testing.composer import honest_document
from assay.testing.stage import FACT, QUESTION, Line, block_of, lines
from assay_integrations.anthropic_agents import AssaySDKClient

from .loopback import messages_api

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
KEPT = {"PATH", "TMPDIR", "LANG", "SYSTEMROOT"}


@tool("add", "Add two numbers.", {"a": int, "b": int})
async def add(given: dict[str, int]) -> dict[str, object]:
    return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}


@tool("boom", "Break.", {"x": str})
async def boom(given: dict[str, str]) -> dict[str, object]:
    raise ValueError(f"boom-{given['x']}")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide everything of this machine from the tool."""
    for name in [name for name in os.environ if name not in KEPT]:
        monkeypatch.delenv(name)
    (tmp_path / "work").mkdir()
    return tmp_path


def options(home: Path, url: str) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(
        model="claude-sonnet-4-5",
        system_prompt="You are a careful assistant.",
        mcp_servers={"t": create_sdk_mcp_server("t", tools=[add, boom])},
        allowed_tools=["mcp__t__add", "mcp__t__boom"],
        tools=[],
        setting_sources=[],
        cwd=home / "work",
        env={
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CONFIG_DIR": str(home / "config"),
            "HOME": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    )


def test_two_sessions_through_the_real_tool(home: Path) -> None:
    script = Script(
        Call("add", {"a": 1, "b": 2}, "c1"),
        Call("boom", {"x": "y"}, "c2"),
        Say("Noted."),
        Compose(lambda prompt: honest_document(prompt, about=FACT)),
        Say("On Tuesday."),
        Compose(lambda prompt: honest_document(prompt, about=FACT)),
    )

    async def talk(text: str, url: str) -> ResultMessage:
        made = AssaySDKClient(home / "memory.db", options(home, url), memory_options=EACH_RUN)
        async with made as client:
            await client.query(text)
            messages = [message async for message in client.receive_response()]
        (result,) = (message for message in messages if isinstance(message, ResultMessage))
        return result

    with messages_api(script) as url:
        first = asyncio.run(asyncio.wait_for(talk(FACT, url), 60))
        second = asyncio.run(asyncio.wait_for(talk(QUESTION, url), 60))

    assert (first.result, second.result) == ("Noted.", "On Tuesday.")
    with Store(home / "memory.db") as store:
        held = lines(list(store.episodes.list()))
        assert held[:6] == [
            Line("observation", "user", "agent", "user", FACT),
            Line("context", "agent", "agent", "agent", 'add {"a": 1, "b": 2}'),
            Line("observation", "tool", "tool", "tool:add", "3", derived=(2,)),
            Line("context", "agent", "agent", "agent", 'boom {"x": "y"}'),
            Line("outcome", "host", "tool", "tool:boom", "boom failed: boom-y", success=False, derived=(4,)),
            Line("observation", "agent", "agent", "agent", "Noted."),
        ]
        assert [line.text for line in held[6:]] == [QUESTION, "On Tuesday."]
        assert {episode.session for episode in store.episodes.list()} == {first.session_id, second.session_id}
        assert not store.status().faults and store.status().wraps == 2
    asked = next(prompt for prompt in script.prompts if QUESTION in prompt.of("user"))
    assert FACT in block_of(asked)
    *_, reminder, question = [text for text in asked.of("user") if "<memory-" in text or text == QUESTION]
    assert "<memory-" in reminder and question == QUESTION
    transcripts = {path.stem for path in (home / "config").rglob("*.jsonl")}
    assert transcripts == {first.session_id, second.session_id}, "a wrap leaves no transcript"
