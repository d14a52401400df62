"""The retriever and the writer, in pipelines of Haystack."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage, ToolCall

from assay import Store, Trust
from assay.errors import AssayError, StorageFailure
from assay.session import MissingUser, StoreRouter
from assay.testing import FaultyStore
from assay.testing.tapped import VERBS
from assay_integrations.haystack import AssayMemoryRetriever, AssayMemoryWriter

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"


@pytest.fixture
def router(tmp_path: Path) -> Iterator[StoreRouter]:
    with StoreRouter(tmp_path / "{user}.db") as router:
        yield router


def written(router: StoreRouter, user: str = "ada") -> None:
    messages = [ChatMessage.from_user(FACT), ChatMessage.from_assistant("Noted.")]
    result = AssayMemoryWriter(router, agent="assistant").run(messages, user_id=user, session_id="s1")
    assert result == {"messages_written": 2}


def test_a_conversation_is_added_as_a_run_of_its_session(router: StoreRouter) -> None:
    call = ToolCall("add", {"a": 1, "b": 2}, id="c1")
    messages = [
        ChatMessage.from_system("You help."),
        ChatMessage.from_user("Add"),
        ChatMessage.from_assistant("I add.", tool_calls=[call]),
        ChatMessage.from_tool("3", origin=call),
        ChatMessage.from_assistant("Three."),
    ]
    AssayMemoryWriter(router, agent="assistant").run(messages, user_id="ada", session_id="s1")
    with Store(router.path("ada")) as store:
        held = list(store.episodes.list())
    assert [(episode.source, episode.trust, episode.content) for episode in held] == [
        ("user:ada", Trust.AGENT, "Add"),
        ("agent:assistant", Trust.AGENT, "I add."),
        ("agent:assistant", Trust.AGENT, 'add {"a": 1, "b": 2}'),
        ("tool:add", Trust.TOOL, "3"),
        ("agent:assistant", Trust.AGENT, "Three."),
    ]
    assert {episode.session for episode in held} == {"s1"} and len({episode.run for episode in held}) == 1


def test_what_answers_a_query_comes_as_documents_with_refs_and_as_a_block_for_a_prompt(router: StoreRouter) -> None:
    written(router)
    result = AssayMemoryRetriever(router, top_k=3).run(QUESTION, user_id="ada")
    best = result["documents"][0]
    with Store(router.path("ada")) as store:
        told = next(episode for episode in store.episodes.list() if episode.content == FACT)
    assert (best.content, best.meta["trust"]) == (FACT, "agent")
    assert told.ref.startswith(best.id) and best.score > 0
    assert result["block"].startswith("<memory-") and FACT in result["block"]
    assert len(result["documents"]) <= 3


def test_a_user_finds_nothing_of_another_and_must_be_named(router: StoreRouter) -> None:
    written(router)
    assert AssayMemoryRetriever(router).run(QUESTION, user_id="bob") == {"documents": [], "block": ""}
    with pytest.raises(MissingUser):
        AssayMemoryRetriever(router).run(QUESTION)


def test_in_a_pipeline_a_store_that_fails_is_an_error(tmp_path: Path) -> None:
    broken = FaultyStore(tmp_path / "faulty.db", VERBS, error=StorageFailure("the disk is gone"))
    with pytest.raises(AssayError):
        AssayMemoryRetriever(broken).run(QUESTION)
    with pytest.raises(AssayError):
        AssayMemoryWriter(broken).run([ChatMessage.from_user(FACT)])
    broken.close()


def answer(messages: list[ChatMessage]) -> str:
    return "On Tuesday." if FACT in str(messages[0]) else "Noted."


def pipeline_of(path: str) -> Pipeline:
    """Ask the memory, the model, and add what it says."""
    template = [ChatMessage.from_system("{{ block }}"), ChatMessage.from_user("{{ question }}")]
    pipeline = Pipeline()
    pipeline.add_component("retriever", AssayMemoryRetriever(path))
    pipeline.add_component("prompt", ChatPromptBuilder(template=template, required_variables="*"))
    pipeline.add_component("model", MockChatGenerator(response_fn=answer))
    pipeline.add_component("writer", AssayMemoryWriter(path))
    pipeline.connect("retriever.block", "prompt.block")
    pipeline.connect("prompt.prompt", "model.messages")
    pipeline.connect("model.replies", "writer.messages")
    return pipeline


def asked(text: str) -> dict[str, Any]:
    return {"retriever": {"query": text}, "prompt": {"question": text}, "writer": {"session_id": "s1"}}


def test_a_pipeline_of_them_is_saved_loaded_and_run(tmp_path: Path) -> None:
    allow_deserialization_module("assay_integrations.haystack")
    allow_deserialization_module(__name__)
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        store.record(FACT, session="earlier")
    pipeline = pipeline_of(path)
    loaded = Pipeline.loads(pipeline.dumps())
    assert loaded.to_dict()["components"] == pipeline.to_dict()["components"]
    loaded.run(asked(QUESTION))
    with Store(path) as store:
        assert [episode.content for episode in store.episodes.list()] == [FACT, "On Tuesday."]


def test_on_a_loop_the_host_runs_them_in_threads(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Store(path) as store:
        store.record(FACT, session="earlier")
    asyncio.run(pipeline_of(path).run_async(asked(QUESTION)))
    with Store(path) as store:
        assert [episode.content for episode in store.episodes.list()] == [FACT, "On Tuesday."]
