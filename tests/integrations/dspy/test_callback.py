"""What DSPy's own machinery does with the callback and the adapter, beyond the contract."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.callback import BaseCallback
from dspy.utils.dummies import DummyLM

from assay import Episode, Store, Trust
from assay.session import MissingUser, Placement, RecordPolicy, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.dspy import AssayCallback, session
from assay_integrations.dspy.composing import acompose, compose

from .harness import agent_of
from .scripted import STREAMS, scripted_model

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def prompts(model: dspy.BaseLM) -> list[list[tuple[str, str]]]:
    return [[(one["role"], str(one["content"])) for one in entry["messages"]] for entry in model.history]


def blocks(prompt: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(role, text) for role, text in prompt if "<memory-" in text]


def signature(text: str) -> Any:
    return text


def answers(*texts: str) -> Any:
    return DummyLM([{"answer": text} for text in texts])


def predict(text: str = "question -> answer") -> Any:
    return dspy.Predict(signature(text))


# -- what a run is -------------------------------------------------------------------------------------------------


class Pipeline(dspy.Module):  # type: ignore[misc]
    """Makes a query of a question, and answers that."""

    def __init__(self) -> None:
        super().__init__()
        self.search = dspy.Predict(signature("question -> query"))
        self.answer = dspy.ChainOfThought(signature("query -> answer"))

    def forward(self, question: str) -> Any:
        return self.answer(query=self.search(question=question).query)


def test_a_module_within_a_module_is_a_step_of_its_run(store: Store) -> None:
    store.record(FACT, session="earlier")
    model = DummyLM([{"query": "deploys of billing"}, {"reasoning": "As I know.", "answer": "On Tuesday."}])
    with dspy.context(lm=model), session(store, session="s1"):
        Pipeline()(QUESTION)
    assert told(store)[1:] == [("user", QUESTION), ("agent:Pipeline", "On Tuesday.")]
    (first,), (second,) = (blocks(prompt) for prompt in prompts(model))
    assert first == second and FACT in first[1], "one block for all steps of a run"


def test_what_a_program_is_given_and_gives_is_told_by_name_when_it_is_several_things(store: Store) -> None:
    model = DummyLM([{"day": "Tuesday", "hour": "six"}])
    past = dspy.History(messages=[{"service": "mail", "day": "Monday", "hour": "five"}])
    program = dspy.Predict(
        signature("service, picture: dspy.Image, history: dspy.History, notes: list[str] -> day, hour")
    )
    picture = dspy.Image("data:image/png;base64,iVBORw0KGgo=")
    with dspy.context(lm=model), session(store):
        program(service="billing", picture=picture, history=past, notes=["evening"], config={"temperature": 1.0})
    assert told(store) == [
        ("user", 'service: billing\npicture: "[Image]"\nnotes: ["evening"]'),
        ("agent:Predict", "day: Tuesday\nhour: six"),
    ]


def test_examples_in_parallel_are_runs_of_their_own_and_parts_of_one_within_a_module(store: Store) -> None:
    class Both(dspy.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.one = predict()

        def forward(self, question: str) -> str:
            parallel = dspy.Parallel(num_threads=2, disable_progress_bar=True)
            given = [dspy.Example(question=f"{question} {n}").with_inputs("question") for n in (1, 2)]
            return ", ".join(done.answer for done in parallel([(self.one, example) for example in given]))

    with dspy.context(lm=answers("yes", "yes", "no", "no")), session(store, session="s1"):
        predict().batch(
            [dspy.Example(question=text).with_inputs("question") for text in ("Is it up?", "Is it green?")],
            num_threads=2,
            disable_progress_bar=True,
        )
        Both()(question="Is it red?")
    runs: dict[str, list[str]] = {}
    for episode in held(store):
        runs.setdefault(str(episode.run), []).append(episode.content)
    assert sorted(runs.values()) == [["Is it green?", "yes"], ["Is it red?", "no, no"], ["Is it up?", "yes"]]
    assert {episode.session for episode in held(store)} == {"s1"}


def test_a_program_that_a_tool_runs_for_another_user_is_in_that_users_memory(tmp_path: Path) -> None:
    script = Script(Call("ask_bob", {"question": "What is it?"}), Say("Done."))
    bobs = predict()

    def ask_bob(question: str) -> str:
        """Ask for bob."""
        with dspy.context(memory_user="bob", memory_session="b1", lm=answers("Bob's own secret.")):
            return str(bobs(question=question).answer)

    with StoreRouter(tmp_path / "{user}.db") as router:
        program = dspy.ReAct(signature("question -> answer"), tools=[ask_bob])
        with dspy.context(lm=scripted_model(script)), session(router, user="ada", session="a1"):
            program(question="Ask bob")
        with Store(router.path("bob")) as bob, Store(router.path("ada")) as ada:
            assert told(bob) == [("user:bob", "What is it?"), ("agent:Predict", "Bob's own secret.")]
            assert [source for source, text in told(ada) if text == "Bob's own secret."] == ["tool:ask_bob"]


def test_an_optimiser_and_an_evaluation_are_off_the_record_and_unbriefed(store: Store) -> None:
    store.record(FACT, session="earlier")
    examples = [dspy.Example(question=QUESTION, answer="On Tuesday.").with_inputs("question")]
    model = answers(*["On Tuesday."] * 8)

    def metric(example: Any, prediction: Any, trace: Any = None) -> bool:
        return bool(example.answer == prediction.answer)

    with dspy.context(lm=model), session(store, options=EACH_RUN):
        dspy.Evaluate(devset=examples, metric=metric, num_threads=2)(predict())
        tuned: Any = dspy.BootstrapFewShot(metric=metric).compile(predict(), trainset=examples)
        assert len(held(store)) == 1 and not [prompt for prompt in prompts(model) if blocks(prompt)]
        tuned(question="And now?")
    assert told(store)[1:] == [("user", "And now?"), ("agent:Predict", "On Tuesday.")]


def test_the_hosts_own_tools_are_not_recorded(store: Store) -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    calls = ['{"tool_calls": [{"name": "add", "args": {"a": 1, "b": 2}}]}']
    calls.append('{"tool_calls": [{"name": "submit", "args": {"answer": "Three."}}]}')
    model = DummyLM([{"next_thought": "On.", "tool_calls": call} for call in calls])
    with dspy.context(lm=model), session(store):
        dspy.ReActV2(signature("question -> answer"), tools=[add])(question="Add one and two")
    assert told(store) == [
        ("user", "Add one and two"),
        ("agent:ReActV2", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent:ReActV2", "Three."),
    ]


def test_a_retriever_is_a_tool_within_a_run_and_nothing_outside_of_one(store: Store) -> None:
    class Reads(dspy.Module):  # type: ignore[misc]
        def forward(self, question: str) -> str:
            found: Any = dspy.Retrieve(k=1)(question)
            return str(found.passages[0])

    def find(query: str, k: int, **more: Any) -> Any:
        return [dspy.Example(long_text="The page says Friday.")]

    record = RecordPolicy(tool_trust={"Search": Trust.EXTERNAL})
    with dspy.context(rm=find), session(store, options=SessionOptions(record=record)):
        dspy.Retrieve(k=1)(QUESTION)
        assert Reads()(question=QUESTION) == "The page says Friday."
    asked, call, page, said = held(store)
    assert (asked.content, call.content) == (QUESTION, f'Search ["{QUESTION}"]')
    assert (page.source, page.content, page.trust) == ("tool:Search", '["The page says Friday."]', Trust.EXTERNAL)
    assert said.effective_trust is Trust.EXTERNAL, "what it says next may come from there"


# -- what the model receives ---------------------------------------------------------------------------------------


def test_the_block_is_a_message_of_its_own_before_the_question_in_every_call(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    model: Any = scripted_model(script)
    past = dspy.History(messages=[{"question": QUESTION, "answer": "I do not know."}])
    with dspy.context(lm=model), session(store):
        agent_of(script)(question=QUESTION, history=past)
    found = prompts(model)
    assert len(found) == 3, "a tool, the end, and what is extracted from it"
    for prompt in found:
        (block,) = blocks(prompt)
        assert block[0] == "user" and block[1].startswith("<memory-") and FACT in block[1]
        assert prompt[-2] == block and QUESTION in prompt[-1][1]


@pytest.mark.parametrize("adapter", [dspy.ChatAdapter, dspy.JSONAdapter, dspy.XMLAdapter])
def test_every_adapter_of_the_host_briefs_and_changes_nothing_else(store: Store, adapter: Any) -> None:
    store.record(FACT, session="earlier")
    seen = []
    for memory in (False, True):
        model = DummyLM([{"answer": "On Tuesday."}], adapter=adapter())
        program = predict("memory, question -> answer")
        program.demos = [dspy.Example(memory="none", question="Is it up?", answer="Yes.")]
        with dspy.context(lm=model, adapter=adapter()):
            if memory:
                with session(store):
                    done = program(memory="A field of the user's.", question=QUESTION)
            else:
                done = program(memory="A field of the user's.", question=QUESTION)
        assert done.answer == "On Tuesday."
        seen.append(prompts(model)[0])
    bare, briefed = seen
    (block,) = blocks(briefed)
    assert [one for one in briefed if one != block] == bare


def test_the_model_that_extracts_for_a_two_step_adapter_is_not_briefed(store: Store) -> None:
    store.record(FACT, session="earlier")
    small, model = answers("On Tuesday."), DummyLM([{"answer": "Tuesday, I think."}])
    with dspy.context(lm=model, adapter=dspy.TwoStepAdapter(small)), session(store):
        assert predict()(question=QUESTION).answer == "On Tuesday."
    assert len(blocks(prompts(model)[0])) == 1
    assert blocks(prompts(small)[0]) == []


def test_an_answer_that_cannot_be_read_is_asked_for_again_with_one_block(store: Store) -> None:
    store.record(FACT, session="earlier")
    model = DummyLM([{"wrong": "x"}, {"answer": "y"}, {"answer": "z"}])
    with dspy.context(lm=model), session(store):
        try:
            predict()(question=QUESTION)
        except Exception as error:  # the second answer is in the format of the first
            assert "JSONAdapter" in str(error)
    assert len(prompts(model)) >= 2
    assert [len(blocks(prompt)) for prompt in prompts(model)] == [1] * len(prompts(model))


def test_placed_as_system_text_it_follows_the_hosts_own(store: Store) -> None:
    store.record(FACT, session="earlier")
    model = answers("On Tuesday.")
    with dspy.context(lm=model), session(store, options=SessionOptions(placement=Placement.SYSTEM)):
        predict()(question=QUESTION)
    ((role, text),) = blocks(prompts(model)[0])
    assert role == "system" and text.startswith("Your input fields are") and FACT in text
    assert len(prompts(model)[0]) == 2


def test_outside_of_a_run_an_adapter_with_memory_is_the_adapter(store: Store) -> None:
    store.record(FACT, session="earlier")
    memory, model = AssayCallback(store), answers("On Tuesday.")
    with dspy.context(lm=model, adapter=memory.attach()):
        predict()(question=QUESTION)
    assert blocks(prompts(model)[0]) == [] and len(held(store)) == 1


# -- the wrap ------------------------------------------------------------------------------------------------------


class Hears(BaseCallback):  # type: ignore[misc]
    """A callback of the user's, which writes down what goes into a model and what comes out."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.heard.append(str(inputs))

    def on_lm_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        self.heard.append(str(outputs))


