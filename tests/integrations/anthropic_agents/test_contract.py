"""The contract on the Claude Agent SDK, through `query` and its client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from claude_agent_sdk import ResultError

from assay.session import SessionOptions, WrapPolicy
from assay.testing import AdapterContract, Call, Capability, Fail, Harness, Say, Script, deviates
from assay.testing.stage import MANUAL, Line, Stage, lines

from .harness import ClaudeHarness


class TestContract(AdapterContract):
    lacks = {
        Capability.DATA_PLACEMENT: "the host places what a hook adds: as a reminder before the prompt, in the role of the"
        " user, for models of generation 4; behind it, in the role of the system, for later ones",
        Capability.UNPERSISTED: "the host keeps what a hook adds: each line is sent once in a conversation",
        Capability.HANDOFF: "no agent hands its conversation to another: a sub-agent answers to its caller",
        Capability.CONTROL_FLOW: "tools and hooks answer over a protocol: no signal of the host travels as an exception",
    }

    @pytest.fixture
    def harness(self) -> Harness[Any]:
        return ClaudeHarness()

    @deviates("the model is called in another process: its error reaches the caller as the host's own `ResultError`")
    def test_c08_a_failing_run_leaves_what_happened_and_one_failure(self, stage: Stage) -> None:
        for entry in stage.entries:
            name = f"failing-{entry.value}"
            steps = [Call("add", {"a": 1, "b": 2}), Fail(RuntimeError("the provider is down"))]
            bare = stage.run("Add", steps, memory=None, entry=entry)
            options = SessionOptions(wrap=WrapPolicy.each_run())
            ran = stage.run("Add", steps, memory=stage.memory(name), options=options, entry=entry)
            assert isinstance(ran.outcome.error, ResultError)
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
