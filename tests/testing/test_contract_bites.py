"""A contract that cannot fail proves nothing: each broken binding turns the clause red that names its fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import Trust
from assay.session import RecordPolicy, Session, SessionKey, SessionOptions, StoreRouter
from assay.testing import AdapterContract, Call, Capability, PlainHarness, deviates
from assay.testing.plain import PlainMemory
from assay.testing.plain.harness import Built
from assay.testing.plain.host import Hooks, PlainAgent, Run, StopRun
from assay.testing.stage import Stage

Message = tuple[str, str]


class DropsAnEpisode(PlainMemory):
    def on_tool_end(self, run: Run, call: Call, result: object) -> None:
        pass


class DoublesAnEpisode(PlainMemory):
    def after_model(self, run: Run, text: str) -> None:
        super().after_model(run, text)
        super().after_model(run, text)


class Reorders(PlainMemory):
    def on_tool(self, run: Run, call: Call) -> None:
        pass

    def on_tool_end(self, run: Run, call: Call, result: object) -> None:
        super().on_tool_end(run, call, result)
        super().on_tool(run, call)


class TrustsTools(PlainMemory):
    def __init__(self, target: StoreRouter, *, options: SessionOptions | None = None) -> None:
        trusting = RecordPolicy(tool_trust={"add": Trust.AGENT, "look_up": Trust.AGENT})
        super().__init__(target, options=SessionOptions(trusting, (options or SessionOptions()).wrap))


class SwallowsToolErrors(PlainMemory):
    def on_tool_error(self, run: Run, call: Call, error: BaseException) -> None:
        pass


class _AroundTools(PlainMemory):
    """A binding that stands around the host's tools, as some hosts' hooks do."""

    def attach(self, agent: PlainAgent) -> None:
        super().attach(agent)
        inner = agent.script.tools

        def tools() -> tuple[Callable[..., object], ...]:
            return tuple(self.around(tool) for tool in inner())

        agent.script.tools = tools  # type: ignore[method-assign]

    def around(self, tool: Callable[..., object]) -> Callable[..., object]:
        raise NotImplementedError


class SwallowsControlFlow(_AroundTools):
    def around(self, tool: Callable[..., object]) -> Callable[..., object]:
        def call(**arguments: Any) -> object:
            try:
                return tool(**arguments)
            except StopRun:
                return "stopped"

        call.__name__ = tool.__name__
        return call


class CallsSignalsFailures(_AroundTools):
    def around(self, tool: Callable[..., object]) -> Callable[..., object]:
        def call(**arguments: Any) -> object:
            try:
                return tool(**arguments)
            except StopRun as signal:
                assert self._agent is not None
                self.router.session(SessionKey("ada", "s1")).tool_error(tool.__name__, signal, call_id="c1")
                raise

        call.__name__ = tool.__name__
        return call


class RaisesIntoTheHost(PlainMemory):
    def on_tool(self, run: Run, call: Call) -> None:
        session = self.session(run)
        assert session is not None
        session.tool_call(call.name, call.args, call_id=call.id)


class InjectsTwice(PlainMemory):
    def placed(self, messages: list[Message], block: str, asked: str) -> list[Message]:
        once = super().placed(messages, block, asked)
        return super().placed(once, block, asked)


class InjectsAsSystem(PlainMemory):
    def placed(self, messages: list[Message], block: str, asked: str) -> list[Message]:
        return [("system", block), *messages] if block else messages


class PersistsTheInjection(PlainMemory):
    def before_model(self, run: Run, messages: list[Message]) -> list[Message]:
        placed = super().before_model(run, messages)
        assert self._agent is not None
        self._agent.threads[run.key][:] = placed[1:]
        return placed


class RecordsTheWrap(PlainMemory):
    def compose(self, prompt: str) -> str:
        text = super().compose(prompt)
        assert self._agent is not None
        self.router.session(SessionKey("ada", "another")).agent_message(text)
        return text


class LeaksTheWrap(PlainMemory):
    def compose(self, prompt: str) -> str:
        text = super().compose(prompt)
        assert self._agent is not None
        self._agent.events.append(text)
        return text


class BriefsTheWrap(PlainMemory):
    def compose(self, prompt: str) -> str:
        assert self._agent is not None
        session = self.router.session(SessionKey("ada", "another"))
        session.user_message("Which billing service?")
        return super().compose(f"{session.briefing().text}\n{prompt}")


class OneStoreForAll(PlainMemory):
    def session(self, run: Run) -> Session | None:
        return super().session(Run(run.id, SessionKey("ada", run.key.session), run.agent, run.nested))


class IgnoresTheUsersHooks(PlainMemory):
    def attach(self, agent: PlainAgent) -> None:
        agent.hooks.clear()
        super().attach(agent)


class ForgetsToUninstall(PlainHarness):
    def detach(self, agent: Built) -> None:
        pass


class WritesOnTheLoop(PlainMemory):
    async def aon(self, hook: str, *arguments: object) -> object:
        return await Hooks.aon(self, hook, *arguments)


class ForgetsTheUser(PlainMemory):
    """Falls back to a shared store when no user is given."""

    def session(self, run: Run) -> Session | None:
        key = SessionKey(run.key.user or "everybody", run.key.session)
        return super().session(Run(run.id, key, run.agent, run.nested))


class EndsAbandonedRuns(PlainMemory):
    def after_model(self, run: Run, text: str) -> None:
        super().after_model(run, text)
        super().on_end(run, text)


class NeverWraps(PlainMemory):
    def on_end(self, run: Run, output: str) -> None:
        self._tell(run, "run_ended", lambda session: session.run_ended(output))


class ForgetsTheFailure(PlainMemory):
    def on_error(self, run: Run, error: BaseException) -> None:
        pass


class RecordsTheSubAgentAsItself(PlainMemory):
    def session(self, run: Run) -> Session | None:
        return super().session(Run(run.id.removesuffix("-sub"), run.key))


class SpeaksForEveryTool(PlainMemory):
    """Records what its own recall gave as if a tool of the host had said it, without its marks."""

    def before_model(self, run: Run, messages: list[Message]) -> list[Message]:
        placed = super().before_model(run, messages)
        if placed is not messages:
            self._tell(run, "tool_result", lambda session: session.tool_result("memory", "found", call_id=run.id))
        return placed


def bound(binding: type[PlainMemory]) -> Callable[[], PlainHarness]:
    return lambda: PlainHarness(binding)


BITES: list[tuple[str, Callable[[], PlainHarness]]] = [
    ("test_c04_the_episodes_are_those_of_the_table", bound(DropsAnEpisode)),
    ("test_c04_the_episodes_are_those_of_the_table", bound(DoublesAnEpisode)),
    ("test_c04_the_episodes_are_those_of_the_table", bound(Reorders)),
    ("test_c04_the_episodes_are_those_of_the_table", bound(TrustsTools)),
    ("test_c05_a_tool_error_is_flagged_and_changes_nothing", bound(SwallowsToolErrors)),
    ("test_c13_the_hosts_own_signals_pass_and_are_no_failures", bound(SwallowsControlFlow)),
    ("test_c13_the_hosts_own_signals_pass_and_are_no_failures", bound(CallsSignalsFailures)),
    ("test_c12_a_fault_in_any_verb_changes_nothing", bound(RaisesIntoTheHost)),
    ("test_c01_each_model_call_receives_the_briefing_exactly_once", bound(InjectsTwice)),
    ("test_c02_recalled_text_is_user_data_before_the_newest_user_message", bound(InjectsAsSystem)),
    ("test_c03_the_host_keeps_no_copy", bound(PersistsTheInjection)),
    ("test_c11_a_wrap_leaves_no_trace", bound(RecordsTheWrap)),
    ("test_c11_a_wrap_leaves_no_trace", bound(LeaksTheWrap)),
    ("test_c11_a_wrap_leaves_no_trace", bound(BriefsTheWrap)),
    ("test_c14_interleaved_runs_of_one_adapter_do_not_cross", bound(OneStoreForAll)),
    ("test_c15_users_stay_apart", bound(OneStoreForAll)),
    ("test_c15_without_a_user_nothing_is_shared", bound(ForgetsTheUser)),
    ("test_c22_the_users_own_hooks_run_as_before", bound(IgnoresTheUsersHooks)),
    ("test_c21_detaching_leaves_nothing", ForgetsToUninstall),
    ("test_c16_every_entry_gives_the_same", bound(WritesOnTheLoop)),
    ("test_c17_an_abandoned_stream_is_no_end_of_a_run", bound(EndsAbandonedRuns)),
    ("test_c10_the_agents_own_model_composes_and_good_text_commits", bound(NeverWraps)),
    ("test_c10_forged_citations_change_nothing", bound(NeverWraps)),
    ("test_c08_a_failing_run_leaves_what_happened_and_one_failure", bound(ForgetsTheFailure)),
    ("test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name", bound(RecordsTheSubAgentAsItself)),
    ("test_c18_what_was_injected_is_not_recorded_again", bound(SpeaksForEveryTool)),
]


class Contract(AdapterContract):
    """The contract as it stands, to call one clause of it."""


@pytest.fixture
def stages(tmp_path: Path) -> Iterator[Callable[[PlainHarness], Stage]]:
    made: list[Stage] = []

    def make(harness: PlainHarness) -> Stage:
        made.append(Stage(harness, tmp_path / "stage", {}))
        return made[-1]

    yield make
    for stage in made:
        stage.close()


@pytest.mark.parametrize(("clause", "harness"), BITES, ids=lambda value: getattr(value, "__name__", None))
def test_a_broken_binding_turns_its_clause_red(
    clause: str,
    harness: Callable[[], PlainHarness],
    stages: Callable[[PlainHarness], Stage],
    request: pytest.FixtureRequest,
) -> None:
    arguments: dict[str, object] = {"stage": stages(harness())}
    test = getattr(Contract(), clause)
    for name in ("caplog", "tmp_path"):
        if name in test.__func__.__code__.co_varnames[: test.__func__.__code__.co_argcount]:
            arguments[name] = request.getfixturevalue(name)
    with pytest.raises((AssertionError, ValueError, StopIteration, IndexError)):
        test(**arguments)


def test_every_clause_of_the_port_is_bitten_by_some_fault() -> None:
    """C6, C9, C19, C20, C23 to C27 hold by the port or the house, whatever a binding does with its hooks."""
    bitten = {clause[5:8] for clause, _ in BITES}
    assert {f"c{number:02}" for number in range(1, 23)} - bitten == {"c06", "c09", "c19", "c20"}


def test_a_clause_is_replaced_only_with_its_reason() -> None:
    with pytest.raises(TypeError, match="replaces a clause"):

        class Silent(AdapterContract):
            def test_c01_each_model_call_receives_the_briefing_exactly_once(self, stage: Stage) -> None:
                """Claim nothing."""

    class Honest(AdapterContract):
        @deviates("this host shows its prompt to nobody")
        def test_c01_each_model_call_receives_the_briefing_exactly_once(self, stage: Stage) -> None:
            """Claim something else."""

    assert issubclass(Honest, AdapterContract)
    with pytest.raises(TypeError, match="reason"):
        deviates(" ")


def test_what_a_host_lacks_needs_its_reason() -> None:
    with pytest.raises(TypeError, match="handoff needs its reason"):

        class Lazy(AdapterContract):
            lacks = {Capability.HANDOFF: ""}  # noqa: RUF012


def test_a_lacking_capability_skips_with_its_reason(tmp_path: Path) -> None:
    stage = Stage(PlainHarness(), tmp_path, {Capability.RESUME: "runs cannot wait in this host"})
    with pytest.raises(pytest.skip.Exception, match="resume: runs cannot wait in this host"):
        stage.needs(Capability.RESUME)