class Composes(dspy.Module):  # type: ignore[misc]
    """Writes a continuity as a program of the host does, in a thread of the host's."""

    def forward(self, package: str) -> Any:
        example = dspy.Example(package=package).with_inputs("package")
        pairs = [(dspy.Predict(signature("package -> document")), example)]
        return dspy.Parallel(num_threads=2, disable_progress_bar=True)(pairs)[0]


def test_a_wrap_by_a_program_is_no_run(store: Store) -> None:
    store.record(FACT, session="earlier")
    hears = Hears()

    def write(package: str) -> str:
        with dspy.context(lm=DummyLM([{"document": honest_document(package)}]), callbacks=[hears]):
            return str(Composes()(package=package).document)

    options = SessionOptions(wrap=WrapPolicy.each_run().composed_by(write))
    model = answers("Noted.")
    with dspy.context(lm=model), session(store, session="s1", options=options):
        predict()(question="Hello")
    (asked, _) = hears.heard
    assert "Rewrite the memory" in asked and 'note="recalled memory' not in asked
    assert store.status().wraps == 1
    assert told(store)[1:] == [("user", "Hello"), ("agent:Predict", "Noted.")]


def test_the_hosts_records_hold_nothing_of_a_wrap(store: Store) -> None:
    script = Script(Say("Noted."), Say(lambda prompt: honest_document(prompt.text, about=FACT)))
    hears = Hears()
    model, program = scripted_model(script), agent_of(script)
    with (
        dspy.track_usage() as usage,
        dspy.context(lm=model, callbacks=[hears], trace=[]),
        session(store, options=EACH_RUN),
    ):
        program(question=FACT, history=dspy.History(messages=[]))
        traced = str(dspy.settings.trace)
    assert store.status().wraps == 1
    shown = [*hears.heard, traced, str(model.history), str(program.history), str(usage.get_total_tokens())]
    assert len(hears.heard) == 2 * len(model.history) == 4
    assert not [text for text in shown if "Rewrite the memory" in text or "## Patterns" in text]


