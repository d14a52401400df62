"""C4 to C6: every host yields the same episodes, to the row."""

from __future__ import annotations

from assay.model.labels import Trust
from assay.session import RecordPolicy, SessionOptions, WrapPolicy
from assay.testing.harness import Capability
from assay.testing.script import Call, Say, Script, Step
from assay.testing.stage import ADA, Line, Stage, lines

__all__ = ["RecordingClauses"]

ADD = 'add {"a": 1, "b": 2}'


class RecordingClauses:
    """C4, C5, C6."""

    def test_c04_the_episodes_are_those_of_the_table(self, stage: Stage) -> None:
        """Kind, origin, trust, source, order and lineage; equal texts are recorded each time they are said."""
        stage.needs(Capability.TOOL_EVENTS)
        steps: list[Step] = [
            Call("add", {"a": 1, "b": 2}, "c1"),
            Call("look_up", {"name": "plan"}, "c2"),
            Say("It is three."),
        ]
        script = Script(*steps, documents={"plan": "The plan has two phases."})
        ran = stage.run("What is one and two?", script, memory=stage.memory())
        script.extend(Say("Yes."))
        stage.harness.run(ran.agent, "yes", key=ADA, entry=stage.entry)
        script.extend(Say("Yes again."))
        stage.harness.run(ran.agent, "yes", key=ADA, entry=stage.entry)
        assert lines(stage.episodes()) == [
            Line("observation", "user", "agent", "user", "What is one and two?"),
            Line("context", "agent", "agent", "agent", ADD),
            Line("observation", "tool", "tool", "tool:add", "3", derived=(2,)),
            Line("context", "agent", "agent", "agent", 'look_up {"name": "plan"}'),
            Line("observation", "tool", "tool", "tool:look_up", "The plan has two phases.", derived=(4,)),
            Line("observation", "agent", "agent", "agent", "It is three."),
            Line("observation", "user", "agent", "user", "yes"),
            Line("observation", "agent", "agent", "agent", "Yes."),
            Line("observation", "user", "agent", "user", "yes"),
            Line("observation", "agent", "agent", "agent", "Yes again."),
        ]
        assert {episode.session for episode in stage.episodes()} == {ADA.session}
        assert len({episode.run for episode in stage.episodes()}) == 3

    def test_c04_what_follows_an_external_read_inherits_its_trust(self, stage: Stage) -> None:
        """The model's words after it are derived from it; the tool's label is the host's choice."""
        stage.needs(Capability.TOOL_EVENTS)
        record = RecordPolicy(tool_trust={"look_up": Trust.EXTERNAL})
        script = Script(Call("look_up", {"name": "page"}), Say("It says so."), documents={"page": "A page says so."})
        stage.run("Read the page", script, memory=stage.memory(), options=SessionOptions(record, WrapPolicy.manual()))
        user, call, page, said = stage.episodes()
        assert page.trust is Trust.EXTERNAL and page.derived_from == (call.ref,)
        assert said.derived_from == (page.ref,)
        assert (said.trust, said.effective_trust) == (Trust.AGENT, Trust.EXTERNAL)
        assert user.effective_trust is call.effective_trust is Trust.AGENT

    def test_c05_a_tool_error_is_flagged_and_changes_nothing(self, stage: Stage) -> None:
        """It is named, linked to its call, and what the host does about it is what it does without memory."""
        stage.needs(Capability.TOOL_EVENTS, Capability.TOOL_ERROR_FLAG)
        steps: list[Step] = [Call("boom", {"x": "y"}, "c1"), Say("It broke.")]
        bare = stage.run("Break it", steps, memory=None)
        ran = stage.run("Break it", steps, memory=stage.memory())
        assert ran.outcome.same_as(bare.outcome)
        if bare.outcome.error is bare.script.raised[0]:
            assert ran.outcome.error is ran.script.raised[0]
        assert [prompt.text for prompt in ran.prompts] == [prompt.text for prompt in bare.prompts]
        failures = [line for line in lines(stage.episodes()) if line.success is False]
        assert failures == [
            Line("outcome", "host", "tool", "tool:boom", "boom failed: ToolBroke: boom-y", success=False, derived=(2,))
        ]

    def test_c06_a_reused_call_id_is_not_merged_when_the_call_is_another(self, stage: Stage) -> None:
        """Some providers begin every turn with the same id."""
        stage.needs(Capability.TOOL_EVENTS)
        steps: list[Step] = [
            Call("add", {"a": 1, "b": 2}, "c0"),
            Call("add", {"a": 3, "b": 4}, "c0"),
            Say("Three and seven."),
        ]
        stage.run("Add twice", steps, memory=stage.memory())
        assert [line.text for line in lines(stage.episodes()) if line.source == "tool:add"] == ["3", "7"]
        assert [line.derived for line in lines(stage.episodes()) if line.source == "tool:add"] == [(2,), (4,)]

    def test_c06_a_repeated_call_is_recorded_once(self, stage: Stage) -> None:
        """Equal id and equal arguments, as after a retry of the host, are one call with one result."""
        stage.needs(Capability.TOOL_EVENTS, Capability.CALL_IDS)
        steps: list[Step] = [Call("add", {"a": 1, "b": 2}, "c0"), Call("add", {"a": 1, "b": 2}, "c0"), Say("Three.")]
        stage.run("Add", steps, memory=stage.memory())
        assert [line.text for line in lines(stage.episodes())] == ["Add", ADD, "3", "Three."]

    def test_c06_a_resumed_run_records_its_interrupted_tool_once(self, stage: Stage) -> None:
        """The run goes on where it stood, is no second run, and the wait was no failure."""
        stage.needs(Capability.RESUME, Capability.TOOL_EVENTS)
        steps: list[Step] = [Call("approve", {"question": "Deploy?"}, "c7"), Say("Deployed.")]
        ran = stage.run("Deploy it", steps, memory=stage.memory())
        assert ran.outcome.interrupted
        resumed = stage.harness.resume(ran.agent, "yes", key=ADA)
        assert resumed.result == "Deployed."
        assert [(line.source, line.text) for line in lines(stage.episodes())] == [
            ("user", "Deploy it"),
            ("agent", 'approve {"question": "Deploy?"}'),
            ("tool:approve", "yes"),
            ("agent", "Deployed."),
        ]
        assert len({episode.run for episode in stage.episodes()}) == 1
