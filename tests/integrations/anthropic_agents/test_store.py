"""`AssaySessionStore`: the host's own conformance suite, and what it records of transcripts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    SessionKey,
    SessionStore,
    SessionStoreEntry,
)
from claude_agent_sdk.testing import run_session_store_conformance

from assay import Store
from assay.errors import MissingUser, StorageFailure
from assay.session import SessionOptions, StoreRouter, WrapPolicy
from assay.testing import FaultyStore, Say, Script, ScriptedComposer
from assay.testing.composer import honest_document
from assay.testing.stage import FACT, QUESTION, Line, lines
from assay.testing.tapped import VERBS
from assay_integrations.anthropic_agents import AssaySDKClient, AssaySessionStore

from .command_line import CommandLine, Machine

KEY: SessionKey = {"project_key": "p", "session_id": "s1"}
MANUAL = SessionOptions(wrap=WrapPolicy.manual())


class Minimal(SessionStore):
    """A store with what a store must have, and no more."""

    def __init__(self) -> None:
        self.held: dict[str, list[SessionStoreEntry]] = {}

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        if entries:
            self.held.setdefault(str(key), []).extend(entries)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        return self.held.get(str(key))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def entry(role: str, content: Any, **facts: Any) -> Any:
    return {"type": role, "message": {"role": role, "content": content}, "isSidechain": False, **facts}


def transcript() -> list[Any]:
    """Give entries as the command line tool of the SDK writes them."""
    call = {"type": "tool_use", "id": "t1", "name": "mcp__office__add", "input": {"a": 1, "b": 2}}
    broken = {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "false"}}
    return [
        {"type": "queue-operation", "operation": "enqueue"},
        entry("user", "How much?", promptId="p1", uuid="u1", promptSource="sdk"),
        {"type": "attachment", "uuid": "x", "attachment": {"type": "hook_additional_context"}},
        entry("assistant", [{"type": "thinking", "thinking": "hm"}], uuid="u2"),
        entry("assistant", [call], uuid="u3"),
        entry("user", [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "3"}]}]),
        entry("assistant", [broken], uuid="u4"),
        entry("user", [{"type": "tool_result", "tool_use_id": "t2", "content": "exit code 1", "is_error": True}]),
        entry("assistant", [{"type": "text", "text": "Three."}], uuid="u5"),
        entry("user", "Continue from where you left off.", promptId="p2", promptSource="system", isMeta=True),
        entry("user", "Wake up and look", promptId="p2", promptSource="schedule_wakeup"),
        entry("user", "Thank you", promptId="p3", uuid="u6"),
        entry("assistant", [{"type": "text", "text": "API Error: 529"}], uuid="u7", isApiErrorMessage=True),
        entry("user", "aside", uuid="u8") | {"isSidechain": True},
    ]


@pytest.mark.parametrize("underlying", [None, Minimal], ids=["whole", "minimal"])
def test_it_passes_the_hosts_conformance_suite(store: Store, underlying: Any) -> None:
    def make() -> SessionStore:
        return AssaySessionStore(store, underlying=underlying and underlying())

    asyncio.run(run_session_store_conformance(make))
    for name in ("list_sessions", "list_session_summaries", "delete", "list_subkeys"):
        assert (getattr(make(), name) is None) == (underlying is Minimal)


def test_it_records_what_a_transcript_says(store: Store) -> None:
    kept = AssaySessionStore(store, options=MANUAL)
    asyncio.run(kept.append(KEY, transcript()))
    asyncio.run(kept.append({**KEY, "subpath": "subagents/agent-1"}, [entry("user", "a task")]))
    assert lines(list(store.episodes.list())) == [
        Line("observation", "user", "agent", "user", "How much?"),
        Line("context", "agent", "agent", "agent", 'add {"a": 1, "b": 2}'),
        Line("observation", "tool", "tool", "tool:add", "3", derived=(2,)),
        Line("context", "agent", "agent", "agent", 'Bash {"command": "false"}'),
        Line("outcome", "host", "tool", "tool:Bash", "Bash failed: exit code 1", success=False, derived=(4,)),
        Line("observation", "agent", "agent", "agent", "Three."),
        Line("observation", "user", "agent", "user", "Thank you"),
        Line("outcome", "host", "tool", "host", "run failed: ResultError: API Error: 529", success=False),
    ]
    assert len({episode.run for episode in store.episodes.list()}) == 2


def test_a_transcript_that_comes_twice_is_recorded_once(store: Store) -> None:
    for _ in range(2):
        asyncio.run(AssaySessionStore(store, options=MANUAL).append(KEY, transcript()[:6]))
    assert [episode.content for episode in store.episodes.list()] == ["How much?", 'add {"a": 1, "b": 2}', "3"]


def test_what_hooks_record_it_only_keeps(tmp_path: Path) -> None:
    machine = Machine(Script(Say("Noted.")))

    async def talk(router: StoreRouter) -> Any:
        kept = AssaySessionStore(router, options=MANUAL)
        options = ClaudeAgentOptions(session_store=kept)
        made = CommandLine(machine, options, "s1")
        async with AssaySDKClient(router, options, made, memory_options=MANUAL) as client:
            await client.query(FACT)
            async for _ in client.receive_response():
                pass
        await kept.append(KEY, [entry("user", FACT, promptId="p1", uuid="u1")])
        return await kept.load(KEY)

    with StoreRouter(tmp_path / "memory.db") as router:
        assert asyncio.run(talk(router))
    with Store(tmp_path / "memory.db") as store:
        assert [episode.content for episode in store.episodes.list()] == [FACT, "Noted."]


def test_a_session_is_ended_and_wrapped_by_a_composer(store: Store) -> None:
    kept = AssaySessionStore(store, options=MANUAL)
    asyncio.run(kept.append(KEY, transcript()[:6]))
    asyncio.run(kept.append(KEY, [entry("user", FACT, promptId="p9", uuid="u9")]))
    composer = ScriptedComposer(lambda prompt: honest_document(prompt, about=FACT))
    assert asyncio.run(kept.end_session("s1", composer, now=True)).status.value == "committed"
    kept.close()
    assert FACT in store.continuity.text()
    assert store.recall(QUESTION)


def test_a_missing_user_is_told_early(tmp_path: Path) -> None:
    with pytest.raises(MissingUser):
        AssaySessionStore(tmp_path / "{user}.db")


def test_a_fault_of_the_memory_keeps_the_transcript(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    kept = AssaySessionStore(broken)
    with caplog.at_level(logging.CRITICAL, "assay.session"):
        asyncio.run(kept.append(KEY, transcript()))
    assert asyncio.run(kept.load(KEY)) == transcript()
    broken.close()


def test_the_host_mirrors_its_transcript_into_it(store: Store) -> None:
    """A mirrored entry reaches the store by the host's own batches."""

    class Mirrors(CommandLine):
        def _result(self, subtype: str, result: str | None, **facts: Any) -> None:
            folder = f"{self.options.env['CLAUDE_CONFIG_DIR']}/projects/p"
            entries = [
                entry("user", FACT, promptId="p1", uuid="u1"),
                entry("assistant", [{"type": "text", "text": str(result)}], uuid="u2"),
            ]
            self._out.put_nowait({"type": "transcript_mirror", "filePath": f"{folder}/s1.jsonl", "entries": entries})
            super()._result(subtype, result, **facts)

    async def talk() -> None:
        env = {"CLAUDE_CONFIG_DIR": "/nowhere"}
        options = ClaudeAgentOptions(session_store=AssaySessionStore(store, options=MANUAL), env=env)
        async with ClaudeSDKClient(options, Mirrors(Machine(Script(Say("Noted."))), options, "s1")) as client:
            await client.query(FACT)
            async for _ in client.receive_response():
                pass

    asyncio.run(talk())
    assert [episode.content for episode in store.episodes.list()] == [FACT, "Noted."]