@pytest.mark.skipif(not STREAMS, reason="the scripted model of this release is not the host's own, and has no cache")
def test_the_hosts_cache_holds_nothing_of_a_wrap() -> None:
    script = Script(Say("first"), Say("second"), Say("third"))
    model: Any = scripted_model(script).copy(cache=True)
    assert [compose(model, "Write it."), asyncio.run(acompose(model, "Write it."))] == ["first", "second"]
    assert [model("Write it."), model("Write it.")] == [["third"], ["third"]], "as it would"


def test_on_an_event_loop_a_callback_calls_no_model_and_the_block_consolidates(store: Store) -> None:
    script = Script(Say("Noted."), Say(lambda prompt: honest_document(prompt.text, about=FACT)))
    called: list[int] = []

    async def run() -> None:
        async with session(store, session="s1", options=EACH_RUN):
            await agent_of(script).acall(question=FACT, history=dspy.History(messages=[]))
            called.append(len(script.prompts))
            assert store.status().wraps == 0
        called.append(len(script.prompts))

    with dspy.context(lm=scripted_model(script)):
        asyncio.run(run())
    assert called == [1, 2]
    assert store.status().wraps == 1
    assert threading.active_count() < 20


def test_a_run_that_failed_is_not_consolidated_by_its_block(store: Store) -> None:
    async def run() -> None:
        async with session(store, session="s1", options=EACH_RUN):
            with pytest.raises(Exception, match="No LM is loaded"):
                await predict().acall(question=FACT)

    asyncio.run(run())
    assert store.status().wraps == 0
    assert [episode.success for episode in held(store)] == [None, False]


