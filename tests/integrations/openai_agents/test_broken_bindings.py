"""A binding that breaks a rule of the Agents SDK or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agents import Runner
from agents.run import AgentRunner, set_default_agent_runner

from assay.session import SessionKey
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.openai_agents import AssayRunner
from assay_integrations.openai_agents.events import Events
from assay_integrations.openai_agents.hooks import MemoryHooks

from .harness import OpenAIAgentsHarness

Clause = Callable[[Any, Stage], None]
Binding = Callable[..., AssayRunner]
CONTRACT = AdapterContract()


def hooked_by(hooks: type[MemoryHooks]) -> Binding:
    """Make runners that hook their runs with a broken class."""

    class Broken(AssayRunner):
        def _hooked(self, *given: Any, **more: Any) -> MemoryHooks:
            made = super()._hooked(*given, **more)
            return hooks(made.events, made._theirs, made._config, made._composer)

    Broken.__name__ = hooks.__name__
    return Broken


class OverlooksTools(MemoryHooks):
    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None: ...

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None: ...


class BriefsTwice(MemoryHooks):
    async def brief(self, data: Any) -> Any:
        return await self.events.briefed(await super().brief(data))


class HasTheLastWord(MemoryHooks):
    async def brief(self, data: Any) -> Any:
        given = data.model_data.input
        made = await super().brief(data)
        return replace(made, input=[*given, *(item for item in made.input if item not in given)])


class WordsToolErrors(MemoryHooks):
    async def format_error(self, args: Any) -> str:
        await super().format_error(args)
        return "Something went wrong."


class TakesApologiesForResults(MemoryHooks):
    async def format_error(self, args: Any) -> None: ...


class WorksUnguarded(MemoryHooks):
    async def _tell(self, code: str, step: Callable[[], None]) -> None:
        await self.session.aio.run(step)


class WorksOnTheLoop(MemoryHooks):
    async def _tell(self, code: str, step: Callable[[], None]) -> None:
        step()


class CallsGuardrailsFailures(MemoryHooks):
    async def failed(self, error: Exception) -> None:
        self.session.run_failed(error)


class OverlooksFailures(MemoryHooks):
    def __init__(self, events: Events, *given: Any) -> None:
        super().__init__(events, *given)
        events.failed = lambda error: None  # type: ignore[method-assign]


class ClosesTheRunAtOnce(MemoryHooks):
    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        self.session.end()


class ForgetsTheUsersHooks(MemoryHooks):
    def __init__(self, events: Events, theirs: Any, config: Any, composer: Any) -> None:
        super().__init__(events, None, config, composer)


class KeepsTheBriefing(AssayRunner):
    def run_sync(self, starting_agent: Any, input: Any, **arguments: Any) -> Any:
        session = self._sessions.of_key(SessionKey(arguments["user"], arguments["session"].session_id))
        text = session.briefing(input).text
        items: list[Any] = [{"role": "user", "content": text}] if text else []
        return super().run_sync(starting_agent, [*items, {"role": "user", "content": input}], **arguments)


class ComposesInsideTheConversation(AssayRunner):
    def run_sync(self, starting_agent: Any, input: Any, **arguments: Any) -> Any:
        result = super().run_sync(starting_agent, input, **arguments)
        session = self._sessions.of_key(SessionKey(arguments["user"], arguments["session"].session_id))

        def compose(prompt: str) -> str:
            return str(Runner.run_sync(starting_agent, prompt, session=arguments["session"]).final_output)

        session.wrap(compose)
        return result

    def _hooked(self, *given: Any, **more: Any) -> MemoryHooks:
        made = super()._hooked(*given, **more)
        made.finished = self._ended(made)  # type: ignore[method-assign]
        return made

    def _ended(self, made: MemoryHooks) -> Callable[[], Any]:
        async def finished() -> None:
            await made.session.aio.end()

        return finished


class ForgetsWhoSpeaks(AssayRunner):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self._sessions.of_run = lambda key: self._sessions.of_key(SessionKey("ada", "s1"))  # type: ignore[method-assign]


class TakesSubAgentsForTheRoot(AssayRunner):
    def __init__(self, target: Any, **options: Any) -> None:
        super().__init__(target, **options)
        self._sessions.caller = lambda user: None  # type: ignore[method-assign]

    def _hooked(self, key: SessionKey, *given: Any, **more: Any) -> MemoryHooks:
        return super()._hooked(SessionKey("ada", "s1", key.agent), *given, **more)


class InstallsItself(AssayRunner):
    def run_sync(self, *given: Any, **arguments: Any) -> Any:
        set_default_agent_runner(AgentRunner())
        return super().run_sync(*given, **arguments)


BROKEN: list[tuple[Binding, Clause]] = [
    (hooked_by(BriefsTwice), AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (hooked_by(HasTheLastWord), AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (hooked_by(OverlooksTools), AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (hooked_by(WordsToolErrors), AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (hooked_by(TakesApologiesForResults), AdapterContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (TakesSubAgentsForTheRoot, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (hooked_by(OverlooksFailures), AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (ComposesInsideTheConversation, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (hooked_by(WorksUnguarded), AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (hooked_by(CallsGuardrailsFailures), AdapterContract.test_c13_the_hosts_own_signals_pass_and_are_no_failures),
    (ForgetsWhoSpeaks, AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross),
    (hooked_by(WorksOnTheLoop), AdapterContract.test_c16_every_entry_gives_the_same),
    (hooked_by(ClosesTheRunAtOnce), AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (InstallsItself, AdapterContract.test_c21_detaching_leaves_nothing),
    (hooked_by(ForgetsTheUsersHooks), AdapterContract.test_c22_the_users_own_hooks_run_as_before),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[Binding], Stage]]:
    made: list[tuple[Stage, OpenAIAgentsHarness]] = []

    def make(binding: Binding) -> Stage:
        harness = OpenAIAgentsHarness(binding)
        stage = Stage(harness, tmp_path / "stage", {})
        made.append((stage, harness))
        return stage

    yield make
    for stage, harness in made:
        stage.close()
        harness.close()
    set_default_agent_runner(None)


@pytest.mark.parametrize(("binding", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(stage_of: Callable[[Binding], Stage], binding: Binding, clause: Clause) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(binding))
