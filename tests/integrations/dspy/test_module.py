"""A program that carries its memory along."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.dummies import DummyLM

from assay import Store
from assay.session import SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Say, Script
from assay.testing.composer import honest_document
from assay_integrations.dspy import AssayModule, session

from .harness import agent_of
from .scripted import STREAMS, scripted_model
from .test_callback import FACT, QUESTION, answers, blocks, predict, prompts, told

EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def test_it_is_called_like_the_program(store: Store) -> None:
    store.record(FACT, session="earlier")
    model = answers("On Tuesday.", "Hello.")
    program = predict()
    with dspy.context(lm=model, memory_session="s1"):
        assert AssayModule(program, store)(question=QUESTION).answer == "On Tuesday."
        program(question="Is this recorded?")
    assert told(store)[1:] == [("user", QUESTION), ("agent:Predict", "On Tuesday.")]
    assert [len(blocks(prompt)) for prompt in prompts(model)] == [1, 0]


def test_awaited_it_consolidates_when_the_run_is_over(store: Store) -> None:
    script = Script(Say("Noted."), Say(lambda prompt: honest_document(prompt.text, about=FACT)))
    assistant = AssayModule(agent_of(script), store, options=EACH_RUN)
    with dspy.context(lm=scripted_model(script)):
        asyncio.run(assistant.acall(question=FACT, history=dspy.History(messages=[])))
    assert store.status().wraps == 1
    assert [text for _, text in told(store)] == [FACT, "Noted."]


@pytest.mark.skipif(not STREAMS, reason="the scripted model of this release gives no pieces")
def test_it_is_recorded_however_early_its_stream_was_made(store: Store) -> None:
    script = Script(Say("It is noted."))
    agent: Any = agent_of(script)
    listener = dspy.streaming.StreamListener("answer", predict=agent.extract.predict)
    stream: Any = dspy.streamify(AssayModule(agent, store), stream_listeners=[listener], is_async_program=True)

    async def run() -> str:
        given = {"question": FACT, "history": dspy.History(messages=[])}
        return "".join([str(item.chunk) async for item in stream(**given) if hasattr(item, "chunk")])

    with dspy.context(lm=scripted_model(script)):
        assert asyncio.run(run()) == "It is noted."
    assert told(store) == [("user", FACT), ("agent:main", "It is noted.")]


def test_a_copy_shares_the_memory_and_an_optimiser_sees_the_program_within(store: Store) -> None:
    assistant = AssayModule(predict(), store)
    examples = [dspy.Example(question=QUESTION, answer="On Tuesday.").with_inputs("question")]
    tuned: Any = dspy.LabeledFewShot(k=1).compile(assistant, trainset=examples)
    assert tuned.memory is assistant.memory and tuned.program is not assistant.program
    assert tuned.program.demos == examples and assistant.program.demos == []
    with dspy.context(lm=answers("Noted.")):
        tuned(question=FACT)
    assert told(store) == [("user", FACT), ("agent:Predict", "Noted.")]


def test_what_evaluates_or_optimises_it_in_a_block_is_off_the_record(store: Store) -> None:
    assistant = AssayModule(predict(), store)
    examples = [dspy.Example(question=FACT, answer="Noted.").with_inputs("question")]

    def metric(example: Any, prediction: Any, trace: Any = None) -> bool:
        return bool(example.answer == prediction.answer)

    with dspy.context(lm=answers(*["Noted."] * 8)), session(assistant.memory):
        assert dspy.Evaluate(devset=examples, metric=metric)(assistant).score == 100
        tuned: Any = dspy.BootstrapFewShot(metric=metric).compile(assistant, trainset=examples)
    assert told(store) == []
    with dspy.context(lm=answers("Noted.")):
        tuned(question=QUESTION)
    assert told(store) == [("user", QUESTION), ("agent:Predict", "Noted.")]


def test_without_a_user_the_run_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router, dspy.context(lm=DummyLM([{"answer": "Noted."}])):
        assert AssayModule(predict(), router)(question=FACT).answer == "Noted."
    assert "missing_user" in caplog.text and not list(tmp_path.rglob("*.db"))
