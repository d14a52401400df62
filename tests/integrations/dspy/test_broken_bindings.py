"""A binding that breaks a rule of DSPy or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import dspy
import pytest

from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.dspy import callback
from assay_integrations.dspy.callback import AssayCallback
from assay_integrations.dspy.place import Place, Sessions

from . import harness
from .harness import DSPyHarness, Shared
from .test_contract import OnDSPy

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(AssayCallback):
    def on_tool_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        self.sessions.leave(call_id)


class RecordsTheHostsTools(AssayCallback):
    def on_tool_start(self, call_id: str, instance: Any, inputs: Any) -> None:
        here = self.sessions.here
        super().on_tool_start(call_id, instance, inputs)
        if here is not None and here.session is not None and instance.name == "finish":
            here.session.tool_call("finish", {}, call_id=call_id)


class TakesErrorsForResults(AssayCallback):
    def on_tool_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        super().on_tool_end(call_id, str(exception) if exception else outputs)


class RecordsWhatModelsSay(AssayCallback):
    def on_lm_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        here = self.sessions.here
        if here is not None and here.session is not None:
            here.session.agent_message(str(outputs))


class TakesStepsForRuns(AssayCallback):
    def on_module_start(self, call_id: str, instance: Any, inputs: Any) -> None:
        super().on_module_start(call_id, instance, inputs)
        here = self.sessions.leave(call_id)
        if here is not None:
            self.sessions.enter(call_id, Place(here.session, True, asked=here.asked))


class TakesFailuresForEnds(AssayCallback):
    def on_module_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        super().on_module_end(call_id, outputs)


class CallsSignalsFailures(AssayCallback):
    def on_module_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        super().on_module_end(call_id, outputs, RuntimeError(str(exception)) if exception else None)


class BriefsEachPromptAnew(AssayCallback):
    def _briefed(self, messages: Any) -> Any:
        here = self.sessions.here
        text = "" if here is None or here.session is None else here.session.briefing(str(messages)).text
        return [*messages[:-1], *([{"role": "user", "content": text}] if text else []), messages[-1]]


class BriefsTwice(AssayCallback):
    def _briefed(self, messages: Any) -> Any:
        return [one for one in super()._briefed(messages) for _ in range(1 + ("<memory-" in one["content"]))]


class BriefsTheSystem(AssayCallback):
    def _briefed(self, messages: Any) -> Any:
        return [
            {**one, "role": "system"} if "<memory-" in one["content"] else one for one in super()._briefed(messages)
        ]


class BriefsBehindTheQuestion(AssayCallback):
    def _briefed(self, messages: Any) -> Any:
        briefed = super()._briefed(messages)
        return sorted(briefed, key=lambda one: one["role"] != "system" and "<memory-" in one["content"])


class WorksUnguarded(AssayCallback):
    def _briefed(self, messages: Any) -> Any:
        here = self.sessions.here
        if here is not None and here.session is not None:
            here.session.briefing()
        return super()._briefed(messages)


class OneSessionForAll(Sessions):
    keys: ClassVar[list[Any]] = []

    def of_key(self, key: Any, **more: Any) -> Any:
        self.keys.append(key)
        return super().of_key(self.keys[0], **more)


class ForgetsWhoSpeaks(AssayCallback):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self.sessions.__class__ = OneSessionForAll


class SubAgentsAreParts(Sessions):
    def of_module(self, call_id: str, instance: Any, asked: Any) -> Any:
        here = self.here
        return Place(here.session) if here is not None else super().of_module(call_id, instance, asked)


class TakesSubAgentsForTheRoot(AssayCallback):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self.sessions.__class__ = SubAgentsAreParts


BROKEN: list[tuple[type[AssayCallback], Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (RecordsTheHostsTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (RecordsWhatModelsSay, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (TakesStepsForRuns, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (TakesErrorsForResults, AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (TakesFailuresForEnds, OnDSPy.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (CallsSignalsFailures, AdapterContract.test_c13_cancellation_and_interrupts_pass_and_are_no_failures),
    (BriefsEachPromptAnew, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsTheSystem, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (BriefsBehindTheQuestion, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(DSPyHarness(Shared), tmp_path / "stage", OnDSPy.lacks)
    yield stage
    stage.close()


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, binding: type[AssayCallback], clause: Clause
) -> None:
    OneSessionForAll.keys.clear()
    monkeypatch.setattr(harness, "AssayCallback", binding)
    with pytest.raises(AssertionError):
        clause(OnDSPy() if clause.__qualname__.startswith("OnDSPy") else CONTRACT, stage)


def test_a_wrap_by_the_program_itself_is_seen(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks like a new run, unless what composes is kept from the callbacks."""

    @contextmanager
    def observed() -> Iterator[None]:
        yield

    def compose(model: Any, prompt: str) -> str:
        return str(dspy.Predict(_signature("package -> document"))(package=prompt).document)

    monkeypatch.setattr(callback, "unobserved", observed)
    monkeypatch.setattr(callback, "compose", compose)
    with pytest.raises(AssertionError):
        CONTRACT.test_c11_a_wrap_leaves_no_trace(stage)


def _signature(text: str) -> Any:
    return text