def test_a_session_is_consolidated_when_the_host_says_so(store: Store) -> None:
    key, model = SessionKey(session="s1"), DummyLM([{"answer": "Noted."}])
    memory = AssayCallback(store, options=SessionOptions(wrap=WrapPolicy.manual()))
    assert memory.end_session(key, now=True).status.value == "not_due"
    with dspy.context(lm=model), session(memory, session="s1"):
        predict()(question=FACT)
    assert memory.end_session(key).status.value == "not_due"
    assert memory.end_session(key, now=True).status.value == "refused", "the answers of this model are no document"
    assert asyncio.run(memory.aend_session(key, now=True)).status.value == "refused"
    assert len(model.history) == 1


# -- how it is attached --------------------------------------------------------------------------------------------


def test_a_block_leaves_the_settings_as_they_were(store: Store) -> None:
    before = dict(dspy.settings.config)
    with pytest.raises(ZeroDivisionError), session(store):
        assert dspy.settings.adapter is not None
        raise ZeroDivisionError
    assert dict(dspy.settings.config) == before
    with dspy.context(lm=answers("Hello.")):
        predict()(question=FACT)
    assert held(store) == []


def test_blocks_within_blocks_have_their_own_and_two_on_one_store_record_once(store: Store, tmp_path: Path) -> None:
    store.record(FACT, session="earlier")
    router = StoreRouter(store)
    model = answers("On Tuesday.")
    with (
        Store(tmp_path / "team.db") as team,
        dspy.context(lm=model),
        session(team, session="ours"),
        session(router, session="mine"),
        session(router),
    ):
        predict()(question=QUESTION)
        assert told(store)[1:] == told(team) == [("user", QUESTION), ("agent:Predict", "On Tuesday.")]
    assert len(blocks(prompts(model)[0])) == 1


def test_settings_of_the_host_say_whose_a_run_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        memory = AssayCallback(router)
        with dspy.context(lm=answers("Noted.", "Who?"), callbacks=[memory], adapter=memory.attach()):
            with dspy.context(memory_user="ada", memory_session=7):
                predict()(question=FACT)
            predict()(question="Nobody says this")
        assert router.users() == ("ada",)
        with Store(router.path("ada")) as store:
            assert {episode.session for episode in held(store)} == {"7"}
            assert len(held(store)) == 2
        assert "missing_user" in caplog.text
        with pytest.raises(MissingUser):
            session(router)


def test_a_path_makes_a_store_and_the_end_of_the_block_releases_it(tmp_path: Path) -> None:
    with dspy.context(lm=answers("Noted.")), session(tmp_path / "new" / "memory.db"):
        predict()(question=FACT)
    with Store(tmp_path / "new" / "memory.db") as store:
        assert len(held(store)) == 2
