"""A binding that breaks a rule of AG2 classic or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from assay.session import StoreRouter, guard
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.autogen.ag2_classic import running, session
from assay_integrations.autogen.ag2_classic.hooks import Hooks
from assay_integrations.autogen.ag2_classic.running import Run, SessionMemory

from .harness import AG2ClassicHarness

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(Hooks):
    def _hear(self, message: Any) -> None:
        if message.get("role") != "tool":
            super()._hear(message)


class HearsTheModelTwice(Hooks):
    def _say(self, message: Any) -> None:
        super()._say(message)
        if isinstance(message, str):
            self._talk.session.named(self._agent.name).agent_message(message)


class MistakesToolsForThePerson(Hooks):
    def _hear(self, message: Any) -> None:
        self._talk.session.user_message(str(message["content"]))


class NamesNoTool(Hooks):
    def _hear(self, message: Any) -> None:
        self._calls = []
        super()._hear(message)


class TakesSubAgentsForTheRoot(Hooks):
    def _hear(self, message: Any) -> None:
        self._talk.calling.clear()
        super()._hear(message)


class BriefsTwice(Hooks):
    def before_reply(self, messages: Any) -> Any:
        return super().before_reply(super().before_reply(messages))


class BriefsInTheSystemText(Hooks):
    def before_reply(self, messages: Any) -> Any:
        given = super().before_reply(messages)
        ours = [{**one, "role": "system"} for one in given if "<memory-" in str(one["content"])]
        return [*ours, *given]


class KeepsTheBriefing(Hooks):
    def before_reply(self, messages: Any) -> Any:
        given = super().before_reply(messages)
        messages[:] = given
        return given


class WorksUnguarded(Hooks):
    def before_reply(self, messages: Any) -> Any:
        self._talk.session.briefing()
        return super().before_reply(messages)


class ChangesWhatIsSent(Hooks):
    def before_send(self, sender: Any, message: Any, recipient: Any, silent: Any) -> Any:
        super().before_send(sender, message, recipient, silent)
        return f"{message} (noted)" if isinstance(message, str) else message


class NeverLeaves(Hooks):
    def detach(self) -> None:
        pass


class OverlooksFailures(Run):
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(None, None, None)


class ReplacesFailures(Run):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        super().__exit__(kind, error, traceback)
        if error is not None:
            raise RuntimeError("the run failed") from error


class CallsInterruptsFailures(Run):
    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        super().__exit__(kind, RuntimeError(str(error)) if error else None, traceback)


class RecordsTheWrap(Run):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        super().__exit__(kind, error, traceback)
        with self._talk.session.store() as store:
            self._talk.session.agent_message(store.continuity.text())


class NeverConsolidates(Run):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        with guard(self._talk.session, "run_ended"):
            self._talk.session.run_ended(None)


Part = type[Hooks] | type[Run]
BROKEN: list[tuple[Part, Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsTheModelTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (MistakesToolsForThePerson, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (NamesNoTool, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsInTheSystemText, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (ChangesWhatIsSent, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (ChangesWhatIsSent, AdapterContract.test_c22_the_users_own_hooks_run_as_before),
    (NeverLeaves, AdapterContract.test_c21_detaching_leaves_nothing),
    (OverlooksFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (ReplacesFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (CallsInterruptsFailures, AdapterContract.test_c13_cancellation_and_interrupts_pass_and_are_no_failures),
    (RecordsTheWrap, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (NeverConsolidates, AdapterContract.test_c10_the_agents_own_model_composes_and_good_text_commits),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[Any], Stage]]:
    stages: list[Stage] = []

    def make(binding: Any) -> Stage:
        stages.append(Stage(AG2ClassicHarness(binding), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("part", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(
    stage_of: Callable[[Any], Stage], monkeypatch: pytest.MonkeyPatch, part: Any, clause: Clause
) -> None:
    monkeypatch.setattr(running, "Hooks" if issubclass(part, Hooks) else "Run", part)
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(session))


def test_a_binding_that_forgets_who_speaks_is_seen(stage_of: Callable[[Any], Stage]) -> None:
    @contextmanager
    def opened(target: StoreRouter, *, user: Any, **given: Any) -> Generator[SessionMemory]:
        with session(target, user="ada", **given) as memory:
            yield memory

    with pytest.raises(AssertionError):
        CONTRACT.test_c15_users_stay_apart(stage_of(opened))
