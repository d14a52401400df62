"""C21 to C23: a guest in the host leaves as it came, and gets in nobody's way."""

from __future__ import annotations

import threading

from assay.testing.harness import Capability
from assay.testing.script import Call, Say, Script
from assay.testing.stage import ADA, FACT, MANUAL, QUESTION, Stage

__all__ = ["MannersClauses"]


class MannersClauses:
    """C21, C22, C23."""

    def test_c21_detaching_leaves_nothing(self, stage: Stage) -> None:
        """Callbacks, dispatchers, globals and threads are as before, and later runs record nothing."""
        harness = stage.harness
        before, threads = harness.snapshot(), set(threading.enumerate())
        router = stage.memory()
        script = Script(Say("Noted."), Say("Go on."))
        agent = harness.build(script, memory=router, options=MANUAL)
        for entry in (stage.entries[0], stage.entries[-1]):
            harness.run(agent, FACT, key=ADA, entry=entry)
        held = len(stage.episodes())
        assert held > 0
        harness.detach(agent)
        script.extend(Say("Nobody listens."))
        harness.run(agent, "Is this recorded?", key=ADA, entry=stage.entry)
        router.close()
        assert len(stage.episodes()) == held
        assert harness.snapshot() == before
        assert not [thread for thread in set(threading.enumerate()) - threads if thread.name.startswith("assay")]

    def test_c22_the_users_own_hooks_run_as_before(self, stage: Stage) -> None:
        """Same hooks, same order, same arguments, whether they stand before ours or after."""
        logs: list[tuple[str, ...]] = []
        for memory in (None, stage.memory()):
            script = Script(Call("add", {"a": 1, "b": 2}, "c1"), Say("It is three."))
            agent = stage.harness.build(script, memory=memory, options=MANUAL, user_hooks=True)
            stage.harness.run(agent, "What is one and two?", key=ADA, entry=stage.entry)
            logs.append(stage.harness.user_log(agent))
        assert logs[0], "the scenario calls the user's hooks"
        assert logs[1] == logs[0]
        assert stage.episodes()

    def test_c23_the_hosts_way_to_save_still_works(self, stage: Stage) -> None:
        """What was saved or cloned with memory attached runs like the original."""
        stage.needs(Capability.SAVE)
        router = stage.memory()
        stage.run(FACT, [Say("Noted.")], memory=router)
        script = Script(Say("On Tuesday."))
        agent = stage.harness.save_and_load(stage.harness.build(script, memory=router, options=MANUAL))
        outcome = stage.harness.run(agent, QUESTION, key=ADA, entry=stage.entry)
        assert outcome.result == "On Tuesday."
