"""The contract on the OpenAI Agents SDK, through its own runner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from agents import ModelBehaviorError, ToolErrorFormatterArgs

from assay.testing import AdapterContract, Call, Capability, Harness, Say, deviates
from assay.testing.script import Step
from assay.testing.stage import Stage, lines

from .harness import OpenAIAgentsHarness

TELLS_ERRORS = "error" in {part.name for part in fields(ToolErrorFormatterArgs)}


class TestContract(AdapterContract):
    lacks = (
        {}
        if TELLS_ERRORS
        else {Capability.TOOL_ERROR_FLAG: "before 0.24 a tool that fails only gives an apology, as any result"}
    )

    @pytest.fixture
    def harness(self) -> Iterator[Harness[Any]]:
        harness = OpenAIAgentsHarness()
        yield harness
        harness.close()

    @deviates("the host refuses a call id that comes again with other arguments: the run fails, with memory or without")
    def test_c06_a_reused_call_id_is_not_merged_when_the_call_is_another(self, stage: Stage) -> None:
        steps: list[Step] = [
            Call("add", {"a": 1, "b": 2}, "c0"),
            Call("add", {"a": 3, "b": 4}, "c0"),
            Say("Three and seven."),
        ]
        bare = stage.run("Add twice", steps, memory=None)
        ran = stage.run("Add twice", steps, memory=stage.memory())
        assert isinstance(ran.outcome.error, ModelBehaviorError)
        assert ran.outcome.same_as(bare.outcome)
        held = lines(stage.episodes())
        assert [line.text for line in held if line.source == "tool:add"] == ["3"]
        assert [line.source for line in held if line.success is False] == ["host"]
