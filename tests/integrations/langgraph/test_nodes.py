"""`session(...)`: a memory for a graph whose nodes call the model themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from assay import Store
from assay.session import MissingUser, SessionOptions, WrapPolicy
from assay.testing import Call, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.langgraph import NodeMemory, session

from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def boom() -> str:
    """Break."""
    raise RuntimeError("out of order")


def graph(memory: NodeMemory, script: Script) -> Any:
    """Make a graph of a node that calls the model and a node that calls tools."""
    model = ScriptedModel(script=script)

    def call(state: MessagesState) -> dict[str, Any]:
        reply = model.invoke(memory.brief(state["messages"]))
        memory.record([*state["messages"], reply])
        return {"messages": [reply]}

    async def acall(state: MessagesState) -> dict[str, Any]:
        reply = await model.ainvoke(await memory.abrief(state["messages"]))
        await memory.arecord([*state["messages"], reply])
        return {"messages": [reply]}

    nodes = StateGraph(MessagesState)
    nodes.add_node("model", RunnableLambda(call, afunc=acall))
    nodes.add_node("tools", ToolNode([add, boom], handle_tool_errors=True))
    nodes.add_edge(START, "model")
    nodes.add_conditional_edges("model", tools_condition)
    nodes.add_edge("tools", "model")
    return nodes.compile()


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in store.episodes.list()]


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_each_message_of_a_graph_is_recorded_once(store: Store, loop: bool) -> None:
    script = Script(Call("add", {"a": 1, "b": 2}), Call("boom", {}, "c1"), Say("Three, and it broke."))
    with session(store, user="ada", session="t1", agent="counter") as memory:
        given = {"messages": [HumanMessage("Count")]}
        counter = graph(memory, script)
        _ = asyncio.run(counter.ainvoke(given)) if loop else counter.invoke(given)
    recorded = told(store)
    assert recorded[:4] == [
        ("user:ada", "Count"),
        ("agent:counter", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent:counter", "boom {}"),
    ]
    assert recorded[4][0] == "tool:boom" and recorded[4][1].startswith("boom failed: ")
    assert recorded[5:] == [("agent:counter", "Three, and it broke.")]
    assert {(episode.session, episode.success) for episode in store.episodes.list()} == {("t1", None), ("t1", False)}


def test_every_call_of_the_model_is_briefed_alike_and_the_state_stays_clean(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    with session(store, session="t1") as memory:
        done = graph(memory, script).invoke({"messages": [HumanMessage(QUESTION)]})
    blocks = [prompt.of("user")[0] for prompt in script.prompts]
    assert FACT in blocks[0] and blocks == blocks[:1] * 2
    assert [prompt.of("user")[1] for prompt in script.prompts] == [QUESTION] * 2
    assert "<memory-" not in str(done)


def test_turns_of_one_conversation_are_runs_of_one_session(store: Store) -> None:
    script = Script(Say("Noted."), Say("Yes."))
    with session(store, session="t1") as memory:
        talk = graph(memory, script)
        first = talk.invoke({"messages": [HumanMessage(FACT)]})
        talk.invoke({"messages": [*first["messages"], HumanMessage("Sure?")]})
    assert [text for _, text in told(store)] == [FACT, "Noted.", "Sure?", "Yes."]
    assert len({episode.run for episode in store.episodes.list()}) == 2


def test_messages_without_ids_are_told_apart_by_their_places(store: Store) -> None:
    with session(store) as memory:
        for _ in range(2):
            memory.record([HumanMessage("yes")])
        memory.record([HumanMessage("yes"), HumanMessage("yes")])
    assert [text for _, text in told(store)] == ["yes", "yes"]


def test_the_end_of_the_block_consolidates_with_the_model_that_was_given(store: Store) -> None:
    model = ScriptedModel(script=Script(Say("Noted."), Say(lambda prompt: honest_document(prompt.text, about=FACT))))
    with session(store, session="t1", model=model, options=SessionOptions(wrap=WrapPolicy.each_run())) as memory:
        reply = model.invoke(memory.brief([HumanMessage(FACT)]))
        memory.record([HumanMessage(FACT), reply])
    assert [belief.name for belief in store.beliefs.list()] == ["learned_fact"]


def test_an_error_in_the_block_is_the_runs_failure_and_passes(store: Store) -> None:
    with pytest.raises(RuntimeError, match="down"), session(store) as memory:
        memory.record([HumanMessage("Hello")])
        raise RuntimeError("down")
    assert [text for _, text in told(store)] == ["Hello", "run failed: RuntimeError: down"]


def test_an_interrupt_in_the_block_is_no_failure(store: Store) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        with session(store, session="t1") as memory:
            memory.record(state["messages"])
            interrupt("may I?")
        return {}

    nodes = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=InMemorySaver())
    nodes.invoke({"messages": [HumanMessage("Hello")]}, {"configurable": {"thread_id": "t1"}})
    assert [text for _, text in told(store)] == ["Hello"]


def test_a_memory_per_user_needs_the_user(tmp_path: Path) -> None:
    with pytest.raises(MissingUser), session(tmp_path / "{user}.db"):
        raise AssertionError("the block must not be entered")
