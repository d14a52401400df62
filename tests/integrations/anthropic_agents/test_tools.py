"""The tools `recall` and `remember`, called by an agent."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from assay import Store
from assay.errors import MissingUser, StorageFailure
from assay.session import SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, FaultyStore, Say, Script
from assay.testing.tapped import VERBS
from assay_integrations.anthropic_agents import AssaySDKClient, tools

from .command_line import CommandLine, Machine

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "when do deploys of the billing service go out"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())
UNAVAILABLE = "Memory is not available at the moment."


def run(target: Any, *steps: Any, user: str | None = None, memory: bool = False, text: str = "Hello") -> list[str]:
    """Give what the tools said to the agent."""
    machine = Machine(Script(*steps))
    options = ClaudeAgentOptions(mcp_servers={"memory": tools(target, user=user)}, allowed_tools=["mcp__memory"])

    def made(options: ClaudeAgentOptions) -> CommandLine:
        return CommandLine(machine, options, "s1")

    async def talk() -> None:
        if memory:
            client: ClaudeSDKClient = AssaySDKClient(target, options, made, user=user, memory_options=MANUAL)
        else:
            client = ClaudeSDKClient(options, made(options))
        async with client:
            await client.query(text)
            async for message in client.receive_response():
                assert not isinstance(message, ResultMessage) or not message.is_error

    asyncio.run(talk())
    return [said for role, said in machine.transcripts["s1"] if role == "tool"]


def recall(query: str = QUESTION, call_id: str = "c0") -> Call:
    return Call("memory.recall", {"query": query}, call_id)


def remember(text: str = FACT, call_id: str = "c1") -> Call:
    return Call("memory.remember", {"text": text}, call_id)


def test_recall_gives_fenced_lines_with_refs(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        ref = store.record(FACT, session="earlier").ref
        (found,) = run(store, recall(), Say("On Tuesday."))
    line = next(line for line in found.split("\n") if FACT in line)
    assert found.startswith("<memory-")
    assert ref.startswith(line.split()[1])


def test_remember_keeps_a_statement_of_the_agent(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        (answer,) = run(store, remember(), Say("I will."))
        (episode,) = store.episodes.list()
    assert episode.ref[:11] in answer
    assert (episode.content, episode.origin.value, episode.trust.value) == (FACT, "agent", "agent")


def test_they_share_the_session_of_the_conversation_and_are_not_recorded_as_tools(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, remember(), recall(call_id="c2"), Say("Done."), user="ada", memory=True)
        with Store(router.path("ada")) as store:
            episodes = list(store.episodes.list())
    assert [episode.content for episode in episodes] == ["Hello", FACT, "Done."]
    assert {episode.session for episode in episodes} == {"s1"}
    assert len({episode.run for episode in episodes}) == 1


def test_a_user_finds_nothing_of_another(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        run(router, remember(), Say("I will."), user="ada", memory=True)
        (found,) = run(router, recall(), Say("I do not know."), user="bob", memory=True)
    assert FACT not in found


def test_a_missing_user_is_told_early(tmp_path: Path) -> None:
    with pytest.raises(MissingUser):
        tools(tmp_path / "{user}.db")


def test_without_a_working_store_the_model_is_told_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        assert run(broken, recall(), remember(), Say("Then not.")) == [UNAVAILABLE, UNAVAILABLE]
    broken.close()
