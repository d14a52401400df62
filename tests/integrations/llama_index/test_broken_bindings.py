"""A binding that breaks a rule of LlamaIndex or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index_instrumentation import root_dispatcher

from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.llama_index import AssayMemory, events, memory, place, session, spans
from assay_integrations.llama_index.composing import acompose

from .harness import LlamaIndexHarness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class BriefsTwice(AssayMemory):
    async def aget(self, *given: Any, **more: Any) -> list[ChatMessage]:
        messages = await super().aget(*given, **more)
        blocks = [one for one in messages if "<memory-" in str(one.content)]
        return [*blocks, *messages]


class BriefsTheFirstCallAlone(AssayMemory):
    async def aget(self, *given: Any, **more: Any) -> list[ChatMessage]:
        messages = await super().aget(*given, **more)
        run = self._run
        if run is not None:
            run.block = ""
        return messages


class SpeaksAsTheSystem(AssayMemory):
    async def aget(self, *given: Any, **more: Any) -> list[ChatMessage]:
        messages = await super().aget(*given, **more)
        return [
            ChatMessage(role=MessageRole.SYSTEM, content=one.content) if "<memory-" in str(one.content) else one
            for one in messages
        ]


class KeepsTheBriefing(AssayMemory):
    async def aput(self, message: ChatMessage) -> None:
        await super().aput(message)
        if self._run is not None and self._run.block:
            await self.sql_store.add_message(self.session_id, ChatMessage(role="user", content=self._run.block))


class WorksUnguarded(AssayMemory):
    async def aput(self, message: ChatMessage) -> None:
        await super().aput(message)
        if self._run is not None:
            self._run.session.run_started()


class TouchesTheDiskOnTheLoop(AssayMemory):
    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        if self._run is not None:
            self._run.relay.flush()
            self._run.session.run_ended(None)
        await super().aput_messages(messages)


class WrapsWhateverHappened(AssayMemory):
    async def awrap(self) -> None:
        if self._last is not None:
            await self._last.relay.settled()  # what is told later would open the run again
            self._last.session.run_ended(None)
        await super().awrap()


def opened_as(kind: type[AssayMemory]) -> Any:
    """Give a `session` whose memory is of another class."""

    @asynccontextmanager
    async def opens(target: Any, *, session: Any = None, **settings: Any) -> AsyncGenerator[AssayMemory]:
        made = kind.from_defaults(target, session_id=session, **settings)
        try:
            yield made
        finally:
            await made.awrap()

    return opens


MEMORIES: list[tuple[type[AssayMemory], Clause]] = [
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsTheFirstCallAlone, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (SpeaksAsTheSystem, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (TouchesTheDiskOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (WrapsWhateverHappened, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
]


def _twice(told: Any, run: Any, message: Any) -> None:
    told(run, message)
    told(run, message)


def _as_result(run: Any, result: Any) -> None:
    run.tell("tool_result", lambda one: one.tool_result(result.tool_name, "it broke", call_id=result.tool_id))


def _nothing(*given: Any) -> None: ...


PARTS: list[tuple[Any, str, Any, Clause]] = [
    (events, "called", _nothing, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (events, "said", partial(_twice, events.said), AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (events, "returned", _as_result, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (events, "turned", _nothing, AdapterContract.test_c07_a_handoff_is_recorded_once),
    (events, "failed", _nothing, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (spans, "_forget", _nothing, AdapterContract.test_c21_detaching_leaves_nothing),
    (
        place.Sessions,
        "caller",
        lambda *given: None,
        AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name,
    ),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    stages: list[Stage] = []
    dispatcher: Any = root_dispatcher
    before = dispatcher.span_handlers

    def make(binding: Any = session) -> Stage:
        stages.append(Stage(LlamaIndexHarness(binding), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()
    dispatcher.span_handlers = before


@pytest.mark.parametrize(("kind", "clause"), MEMORIES, ids=lambda given: given.__name__)
def test_a_broken_memory_is_seen(stage_of: Callable[..., Stage], kind: type[AssayMemory], clause: Clause) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(opened_as(kind)))


@pytest.mark.parametrize(("where", "name", "instead", "clause"), PARTS, ids=[one[1] for one in PARTS])
def test_a_broken_part_is_seen(
    stage_of: Callable[..., Stage],
    monkeypatch: pytest.MonkeyPatch,
    where: Any,
    name: str,
    instead: Any,
    clause: Clause,
) -> None:
    monkeypatch.setattr(where, name, instead)
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of())


def test_a_wrap_in_the_conversation_itself_is_seen(
    stage_of: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a binding that lets the conversation, not the model alone, hold the continuity."""

    class WritesItDown(AssayMemory):
        async def awrap(self) -> None:
            async def ask(model: Any, prompt: str) -> str:
                text = await acompose(model, prompt)
                await self.sql_store.add_message(self.session_id, ChatMessage(role="assistant", content=text))
                return text

            monkeypatch.setattr(memory, "acompose", ask)
            await super().awrap()

    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage_of(opened_as(WritesItDown)))
