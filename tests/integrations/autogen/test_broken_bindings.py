"""A binding that breaks a rule of AutoGen or of the port turns the clause red that speaks of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core.models import AssistantMessage, FunctionExecutionResultMessage, SystemMessage, UserMessage

from assay.session import StoreRouter, guard
from assay.testing import AdapterContract
from assay.testing.stage import Stage
from assay_integrations.autogen.agentchat import events, session
from assay_integrations.autogen.agentchat.context import TalkContext
from assay_integrations.autogen.agentchat.items import messages_of, words
from assay_integrations.autogen.agentchat.place import ClientTalk
from assay_integrations.autogen.agentchat.running import SessionMemory

from .harness import AutoGenHarness
from .test_contract import TestContract as OwnContract

Clause = Callable[[Any, Stage], None]
CONTRACT = AdapterContract()


class OverlooksTools(TalkContext):
    def _heard(self, message: Any) -> Any:
        return None if isinstance(message, FunctionExecutionResultMessage) else super()._heard(message)


class HearsTheModelTwice(TalkContext):
    async def add_message(self, message: Any) -> None:
        await super().add_message(message)
        if isinstance(message, AssistantMessage) and isinstance(message.content, str):
            self._talk.session.named(message.source).agent_message(message.content)


class CallsErrorsResults(TalkContext):
    def _heard(self, message: Any) -> Any:
        if isinstance(message, FunctionExecutionResultMessage):
            results = [one.model_copy(update={"is_error": False}) for one in message.content]
            message = message.model_copy(update={"content": results})
        return super()._heard(message)


class HidesErrorsFromTheModel(TalkContext):
    async def get_messages(self) -> Any:
        messages = await super().get_messages()
        failed = [
            one for one in messages if isinstance(one, FunctionExecutionResultMessage) and one.content[0].is_error
        ]
        return [one for one in messages if one not in failed]


class TakesEveryAgentForThePerson(TalkContext):
    def _heard(self, message: Any) -> Any:
        if isinstance(message, UserMessage):
            return lambda: self._talk.session.user_message(words(message))
        return super()._heard(message)


class BriefsTwice(TalkContext):
    async def get_messages(self) -> Any:
        messages = await super().get_messages()
        return [*[one for one in messages if "<memory-" in str(one.content)], *messages]


class BriefsInTheSystemText(TalkContext):
    async def get_messages(self) -> Any:
        messages = await super().get_messages()
        ours = [SystemMessage(content=str(one.content)) for one in messages if "<memory-" in str(one.content)]
        return [*ours, *messages]


class KeepsTheBriefing(TalkContext):
    async def get_messages(self) -> Any:
        messages = await super().get_messages()
        for one in messages:
            if "<memory-" in str(one.content):
                await self._inner.add_message(one)
        return messages


class TouchesTheDiskOnTheLoop(TalkContext):
    async def get_messages(self) -> Any:
        self._talk.session.briefing()
        return await super().get_messages()


class WorksUnguarded(TalkContext):
    async def get_messages(self) -> Any:
        await self._talk.session.aio.briefing()
        return await super().get_messages()


class DropsTheUsersContext(TalkContext):
    def __init__(self, talk: ClientTalk, inner: Any) -> None:
        super().__init__(talk, None)


class OverlooksFailures(SessionMemory):
    async def run_stream(self, runner: Any, *, task: Any = None, **given: Any) -> AsyncGenerator[Any, None]:
        self._talk.watched += 1
        self._talk.session.run_started()
        for message in messages_of(task):
            events.asked(self._talk.session, message)
        async for seen in runner.run_stream(task=task, **given):
            yield seen
        self._talk.watched -= 1


class MakesAnAnswerOfFailures(SessionMemory):
    async def run_stream(self, runner: Any, *, task: Any = None, **given: Any) -> AsyncGenerator[Any, None]:
        with guard(self._talk.session, "run"):
            async for seen in super().run_stream(runner, task=task, **given):
                yield seen
            return
        yield TaskResult(messages=[TextMessage(content="", source="main")])


class EndsAbandonedRuns(SessionMemory):
    async def run_stream(self, runner: Any, *, task: Any = None, **given: Any) -> AsyncGenerator[Any, None]:
        try:
            async for seen in super().run_stream(runner, task=task, **given):
                yield seen
        finally:
            self._talk.session.run_ended(None)


class CallsCancellationAFailure(SessionMemory):
    async def run_stream(self, runner: Any, *, task: Any = None, **given: Any) -> AsyncGenerator[Any, None]:
        try:
            async for seen in super().run_stream(runner, task=task, **given):
                yield seen
        except BaseException as error:
            self._talk.session.run_failed(RuntimeError(str(error)))
            raise


class ComposesInTheStream(SessionMemory):
    async def _end(self, result: TaskResult) -> None:
        await super()._end(result)
        with self._talk.session.store() as store:
            result.messages = [*result.messages, TextMessage(content=store.continuity.text(), source="main")]


class RecordsTheWrap(SessionMemory):
    async def _end(self, result: TaskResult) -> None:
        await super()._end(result)
        with self._talk.session.store() as store:
            if text := store.continuity.text():
                store.record(text)


class HearsInnerTasksAsThePersons(SessionMemory):
    async def _overhear(self, message: Any) -> None:
        if isinstance(message, BaseChatMessage):
            events.asked(self._talk.session, message.model_copy(update={"id": f"{message.id}-again"}))


def _binding(context: type[TalkContext], memory: type[SessionMemory]) -> Any:
    """Open a conversation as `session` does, with parts that do it wrong."""

    class Memory(memory):  # type: ignore[misc, valid-type]
        def context(self, inner: Any = None) -> TalkContext:
            return context(self._talk, inner)

    @contextmanager
    def opened(target: StoreRouter, **given: Any) -> Generator[SessionMemory]:
        with session(target, **given) as right:
            yield Memory(right._talk)

    return opened


@contextmanager
def forgets_who_speaks(target: StoreRouter, *, user: Any, **given: Any) -> Generator[SessionMemory]:
    with session(target, user="ada", **given) as memory:
        yield memory


Part = type[TalkContext] | type[SessionMemory]
BROKEN: list[tuple[Part, Clause]] = [
    (OverlooksTools, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (HearsTheModelTwice, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
    (CallsErrorsResults, OwnContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (HidesErrorsFromTheModel, OwnContract.test_c05_a_tool_error_is_flagged_and_changes_nothing),
    (TakesEveryAgentForThePerson, AdapterContract.test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name),
    (BriefsTwice, AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once),
    (BriefsInTheSystemText, AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message),
    (KeepsTheBriefing, AdapterContract.test_c03_the_host_keeps_no_copy),
    (TouchesTheDiskOnTheLoop, AdapterContract.test_c16_every_entry_gives_the_same),
    (WorksUnguarded, AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing),
    (DropsTheUsersContext, AdapterContract.test_c22_the_users_own_hooks_run_as_before),
    (OverlooksFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (MakesAnAnswerOfFailures, AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure),
    (EndsAbandonedRuns, AdapterContract.test_c17_an_abandoned_stream_is_no_end_of_a_run),
    (CallsCancellationAFailure, AdapterContract.test_c13_cancellation_and_interrupts_pass_and_are_no_failures),
    (ComposesInTheStream, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (RecordsTheWrap, AdapterContract.test_c11_a_wrap_leaves_no_trace),
    (HearsInnerTasksAsThePersons, AdapterContract.test_c04_the_episodes_are_those_of_the_table),
]


@pytest.fixture
def stage_of(tmp_path: Path) -> Iterator[Callable[[Any], Stage]]:
    stages: list[Stage] = []

    def make(binding: Any) -> Stage:
        stages.append(Stage(AutoGenHarness(binding), tmp_path / "stage", {}))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("part", "clause"), BROKEN, ids=lambda given: given.__name__)
def test_a_broken_binding_is_seen(stage_of: Callable[[Any], Stage], part: Any, clause: Clause) -> None:
    context, memory = (part, SessionMemory) if issubclass(part, TalkContext) else (TalkContext, part)
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of(_binding(context, memory)))


def test_a_binding_that_forgets_who_speaks_is_seen(stage_of: Callable[[Any], Stage]) -> None:
    with pytest.raises(AssertionError):
        CONTRACT.test_c15_users_stay_apart(stage_of(forgets_who_speaks))


def test_the_right_parts_put_together_this_way_are_right(stage_of: Callable[[Any], Stage]) -> None:
    CONTRACT.test_c04_the_episodes_are_those_of_the_table(stage_of(_binding(TalkContext, SessionMemory)))
