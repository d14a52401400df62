"""A binding that breaks a rule of ADK or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.adk.events import Event
from google.genai.types import Content, Part

from assay.session import SessionKey
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.google_adk import AssayPlugin, events
from assay_integrations.google_adk.composing import acompose

from .harness import GoogleADKHarness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayPlugin):
    async def before_tool_callback(self, **given: Any) -> None:
        pass


class HearsAgentsTwice(AssayPlugin):
    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        await super().on_event_callback(invocation_context=invocation_context, event=event)
        again = event.model_copy(update={"id": f"{event.id}-again"})
        await super().on_event_callback(invocation_context=invocation_context, event=again)


class AnswersForBrokenTools(AssayPlugin):
    async def on_tool_error_callback(self, **given: Any) -> Any:
        await super().on_tool_error_callback(**given)
        return {"error": str(given["error"])}


class WorksUnguarded(AssayPlugin):
    async def before_run_callback(self, *, invocation_context: Any) -> None:
        session = self._sessions.of_run(invocation_context)
        assert session is not None
        await session.aio.run(partial(events.began, session, invocation_context))


class ForgetsFailures(AssayPlugin):
    async def on_run_error_callback(self, **given: Any) -> None:
        pass


class BriefsTwice(AssayPlugin):
    async def before_model_callback(self, **given: Any) -> None:
        await super().before_model_callback(**given)
        await super().before_model_callback(**given)


class SpeaksAsTheSystem(AssayPlugin):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        session = self._sessions.of_run(callback_context.get_invocation_context())
        assert session is not None
        llm_request.append_instructions([(await session.aio.briefing()).text])


class KeepsTheBriefing(AssayPlugin):
    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Any:
        session = self._sessions.of_run(invocation_context)
        assert session is not None
        text = (await session.aio.briefing()).text
        shown = [*(event.content.parts or ()), Part(text=text)] if event.content and text else None
        return event.model_copy(update={"content": Content(role="model", parts=shown)}) if shown else None


class EndsWhatStopped(AssayPlugin):
    async def after_run_callback(self, *, invocation_context: Any) -> None:
        session = self._sessions.of_run(invocation_context)
        assert session is not None
        await session.aio.run_ended(None)


class BlocksTheLoop(AssayPlugin):
    async def before_run_callback(self, *, invocation_context: Any) -> None:
        session = self._sessions.of_run(invocation_context)
        assert session is not None
        events.began(session, invocation_context)


class ForgetsWhoSpeaks(AssayPlugin):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self._sessions.of_run = lambda *_: self._sessions.of_key(SessionKey("ada", "s1"))  # type: ignore[method-assign]


class TakesSubAgentsForTheRoot(AssayPlugin):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self._sessions.enter = lambda *_, **__: None  # type: ignore[method-assign]


class OverlooksHandoffs(AssayPlugin):
    async def after_tool_callback(self, *, tool: Any, **given: Any) -> None:
        if tool.name != "transfer_to_agent":
            await super().after_tool_callback(tool=tool, **given)


class ShowsTheWrap(AssayPlugin):
    async def after_run_callback(self, *, invocation_context: Any) -> None:
        await super().after_run_callback(invocation_context=invocation_context)
        text = await acompose(invocation_context.agent.canonical_model, "Rewrite the memory")
        event = Event(author="main", content=Content(role="model", parts=[Part(text=text)]))
        await invocation_context.session_service.append_event(session=invocation_context.session, event=event)


class KeepsUsersHooksOut(AssayPlugin):
    async def before_run_callback(self, *, invocation_context: Any) -> Any:
        await super().before_run_callback(invocation_context=invocation_context)
        return {}


BROKEN: list[tuple[type[AssayPlugin], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsAgentsTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (AnswersForBrokenTools, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (ForgetsFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (SpeaksAsTheSystem, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (EndsWhatStopped, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (BlocksTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (OverlooksHandoffs, AdapterContract.test_c07_a_handoff_is_recorded_once),
    (ShowsTheWrap, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (KeepsUsersHooksOut, AdapterContract.test_c22_the_users_own_hooks_run_as_before),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[type[AssayPlugin]], Stage]]:
    stages: list[Stage] = []

    def make(binding: type[AssayPlugin]) -> Stage:
        stages.append(Stage(GoogleADKHarness(binding), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[type[AssayPlugin]], Stage], binding: type[AssayPlugin], clause: Clause
) -> None:
    # A clause that looks for a message which is not there ends in an IndexError.
    with pytest.raises((AssertionError, IndexError)):
        clause(CONTRACT, stage_of(binding))
