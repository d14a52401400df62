"""C1 to C3 and C9: what a model receives, where it stands, and that the host does not keep it."""

from __future__ import annotations

from assay.session import SessionKey
from assay.testing.harness import Capability
from assay.testing.script import Call, Prompt, Say, Script, Step
from assay.testing.stage import ADA, FACT, FENCE, MANUAL, QUESTION, Stage, block_of

__all__ = ["InjectionClauses"]

LATER = SessionKey("ada", "s2")


def _asked(stage: Stage, *, seed: bool = True, memory: bool = True) -> list[Prompt]:
    """Let a first session tell the fact and a second one ask for it, with a tool round; give the second's prompts."""
    router = stage.memory() if memory else None
    if seed:
        stage.run(FACT, [Say("Noted.")], memory=router)
    steps: list[Step] = [Call("add", {"a": 1, "b": 2}), Say("On Tuesday.")]
    return stage.run(QUESTION, steps, memory=router, key=LATER).prompts


class InjectionClauses:
    """C1, C2, C3, C9."""

    def test_c01_each_model_call_receives_the_briefing_exactly_once(self, stage: Stage) -> None:
        """Calls after a tool round included, and always the same block."""
        prompts = _asked(stage)
        assert len(prompts) == 2, "the scenario has two calls of the model"
        if stage.lacks(Capability.INJECT_EVERY_CALL):
            prompts = prompts[:1]
        blocks = [block_of(prompt) for prompt in prompts]
        assert all(FACT in block for block in blocks)
        assert len(set(blocks)) == 1, "a block that changes within a run defeats the provider's cache"

    def test_c02_recalled_text_is_user_data_before_the_newest_user_message(self, stage: Stage) -> None:
        """The system text is what it is without memory, and an empty memory injects nothing."""
        stage.needs(Capability.DATA_PLACEMENT)
        plain = _asked(stage, memory=False)
        for prompt, bare in zip(_asked(stage), plain, strict=True):
            users = prompt.of("user")
            assert len(users) > 1 and FENCE in users[-2] and users[-1] == QUESTION
            assert prompt.of("system") == bare.of("system")
        nothing = stage.run(QUESTION, [Say("?")], memory=stage.memory("empty")).prompts
        assert nothing[0] == stage.run(QUESTION, [Say("?")], memory=None).prompts[0]

    def test_c03_the_host_keeps_no_copy(self, stage: Stage) -> None:
        """Its history is free of the block, and the second run of the session sees one copy."""
        stage.needs(Capability.UNPERSISTED)
        router = stage.memory()
        stage.run(FACT, [Say("Noted.")], memory=router)
        first = stage.run(QUESTION, [Say("On Tuesday.")], memory=router, key=LATER)
        assert FENCE in first.prompts[0].text
        assert FENCE not in stage.harness.history(first.agent, LATER)
        first.script.extend(Say("Still on Tuesday."))
        stage.harness.run(first.agent, "Are you sure about the billing service?", key=LATER, entry=stage.entry)
        block_of(first.prompts[-1])
        assert FENCE not in stage.harness.history(first.agent, LATER)

    def test_c09_a_new_session_is_briefed_with_what_an_earlier_one_recorded(self, stage: Stage) -> None:
        """With a new agent, a new binding and the store reopened; the fact carries its ref."""
        router = stage.memory()
        stage.run(FACT, [Say("Noted.")], memory=router)
        router.close()
        script = Script(Say("On Tuesday."))
        agent = stage.harness.build(script, memory=stage.memory(), options=MANUAL)
        stage.harness.run(agent, QUESTION, key=LATER, entry=stage.entry)
        told = next(episode for episode in stage.episodes() if episode.content == FACT)
        assert told.session == ADA.session
        line = next(line for line in block_of(script.prompts[0]).split("\n") if FACT in line)
        assert told.ref.startswith(line.split()[1])
