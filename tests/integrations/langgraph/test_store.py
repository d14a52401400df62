"""`AssayStore` behaves as a store of LangGraph, and is a memory of Assay underneath."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langgraph.store.base import BaseStore, GetOp, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from assay import Store
from assay.testing import Call, Say, Script
from assay_integrations.langgraph import AssayStore

from .scripted import ScriptedModel

USER = ("users", "ada")


@pytest.fixture
def memory() -> Iterator[Store]:
    with Store(":memory:") as store:
        yield store


@pytest.fixture
def store(memory: Store) -> AssayStore:
    return AssayStore(memory)


def test_an_item_comes_back_as_it_was_put(store: AssayStore) -> None:
    value = {"text": "likes tea", "since": 2019, "nested": {"deep": [1, None, True]}}
    store.put(USER, "drink", value)
    item = store.get(USER, "drink")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (USER, "drink", value)
    assert store.get(USER, "food") is None
    assert store.get((*USER, "more"), "drink") is None


def test_a_second_put_replaces_the_first_and_its_history_is_kept(store: AssayStore, memory: Store) -> None:
    store.put(USER, "drink", {"text": "likes tea"})
    first = store.get(USER, "drink")
    store.put(USER, "drink", {"text": "likes coffee"})
    second = store.get(USER, "drink")
    assert first is not None and second is not None
    assert second.value == {"text": "likes coffee"}
    assert second.created_at == first.created_at < second.updated_at
    assert [item.value for item in store.search(USER)] == [{"text": "likes coffee"}]
    assert [str(episode) for episode in memory.episodes.list()] == ["likes tea", "likes coffee"]


def test_a_value_that_returns_is_the_value_again(store: AssayStore) -> None:
    for text in ("tea", "coffee", "tea"):
        store.put(USER, "drink", {"text": text})
    item = store.get(USER, "drink")
    assert item is not None and item.value == {"text": "tea"}
    assert [found.value for found in store.search(USER)] == [{"text": "tea"}]


def test_values_that_read_alike_are_two_values(store: AssayStore) -> None:
    for value in ({"n": "1"}, {"n": 1}, {}, {"text": ""}, {"text": "\0"}, {"n": 1}):
        store.put(USER, "drink", value)
        item = store.get(USER, "drink")
        assert item is not None and item.value == value
        assert [found.value for found in store.search(USER)] == [value]


def test_a_deleted_item_is_erased_with_every_value_it_had(store: AssayStore, memory: Store) -> None:
    store.put(USER, "drink", {"text": "likes tea"})
    store.put(USER, "drink", {"text": "likes coffee"})
    store.put(USER, "food", {"text": "likes rice"})
    store.delete(USER, "drink")
    assert store.get(USER, "drink") is None
    assert [item.key for item in store.search(USER)] == ["food"]
    assert [str(episode) for episode in memory.episodes.list()] == ["likes rice"]
    assert memory.verify()


def test_keys_that_differ_in_case_or_in_their_cut_are_two(store: AssayStore) -> None:
    places = [(("a", "b"), "c"), (("a",), "b"), (("A", "b"), "c"), (("a", "b"), "C"), (("a", "bc"), "c")]
    for number, (namespace, key) in enumerate(places):
        store.put(namespace, key, {"number": number})
    for number, (namespace, key) in enumerate(places):
        item = store.get(namespace, key)
        assert item is not None and item.value == {"number": number}


def test_equal_values_under_two_keys_are_two_items(store: AssayStore) -> None:
    store.put(USER, "one", {"text": "likes tea"})
    store.put(USER, "two", {"text": "likes tea"})
    assert {item.key for item in store.search(USER)} == {"one", "two"}
    assert {item.key for item in store.search(USER, query="who likes tea?")} == {"one", "two"}


def test_a_query_finds_what_it_asks_for_and_nothing_else(store: AssayStore) -> None:
    store.put(USER, "drink", {"text": "Ada prefers green tea in the morning"})
    store.put(USER, "sport", {"text": "Ada climbs on Sundays"})
    store.put(("users", "bob"), "drink", {"text": "Bob prefers green tea as well"})
    found = store.search(USER, query="which tea does she prefer in the morning?")
    assert [item.key for item in found] == ["drink"]
    assert found[0].score is not None and found[0].score > 0
    assert store.search(USER, query="quarterly revenue") == []
    assert {item.namespace for item in store.search(("users",), query="green tea")} == {USER, ("users", "bob")}


def test_only_indexed_fields_are_searched(store: AssayStore) -> None:
    store.put(USER, "one", {"text": "likes tea", "note": "likes coffee"}, index=["text"])
    store.put(USER, "two", {"text": "likes tea"}, index=False)
    assert [item.key for item in store.search(USER, query="tea")] == ["one"]
    assert store.search(USER, query="coffee") == []
    assert {item.key for item in store.search(USER)} == {"one", "two"}


@pytest.mark.parametrize(
    "wanted",
    [
        {"kind": "b"},
        {"size": {"$gt": 1}},
        {"size": {"$lte": 1}},
        {"kind": {"$ne": "a"}},
        {"at": {"x": 2}},
        {"none": None},
    ],
    ids=str,
)
def test_filters_are_those_of_langgraphs_own_store(store: AssayStore, wanted: dict[str, Any]) -> None:
    theirs = InMemoryStore()
    for number, kind in enumerate("abab"):
        value = {"kind": kind, "size": number, "at": {"x": number % 3}}
        store.put(USER, f"k{number}", value)
        theirs.put(USER, f"k{number}", value)
    expected = {item.key for item in theirs.search(USER, filter=wanted)}
    assert {item.key for item in store.search(USER, filter=wanted)} == expected
    assert expected


def test_an_unknown_operator_is_refused(store: AssayStore) -> None:
    store.put(USER, "drink", {"size": 1})
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(USER, filter={"size": {"$near": 1}})


def test_pages_of_a_search_meet(store: AssayStore) -> None:
    for number in range(25):
        store.put(USER, f"k{number}", {"text": f"tea number {number}"})
    pages = [store.search(USER, limit=10, offset=offset) for offset in (0, 10, 20)]
    assert [len(page) for page in pages] == [10, 10, 5]
    assert {item.key for page in pages for item in page} == {f"k{number}" for number in range(25)}


def test_namespaces_are_listed_as_langgraphs_own_store_lists_them(store: AssayStore) -> None:
    theirs = InMemoryStore()
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",)):
        store.put(namespace, "k", {"v": 1})
        theirs.put(namespace, "k", {"v": 1})
    asked: list[dict[str, Any]] = [
        *({}, {"prefix": ("a", "b")}, {"suffix": ("c",)}, {"prefix": ("a", "*", "c")}, {"max_depth": 2}),
        *({"prefix": ("a",), "max_depth": 1}, {"limit": 2}, {"limit": 2, "offset": 2}, {"prefix": ("nothing",)}),
    ]
    for question in asked:
        assert store.list_namespaces(**question) == theirs.list_namespaces(**question), question


def test_a_batch_reads_what_was_there_before_it_wrote(store: AssayStore) -> None:
    ops: list[Op] = [PutOp(USER, "drink", {"text": "tea"}), GetOp(USER, "drink"), SearchOp(USER)]
    assert store.batch(ops) == InMemoryStore().batch(ops) == [None, None, []]
    assert store.get(USER, "drink") is not None


def test_an_event_loop_sees_the_same_items(store: AssayStore) -> None:
    async def use() -> list[str]:
        await store.aput(USER, "drink", {"text": "likes tea"})
        assert await store.aget(USER, "drink") is not None
        return [item.key for item in await store.asearch(USER, query="tea")]

    assert asyncio.run(use()) == ["drink"]


def test_a_lifetime_is_refused_by_the_host(store: AssayStore) -> None:
    with pytest.raises(NotImplementedError):
        store.put(USER, "drink", {"text": "tea"}, ttl=5)


def test_a_store_from_a_path_is_there_again_after_closing(tmp_path: Path) -> None:
    store = AssayStore(tmp_path / "memory.db")
    store.put(USER, "drink", {"text": "tea"})
    store.close()
    again = AssayStore(tmp_path / "memory.db")
    item = again.get(USER, "drink")
    again.close()
    assert item is not None and item.value == {"text": "tea"}


def test_a_tool_reaches_it_through_the_agent(store: AssayStore, memory: Store) -> None:
    @tool
    def note(text: str, runtime: ToolRuntime) -> str:
        """Note a preference."""
        assert isinstance(runtime.store, BaseStore)
        runtime.store.put(USER, "note", {"text": text})
        return ", ".join(str(item.value["text"]) for item in runtime.store.search(USER, query="tea"))

    script = Script(Call("note", {"text": "prefers green tea"}), Say("Noted."))
    agent = create_agent(ScriptedModel(script=script), [note], store=store)
    done = agent.invoke(
        {"messages": [{"role": "user", "content": "I prefer tea"}]}, {"configurable": {"thread_id": "t9"}}
    )
    assert done["messages"][-2].text == "prefers green tea"
    (episode,) = memory.episodes.list()
    assert (episode.session, episode.origin.value, episode.trust.value) == ("t9", "agent", "agent")


KEYS = st.sampled_from(["k1", "k2", "K1"])
SPACES = st.sampled_from([("a",), ("a", "b"), ("c",)])
VALUES = st.dictionaries(st.sampled_from(["text", "n"]), st.integers(0, 3) | st.text(max_size=8), max_size=2)


@given(st.lists(st.tuples(SPACES, KEYS, VALUES | st.none()), max_size=12))
def test_any_sequence_of_puts_and_deletes_ends_as_in_langgraphs_own_store(
    steps: list[tuple[tuple[str, ...], str, dict[str, Any] | None]],
) -> None:
    theirs = InMemoryStore()
    with Store(":memory:") as memory:
        ours = AssayStore(memory)
        for namespace, key, value in steps:
            for store in (ours, theirs):
                store.batch([PutOp(namespace, key, value)])
        for prefix in ((), ("a",), ("a", "b")):
            mine = {(item.namespace, item.key): item.value for item in ours.search(prefix, limit=100)}
            assert mine == {(item.namespace, item.key): item.value for item in theirs.search(prefix, limit=100)}
