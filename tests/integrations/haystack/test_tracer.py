"""A tracer that tells a memory how runs fail, beside the tracer of the user's own."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from haystack.tools.errors import ToolInvocationError
from haystack.tracing.tracer import Span, Tracer, disable_tracing, enable_tracing, tracer

from assay import Store
from assay.session import StoreRouter
from assay.testing import Call, Fail, Say, Script
from assay_integrations.haystack import AssayHook, AssayTracer

from .harness import agent_of
from .test_hooks import ask, asking, held, remembering, says, told


class Spans(Span):
    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log

    def set_tag(self, key: str, value: Any) -> None:
        self.log.append(f"{self.name} {key}")


class Theirs(Tracer):
    """Writes down the spans that it gives, and how they end."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.current: Span | None = None

    @contextmanager
    def trace(self, operation_name: str, tags: Any = None, parent_span: Span | None = None) -> Generator[Span]:
        before, self.current = self.current, Spans(operation_name, self.log)
        self.log.append(f"{operation_name} {sorted(tags or {})} {getattr(parent_span, 'name', None)}")
        try:
            yield self.current
        except Exception as error:
            self.log.append(f"{operation_name} {error!r}")
            raise
        finally:
            self.current = before

    def current_span(self) -> Span | None:
        return self.current


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture(autouse=True)
def untraced() -> Iterator[None]:
    yield
    disable_tracing()


@pytest.mark.parametrize("awaits", [False, True])
def test_an_error_that_ends_a_run_is_recorded_once(store: Store, awaits: bool) -> None:
    error = ConnectionError("no route")
    agent = remembering(store, Call("add", {"a": 1, "b": 2}), Fail(error))
    with AssayTracer(), pytest.raises(ConnectionError) as raised:
        if awaits:
            asyncio.run(agent.run_async(says("Add")))
        else:
            agent.run(says("Add"))
    assert raised.value is error
    assert told(store)[3:] == [("host:haystack", "run failed: ConnectionError: no route")]


def test_the_users_tracer_sees_what_it_would_see_and_is_given_back(store: Store) -> None:
    theirs = Theirs()
    enable_tracing(theirs)
    agent_of(Script(Call("add", {"a": 1, "b": 2}), Say("Three."))).run(says("Add"))
    alone = [line for line in theirs.log if "hook" not in line]
    theirs.log.clear()
    with AssayTracer():
        assert tracer.actual_tracer is not theirs
        remembering(store, Call("add", {"a": 1, "b": 2}), Say("Three.")).run(says("Add"))
    assert tracer.actual_tracer is theirs
    assert [line for line in theirs.log if "hook" not in line] == alone
    assert len(held(store)) == 4


def test_an_error_of_an_agent_inside_a_tool_is_the_tools_and_not_the_runs(store: Store) -> None:
    with StoreRouter(store) as router, AssayTracer():
        sub = AssayHook(router, agent="helper").attach(agent_of(Script(Fail(ConnectionError("no route")))))
        root = AssayHook(router).attach(agent_of(Script(ask(), Say("It failed.")), tools=[asking(sub)]))
        root.run(says("Ask it"))
    failures = [episode.source for episode in held(store) if episode.success is False]
    assert failures == ["tool:helper"]
    assert told(store)[-1] == ("agent", "It failed.")


def test_a_run_that_is_tried_again_while_its_error_is_handled_is_no_sub_agents(store: Store) -> None:
    async def twice() -> None:
        steps = (Call("boom", {"x": "y"}), Say("Better."))
        agent = remembering(store, *steps, raise_on_tool_invocation_failure=True)
        with AssayTracer():
            try:
                await agent.run_async(says("Break it"))
            except ToolInvocationError:
                await asyncio.create_task(agent.run_async(says("Try again")))

    asyncio.run(twice())
    assert [text for source, text in told(store) if source == "user"] == ["Break it", "Try again"]


def test_without_it_and_without_a_block_a_failed_run_stays_open(store: Store) -> None:
    with pytest.raises(ConnectionError):
        remembering(store, Fail(ConnectionError("no route"))).run(says("Add"))
    assert told(store) == [("user", "Add")]
