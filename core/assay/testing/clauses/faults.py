"""C12 and C13: an engine that fails changes nothing, and the host's own signals are nobody's failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from assay.errors import StorageFailure
from assay.session import SessionOptions, StoreRouter, WrapPolicy
from assay.testing.composer import honest_document
from assay.testing.harness import Capability, Entry
from assay.testing.script import Call, Compose, Fail, Say, Script, Step
from assay.testing.stage import ADA, MANUAL, Stage
from assay.testing.tapped import VERBS, FaultyStore

__all__ = ["FaultClauses"]

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


class ModelBroke(RuntimeError):
    """What the model raises."""


def _well() -> list[Step]:
    return [Call("add", {"a": 1, "b": 2}, "c1"), Say("It is three."), *[Compose(honest_document)] * 3]


def _broken_tool() -> list[Step]:
    return [Call("boom", {"x": "y"}, "c1"), Say("It broke.")]


def _broken_model() -> list[Step]:
    return [Call("add", {"a": 1, "b": 2}, "c1"), Fail(_DOWN)]


_DOWN = ModelBroke("the provider is down")


def _unchanged(
    stage: Stage, steps: Callable[[], Sequence[Step]], verbs: Sequence[str], entry: Entry, **fault: Exception | float
) -> None:
    """Run with an engine that fails in some verbs, and compare with a run without memory."""
    bare = stage.run("What is one and two?", steps(), memory=None, entry=entry)
    path = stage.folder / f"faulty-{len(list(stage.folder.glob('faulty-*')))}" / "memory.db"
    store = FaultyStore(path, verbs, **fault)  # type: ignore[arg-type]
    router = StoreRouter(lambda key: store)
    options = SessionOptions(wrap=WrapPolicy.each_run(), briefing_timeout=0.005 if "delay" in fault else 2.0)
    try:
        ran = stage.run("What is one and two?", steps(), memory=router, entry=entry, options=options)
        place = f"{verbs} at {entry.value}"
        assert ran.outcome.same_as(bare.outcome), f"{place}: {ran.outcome} instead of {bare.outcome}"
        assert ran.prompts == bare.prompts, place
        if store.hits and "error" in fault:
            store.heal()
            counted = {**store.status().faults, **router.session(ADA).faults.counts()}
            assert counted, f"{place}: the fault was not counted"
    finally:
        router.close()
        store.close()


class FaultClauses:
    """C12, C13."""

    def test_c12_a_fault_in_any_verb_changes_nothing(self, stage: Stage) -> None:
        """One verb at a time: result, stream, exception and prompts are those of a run without memory."""
        for verb in VERBS:
            for steps in (_well, _broken_tool, _broken_model):
                _unchanged(stage, steps, [verb], stage.entry, error=StorageFailure("the disk is gone"))

    def test_c12_an_engine_that_fails_altogether_changes_nothing(self, stage: Stage) -> None:
        """In every way in which the host runs an agent, with an error of any type."""
        for entry in stage.entries:
            for steps in (_well, _broken_model):
                _unchanged(stage, steps, VERBS, entry, error=ZeroDivisionError("a bug"))

    def test_c12_a_slow_engine_changes_nothing(self, stage: Stage) -> None:
        """A briefing that comes too late is left out."""
        for entry in stage.entries:
            _unchanged(stage, _well, VERBS, entry, delay=0.01)

    def test_c12_a_store_that_cannot_be_opened_changes_nothing(self, stage: Stage) -> None:
        """The path is a folder."""
        stage.folder.mkdir(parents=True, exist_ok=True)
        for entry in stage.entries:
            bare = stage.run("What is one and two?", _well(), memory=None, entry=entry)
            with StoreRouter(stage.folder) as router:
                ran = stage.run("What is one and two?", _well(), memory=router, entry=entry)
            assert ran.outcome.same_as(bare.outcome)
            assert ran.prompts == bare.prompts

    def test_c13_the_hosts_own_signals_pass_and_are_no_failures(self, stage: Stage) -> None:
        """The same object, and the same result, as without memory."""
        stage.needs(Capability.CONTROL_FLOW)
        for flow in stage.harness.control_flow:
            for entry in stage.entries:
                self._passes(stage, f"{flow.name}-{entry.value}", flow.act, entry)

    def test_c13_cancellation_and_interrupts_pass_and_are_no_failures(self, stage: Stage) -> None:
        """What Python itself raises to stop a program is not the run's failure."""
        for entry in stage.entries:
            signal: type[BaseException] = asyncio.CancelledError if entry.awaits else KeyboardInterrupt
            self._passes(stage, f"{signal.__name__}-{entry.value}", partial(_raise, signal), entry)

    def _passes(self, stage: Stage, name: str, act: Callable[[], object], entry: Entry) -> None:
        steps = (Call("signal", {}, "c1"), Say("Went on."))
        bare = stage.run("Do it", Script(*steps, signal=act), memory=None, entry=entry)
        ran = stage.run("Do it", Script(*steps, signal=act), memory=stage.memory(name), entry=entry, options=MANUAL)
        assert ran.outcome.same_as(bare.outcome), f"{name}: {ran.outcome} instead of {bare.outcome}"
        if bare.script.raised and bare.outcome.error is bare.script.raised[-1]:
            assert ran.outcome.error is ran.script.raised[-1]
        assert not [episode for episode in stage.episodes(name) if episode.success is False], name


def _raise(error: type[BaseException]) -> None:
    raise error
