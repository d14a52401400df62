"""The contract on the Claude Agent SDK, through `query` and its client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from types import NoneType
from typing import Any, ClassVar

import pytest
from claude_agent_sdk import ResultError

from assay.session import SessionKey, SessionOptions, WrapPolicy
from assay.testing import AdapterContract, Call, Capability, Entry, Fail, Harness, Say, Script, deviates
from assay.testing.script import Step
from assay.testing.stage import FACT, MANUAL, QUESTION, Line, Stage, block_of, lines
from assay_integrations.anthropic_agents import AssaySDKClient

from .command_line import CommandLine, Machine
from .harness import ClaudeHarness


class TestContract(AdapterContract):
    lacks: ClassVar[Mapping[Capability, str]] = {
        Capability.DATA_PLACEMENT: "the host places what a hook adds: as a reminder before the prompt, in the role of"
        " the user, for models of generation 4; behind it, in the role of the system, for later ones",
        Capability.UNPERSISTED: "the host keeps what a hook adds: each line is sent once in a conversation",
        Capability.HANDOFF: "no agent hands its conversation to another: a sub-agent answers to its caller",
        Capability.CONTROL_FLOW: "tools and hooks answer over a protocol: no signal of the host is an exception",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return ClaudeHarness()

    @deviates("the host places what a hook adds; here as it does for models of generation 4")
    def test_c02_recalled_text_is_user_data_before_the_newest_user_message(self, stage: Stage) -> None:
        later = SessionKey("ada", "s2")
        stage.run(FACT, [Say("Noted.")], memory=stage.memory())
        for entry in stage.entries:
            (bare,) = stage.run(QUESTION, [Say("?")], memory=None, key=later, entry=entry).prompts
            (asked,) = stage.run(QUESTION, [Say("?")], memory=stage.memory(), key=later, entry=entry).prompts
            (nothing,) = stage.run(QUESTION, [Say("?")], memory=stage.memory(f"empty-{entry}"), entry=entry).prompts
            reminder, question = asked.of("user")
            assert block_of(asked) in reminder and question == QUESTION
            assert asked.of("system") == bare.of("system")
            assert nothing == bare

    @deviates("the host keeps what a hook adds in its transcript: so no line of it is added a second time")
    def test_c03_the_host_keeps_no_copy(self, stage: Stage) -> None:
        later = SessionKey("ada", "s2")
        router = stage.memory()
        stage.run(FACT, [Say("Noted.")], memory=router)
        first = stage.run(QUESTION, [Say("On Tuesday.")], memory=router, key=later)
        assert stage.harness.history(first.agent, later).count(block_of(first.prompts[0])) == 1

        async def twice() -> None:
            made = partial(CommandLine, Machine(script), session="s3")
            async with AssaySDKClient(router, None, made, user="ada", memory_options=MANUAL) as client:
                for text in (QUESTION, "Are you sure about the billing service?"):
                    await client.query(text)
                    assert [message async for message in client.receive_response()]

        script = Script(Say("On Tuesday."), Say("Still on Tuesday."))
        asyncio.run(twice())
        assert script.prompts[-1].text.count(FACT) == 1

    @deviates("the model is called in another process: its error reaches the caller as the host's own `ResultError`")
    def test_c08_a_failing_run_leaves_what_happened_and_one_failure(self, stage: Stage) -> None:
        for entry in stage.entries:
            name = f"failing-{entry.value}"
            steps: list[Step] = [Call("add", {"a": 1, "b": 2}), Fail(RuntimeError("the provider is down"))]
            bare = stage.run("Add", steps, memory=None, entry=entry)
            options = SessionOptions(wrap=WrapPolicy.each_run())
            ran = stage.run("Add", steps, memory=stage.memory(name), options=options, entry=entry)
            # The client ends a response with a result that says so, before the host raises.
            assert isinstance(ran.outcome.error, ResultError if entry is Entry.ASYNC else NoneType)
            assert ran.outcome.result is None
            assert ran.outcome.same_as(bare.outcome)
            held = lines(stage.episodes(name))
            assert [line.text for line in held[:3]] == ["Add", 'add {"a": 1, "b": 2}', "3"]
            text = "run failed: ResultError: API Error: 400 the provider is down"
            assert held[3:] == [Line("outcome", "host", "tool", "host", text, success=False)]
            assert not [prompt for prompt in ran.script.prompts if prompt.composed], "a failed run does not wrap"

    @deviates("a tool that raises CancelledError ends the host's tool server, which tells hooks of a tool that failed")
    def test_c13_cancellation_and_interrupts_pass_and_are_no_failures(self, stage: Stage) -> None:
        def cancel() -> None:
            raise asyncio.CancelledError

        for entry in stage.entries:
            name = f"cancelled-{entry.value}"
            steps = (Call("signal", {}, "c1"), Say("Went on."))
            bare = stage.run("Do it", Script(*steps, signal=cancel), memory=None, entry=entry)
            memory = stage.memory(name)
            ran = stage.run("Do it", Script(*steps, signal=cancel), memory=memory, entry=entry, options=MANUAL)
            assert ran.outcome.same_as(bare.outcome)
            failures = [line.source for line in lines(stage.episodes(name)) if line.success is False]
            assert failures == ["tool:signal"], "the run itself has not failed"
