"""C7, C8 and C17: agents within agents, and runs that do not end well."""

from __future__ import annotations

import pytest

from assay.model.labels import Kind
from assay.session import SessionOptions, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing.composer import honest_document
from assay.testing.harness import Capability
from assay.testing.script import Call, Compose, Fail, HandOff, Say, Script
from assay.testing.stage import ADA, FACT, QUESTION, Line, Stage, block_of, lines

__all__ = ["RunClauses"]

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


class ModelBroke(RuntimeError):
    """What the model raises."""


class RunClauses:
    """C7, C8, C17."""

    def test_c07_a_sub_agent_is_briefed_and_recorded_under_its_name(self, stage: Stage) -> None:
        """Once, and only the root run wraps."""
        stage.needs(Capability.SUBAGENT, Capability.TOOL_EVENTS)
        router = stage.memory()
        stage.run(FACT, [Say("Noted.")], memory=router)
        before = len(stage.episodes())
        script = Script(
            Call("ask_sub", {"question": QUESTION}, "c1"),
            Say("The sub-agent knows."),
            Compose(honest_document),
            sub=[Say("My answer is Tuesday evening.")],
        )
        stage.run("Let the other one find the deploy evening", script, memory=router, sub_agent=True, options=EACH_RUN)
        inner = [prompt for prompt in script.prompts if prompt.agent == "sub"]
        assert len(inner) == 1 and FACT in block_of(inner[0])
        assert [prompt.agent for prompt in script.prompts if prompt.composed] == ["main"]
        added = lines(stage.episodes())[before:]
        assert [line.source for line in added].count("user") == 1
        sources = [episode.source for episode in stage.episodes() if episode.content == "My answer is Tuesday evening."]
        assert sources[0] == "agent:sub"
        assert len(sources) == 1 + sum(line.source == "tool:ask_sub" for line in added)

    def test_c07_a_handoff_is_recorded_once(self, stage: Stage) -> None:
        """Who took over is briefed, and speaks under its own name."""
        stage.needs(Capability.HANDOFF)
        router = stage.memory()
        stage.run(FACT, [Say("Noted.")], memory=router)
        before = len(stage.episodes())
        script = Script(HandOff("sub"), sub=[Say("I have taken over this question.")])
        stage.run(QUESTION, script, memory=router, sub_agent=True)
        assert FACT in block_of(next(prompt for prompt in script.prompts if prompt.agent == "sub"))
        added = stage.episodes()[before:]
        assert [episode.content for episode in added].count(QUESTION) == 1
        handoffs = [episode for episode in added if episode.kind is Kind.CONTEXT and episode.content.endswith("-> sub")]
        assert len(handoffs) == 1 and handoffs[0].origin.value == "host"
        said = [episode.source for episode in added if episode.content == "I have taken over this question."]
        assert said == ["agent:sub"]

    def test_c08_a_failing_run_leaves_what_happened_and_one_failure(self, stage: Stage) -> None:
        """The exception that the caller gets is the one that was raised."""
        stage.needs(Capability.RUN_FAILURE, Capability.TOOL_EVENTS)
        error = ModelBroke("the provider is down")
        ran = stage.run("Add", [Call("add", {"a": 1, "b": 2}), Fail(error)], memory=stage.memory(), options=EACH_RUN)
        assert ran.outcome.error is error
        held = lines(stage.episodes())
        assert [line.text for line in held[:3]] == ["Add", 'add {"a": 1, "b": 2}', "3"]
        text = "run failed: ModelBroke: the provider is down"
        assert held[3:] == [Line("outcome", "host", "tool", "host", text, success=False)]
        assert not [prompt for prompt in ran.script.prompts if prompt.composed], "a failed run does not wrap"

    def test_c08_a_tool_error_that_ends_the_run_is_one_failure(self, stage: Stage) -> None:
        """Not one as the tool's and another as the run's."""
        stage.needs(Capability.RUN_FAILURE, Capability.TOOL_ERROR_FLAG, Capability.TOOL_EVENTS)
        stage.run("Break it", [Call("boom", {"x": "z"}), Say("It broke.")], memory=stage.memory())
        assert [line.success for line in lines(stage.episodes())].count(False) == 1

    def test_c17_an_abandoned_stream_is_no_end_of_a_run(self, stage: Stage) -> None:
        """No failure, no wrap; the run is wrapped later, with the next one."""
        streams = [entry for entry in stage.entries if entry.streams]
        if not streams:
            pytest.skip("this host does not stream")
        for entry in streams:
            name = f"abandon-{entry.value}"
            router = stage.memory(name)
            script = Script(Say("A long answer in many pieces that nobody waits for"))
            agent = stage.harness.build(script, memory=router, options=EACH_RUN)
            taken = stage.harness.abandon(agent, FACT, key=ADA, entry=entry)
            bare_agent = stage.harness.build(
                Script(Say("A long answer in many pieces that nobody waits for")), memory=None
            )
            bare = stage.harness.abandon(bare_agent, FACT, key=ADA, entry=entry)
            assert taken.same_as(bare)
            held = stage.episodes(name)
            assert held[0].content == FACT
            assert not [episode for episode in held if episode.kind is Kind.OUTCOME]
            with stage.store(name) as store, database_of(store).read() as reader:
                assert find_open_run(reader, str(ADA.session), None), "the run was closed as if it had ended"
                assert store.status().wraps == 0
            script.extend(Say("Yes."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
            stage.harness.run(agent, "Are you there?", key=ADA, entry=stage.entry)
            with stage.store(name) as store:
                assert FACT in store.continuity.text()
