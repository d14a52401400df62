"""A workforce of CAMEL, with its own coordinator, workers and pool of clones."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from camel.agents import ChatAgent
from camel.messages import OpenAIMessage
from camel.models.stub_model import StubModel
from camel.societies.workforce import Workforce
from camel.tasks import Task
from camel.types import ModelType

from assay import Store
from assay.errors import StorageFailure
from assay.session import SessionOptions, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import FaultyStore
from assay.testing.composer import honest_document
from assay.testing.tapped import VERBS
from assay_integrations.camel_ai import AssayAgentMemory, AssayChatAgent, AssayWorkforceCallback

from .scripted import whole

FACT = "Deploys of the billing service go out on Tuesday"
TASK = "Say when deploys of the billing service go out"


class Brain(StubModel):
    """Answers as each part of a workforce is asked to."""

    def __init__(self, work: Callable[[str], str]) -> None:
        super().__init__(ModelType.STUB, model_config_dict={})
        self._work = work
        self.worker = ""
        self.asked: list[list[str]] = []

    async def _arun(self, messages: list[OpenAIMessage], *rest: Any, **more: Any) -> Any:
        return self._run(messages)

    def _run(self, messages: list[OpenAIMessage], *rest: Any, **more: Any) -> Any:
        texts = [str(message.get("content")) for message in messages]
        if "assignee_id" in texts[-1]:
            ids = re.findall(r"main\.\d+", texts[-1])
            rows = [{"task_id": one, "assignee_id": self.worker, "dependencies": []} for one in dict.fromkeys(ids)]
            reply = json.dumps({"assignments": rows})
        elif "quality_score" in texts[-1] or "recovery_strategy" in texts[-1]:
            reply = json.dumps({"reasoning": "", "issues": [], "quality_score": 95, "recovery_strategy": None})
        elif "<tasks>" in texts[-1]:
            reply = f"<tasks><task>{TASK}</task></tasks>"
        else:
            self.asked.append(texts)
            reply = self._work(texts[-1])
        return whole({"role": "assistant", "content": reply})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def done(text: str) -> str:
    return json.dumps({"content": "On Tuesday, as it always was.", "failed": False})


def run(target: Any, work: Callable[[str], str] = done, options: SessionOptions | None = None) -> Brain:
    """Let a workforce of one worker do one task."""
    brain, memory = Brain(work), AssayAgentMemory(target, user="ada", session="s1", options=options)
    writer = AssayChatAgent("You write.", brain, memory.sub("writer"))

    async def process() -> None:
        boss, planner = ChatAgent("You lead.", brain), ChatAgent("You plan.", brain)
        heard = [AssayWorkforceCallback(memory)]
        team: Any = Workforce("team", coordinator_agent=boss, task_agent=planner, callbacks=[*heard])
        team.add_single_agent_worker("writer", worker=writer)
        brain.worker = writer.agent_id
        await asyncio.wait_for(team.process_task_async(Task(content="The morning's work", id="main")), 60)

    asyncio.run(process())
    return brain


def lines(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in store.episodes.list()]


def test_a_workforce_is_one_run_in_which_workers_are_tools(store: Store) -> None:
    store.record(FACT, session="earlier")
    brain = run(store)
    held = list(store.episodes.list())[1:]
    answer = done("")
    assert [(one.source, one.content) for one in held if one.content != answer] == [
        ("user:ada", "The morning's work"),
        ("agent", f"writer {json.dumps({'task': TASK})}"),
        ("tool:writer", "On Tuesday, as it always was."),
        ("agent", "--- Subtask main.1 Result ---\nOn Tuesday, as it always was."),
    ]
    assert ("agent:writer", answer) in lines(store)
    assert len({(one.session, one.run) for one in held}) == 1
    result = next(one for one in held if one.source == "tool:writer")
    assert result.derived_from == (next(one.ref for one in held if one.kind.value == "context"),)
    with database_of(store).read() as reader:
        assert find_open_run(reader, "s1", None) is None
    (asked,) = brain.asked
    assert [FACT in text for text in asked].count(True) == 1, "the clone that worked was briefed"


def test_a_task_that_fails_is_the_workers_failure(store: Store) -> None:
    run(store, lambda text: json.dumps({"content": "The desk is locked.", "failed": True}))
    failures = [one for one in store.episodes.list() if one.success is False]
    assert failures and {one.source for one in failures} == {"tool:writer"}


def test_a_policy_with_a_model_of_its_own_consolidates_when_all_is_done(store: Store) -> None:
    policy = WrapPolicy.each_run().composed_by(lambda prompt: honest_document(prompt, about=TASK))
    run(store, options=SessionOptions(wrap=policy))
    assert store.continuity.version() == 1


def test_a_store_out_of_order_changes_nothing(tmp_path: Path) -> None:
    """The host lets an exception of a callback end the workforce."""
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    assert len(run(broken).asked) == 1
    broken.close()
