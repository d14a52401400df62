"""C10 and C11: the agent's own model consolidates, under the gate, and leaves no trace in the host."""

from __future__ import annotations

from assay.session import SessionOptions, WrapPolicy
from assay.testing.composer import forged_document, honest_document
from assay.testing.harness import Capability
from assay.testing.script import Compose, Say, Script
from assay.testing.stage import ADA, FACT, MANUAL, Stage

__all__ = ["WrapClauses"]

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
MARK = "Zanzibar-9321"


def _marked(prompt: str) -> str:
    return honest_document(prompt, about=FACT).replace("- nothing new", f"- {MARK} is nothing new")


class WrapClauses:
    """C10, C11."""

    def test_c10_the_agents_own_model_composes_and_good_text_commits(self, stage: Stage) -> None:
        """In every way in which the host runs an agent."""
        for entry in stage.entries:
            name = f"wrap-{entry.value}"
            script = Script(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
            ran = stage.run(FACT, script, memory=stage.memory(name), options=EACH_RUN, entry=entry)
            assert ran.outcome.result == "Noted."
            assert [prompt.composed for prompt in script.prompts] == [False, True]
            with stage.store(name) as store:
                assert store.continuity.version() == 1
                assert [(belief.name, belief.level) for belief in store.beliefs.list()] == [("learned_fact", 1)]

    def test_c10_forged_citations_change_nothing(self, stage: Stage) -> None:
        """The gate answers with findings, and no belief is above what was earned."""
        script = Script(Say("Noted."), *[Compose(forged_document)] * 3)
        ran = stage.run(FACT, script, memory=stage.memory(), options=EACH_RUN)
        assert ran.outcome.result == "Noted."
        composed = [prompt for prompt in script.prompts if prompt.composed]
        assert len(composed) > 1, "the findings went back to the model"
        assert "ep_zzzzzzzz" in composed[1].text
        with stage.store() as store:
            assert [belief.name for belief in store.beliefs.list() if belief.level > 1] == []

    def test_c11_a_wrap_leaves_no_trace(self, stage: Stage) -> None:
        """Not in episodes, stream, events, result or history; and its own prompt was not briefed."""
        for entry in stage.entries:
            name = f"trace-{entry.value}"
            router = stage.memory(name)
            stage.run(FACT, [Say("Noted.")], memory=router, options=MANUAL, entry=entry)
            script = Script(Say("I see."), Compose(_marked))
            ran = stage.run("Go on", script, memory=router, options=EACH_RUN, entry=entry)
            with stage.store(name) as store:
                assert MARK in store.continuity.text(), "the scenario wraps"
            outcome = ran.outcome
            assert outcome.result == "I see."
            shown = [*outcome.chunks, outcome.seen, stage.harness.history(ran.agent, ADA)]
            assert not [text for text in shown if MARK in text]
            assert [episode.content for episode in stage.episodes(name)] == [FACT, "Noted.", "Go on", "I see."]
            wrap = next(prompt for prompt in script.prompts if prompt.composed)
            assert wrap.text.count('note="recalled memory') == 0
            if not stage.lacks(Capability.UNPERSISTED):
                script.extend(Say("Yes."))
                stage.harness.run(ran.agent, "And now?", key=ADA, entry=entry)
                assert not [message for message in script.prompts[-1].messages if "Rewrite the memory" in message.text]
