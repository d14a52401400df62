"""What smolagents' own machinery does with the memory of an agent, beyond the contract."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from smolagents import ChatMessage, CodeAgent, LogLevel, MessageRole, Model, MultiStepAgent, ToolCallingAgent, tool
from smolagents.memory import ActionStep, AgentMemory, TaskStep
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.utils import AgentGenerationError

from assay import Episode, Store, Trust
from assay.session import MissingUser, Placement, RecordPolicy, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.session.engine import database_of
from assay.storage.session_rows import find_open_run
from assay.testing import Call, Fail, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.smolagents import AssayAgentMemory, session

from .harness import agent_of
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())
FENCE = "<memory-"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


@tool
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One.
        b: Another.
    """
    return a + b


@tool
def boom(x: str) -> str:
    """Break.

    Args:
        x: Anything.
    """
    raise ValueError(f"boom-{x}")


class Plain(Model):
    """Says texts, and calls that are given as (id, name, arguments)."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(model_id="plain")
        self.answers = list(answers)
        self.received: list[list[Any]] = []

    def generate(self, messages: Any, *arguments: Any, **more: Any) -> ChatMessage:
        self.received.append([message.content for message in messages])
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=answer)
        text, *calls = answer
        return ChatMessage(role=MessageRole.ASSISTANT, content=text, tool_calls=[_call(*call) for call in calls])


def _call(call_id: str, name: str, given: dict[str, Any]) -> ChatMessageToolCall:
    return ChatMessageToolCall(
        id=call_id, type="function", function=ChatMessageToolCallFunction(name=name, arguments=given)
    )


def answer(text: str) -> tuple[Any, ...]:
    return ("", ("end", "final_answer", {"answer": text}))


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def tool_agent(*answers: Any, **more: Any) -> ToolCallingAgent:
    return ToolCallingAgent([add, boom], Plain(*answers), verbosity_level=LogLevel.OFF, **more)


def code_agent(*answers: str, **more: Any) -> CodeAgent:
    return CodeAgent([add, boom], Plain(*answers), verbosity_level=LogLevel.OFF, **more)


def shown(agent: Any, call: int = -1) -> list[str]:
    return [part["text"] for content in agent.model.received[call] for part in content]


def actions(agent: MultiStepAgent) -> list[ActionStep]:
    return [step for step in agent.memory.steps if isinstance(step, ActionStep)]


# -- how it is attached --------------------------------------------------------------------------------------------


def test_a_block_attaches_and_leaves_the_agent_as_it_was_with_its_steps(store: Store) -> None:
    agent = tool_agent(answer("Noted."), answer("Goodbye."))
    memory, callbacks, tools = agent.memory, agent.step_callbacks, dict(agent.tools)
    with session(store) as attached:
        assert attached.attach(agent) is agent
        assert agent.memory is attached
        agent.run(FACT)
    assert (agent.memory, agent.step_callbacks, agent.tools) == (memory, callbacks, tools)
    assert all(agent.tools[name] is tools[name] for name in tools)
    assert [type(step) for step in agent.memory.steps] == [TaskStep, ActionStep]
    agent.run("Goodbye", reset=False)
    assert told(store) == [("user", FACT), ("agent", "Noted.")]


def test_two_memories_of_one_agent_are_refused(store: Store) -> None:
    agent = tool_agent()
    with session(store) as first, session(store) as second:
        first.attach(agent)
        with pytest.raises(ValueError, match="detach it first"):
            second.attach(agent)


def test_several_agents_share_a_session_and_each_keeps_its_own_steps(store: Store) -> None:
    first, second = tool_agent(answer("Noted.")), tool_agent(answer("I see."))
    with session(store, session="s1") as memory:
        memory.attach(first).run(FACT)
        memory.attach(second).run("And you?")
        assert first.memory is not second.memory
    assert (len(first.memory.steps), len(second.memory.steps)) == (2, 2)
    assert {episode.session for episode in held(store)} == {"s1"}


def test_callbacks_of_the_user_survive_whenever_they_were_registered(store: Store) -> None:
    heard: list[str] = []
    agent = tool_agent(answer("One."), answer("Two."), step_callbacks=[lambda step, agent: heard.append("before")])
    with session(store) as memory:
        memory.attach(agent)
        agent.step_callbacks.register(ActionStep, lambda step: heard.append("after"))
        agent.run("One")
    agent.run("Two")
    assert heard == ["before", "after"] * 2


def test_a_callback_of_the_user_that_raises_ends_the_run_as_a_failure(store: Store) -> None:
    def refuse(step: Any) -> None:
        raise LookupError("no more")

    agent = tool_agent(answer("Noted."), step_callbacks=[refuse])
    with session(store) as memory, pytest.raises(LookupError):
        memory.attach(agent).run(FACT)
    assert told(store) == [("user", FACT), ("host:smolagents", "run failed: LookupError: no more")]


def test_a_missing_user_is_told_before_any_run(tmp_path: Path) -> None:
    with pytest.raises(MissingUser):
        AssayAgentMemory(tmp_path / "{user}.db")


def test_without_a_session_each_run_is_one_of_its_own(store: Store) -> None:
    agent = tool_agent(answer("One."), answer("Two."))
    with session(store) as memory:
        memory.attach(agent)
        agent.run("One")
        agent.run("Two")
    assert len({episode.session for episode in held(store)}) == 2


def test_an_agent_is_saved_as_without_memory(store: Store) -> None:
    agent = code_agent("<code>\nfinal_answer(1)\n</code>", managed_agents=[tool_agent(name="helper", description="x")])
    before = agent.to_dict()
    with session(store) as memory:
        memory.attach(agent)
        agent.run("Hello")
        assert agent.to_dict() == before


# -- what is recorded ----------------------------------------------------------------------------------------------


def test_tools_that_run_side_by_side_keep_their_results_apart(store: Store) -> None:
    calls = ("c2", "add", {"a": 1, "b": 2}), ("c1", "add", {"a": 3, "b": 4}), ("c3", "boom", {"x": "y"})
    agent = tool_agent(("I add.", *calls), answer("It broke."))
    with session(store) as memory:
        memory.attach(agent).run("Add twice and break")
    assert told(store) == [
        ("user", "Add twice and break"),
        ("agent", "I add."),
        ("agent", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent", 'add {"a": 3, "b": 4}'),
        ("tool:add", "7"),
        ("agent", 'boom {"x": "y"}'),
        ("tool:boom", "boom failed: ValueError: boom-y"),
        ("agent", "It broke."),
    ]


def test_a_failed_tool_is_recorded_though_its_step_has_no_calls(store: Store) -> None:
    agent = tool_agent(("", ("c1", "boom", {"x": "y"})), answer("It broke."))
    with session(store) as memory:
        memory.attach(agent).run("Break it")
        assert actions(agent)[0].tool_calls is None
    call, failure = held(store)[1:3]
    assert (failure.success, failure.derived_from) == (False, (call.ref,))


def test_a_tool_that_is_unknown_or_called_wrongly_has_failed(store: Store) -> None:
    wrong = ("", ("c1", "subtract", {"a": 1})), ("", ("c2", "add", {"a": "one", "b": 2}))
    agent = tool_agent(*wrong, answer("Not so."))
    with session(store) as memory:
        memory.attach(agent).run("Subtract")
    failures = [episode.content for episode in held(store) if episode.success is False]
    assert [text.partition(": ")[0] for text in failures] == ["subtract failed", "add failed"]


def test_a_call_that_a_model_writes_as_text_is_no_words_of_its(store: Store) -> None:
    written = 'I add.\nAction:\n{"name": "add", "arguments": {"a": 1, "b": 2}}'
    agent = tool_agent(written, answer("Three."))
    with session(store) as memory:
        memory.attach(agent).run("Add")
    assert told(store)[1:4] == [("agent", "I add."), ("agent", 'add {"a": 1, "b": 2}'), ("tool:add", "3")]


def test_code_is_recorded_with_the_tools_that_it_calls(store: Store) -> None:
    agent = code_agent("I add.\n<code>\nprint(add(1, b=2))\n</code>", "<code>\nfinal_answer('Three.')\n</code>")
    with session(store) as memory:
        memory.attach(agent).run("Add")
    assert told(store) == [
        ("user", "Add"),
        ("agent", "I add."),
        ("agent", "python_interpreter print(add(1, b=2))"),
        ("agent", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("tool:python_interpreter", "Execution logs:\n3\nLast output from code snippet:\nNone"),
        ("agent", "python_interpreter final_answer('Three.')"),
        ("tool:python_interpreter", "Execution logs:\nLast output from code snippet:\nThree."),
        ("agent", "Three."),
    ]


def test_a_tool_inside_code_keeps_the_trust_that_it_is_declared_with(store: Store) -> None:
    record = RecordPolicy(tool_trust={"add": Trust.EXTERNAL})
    agent = code_agent("<code>\nadd(1, 2)\n</code>", "<code>\nfinal_answer('It says three.')\n</code>")
    with session(store, options=SessionOptions(record, WrapPolicy.manual())) as memory:
        memory.attach(agent).run("Add")
    assert next(episode for episode in held(store) if episode.source == "tool:add").trust is Trust.EXTERNAL
    assert held(store)[-1].effective_trust is Trust.EXTERNAL


def test_a_tool_inside_code_that_fails_is_one_failure(store: Store) -> None:
    agent = code_agent(
        "<code>\nprint(1)\nboom('y')\n</code>", "<code>\nnope()\n</code>", "<code>final_answer(1)</code>"
    )
    with session(store) as memory:
        memory.attach(agent).run("Break it")
    failures = [episode for episode in held(store) if episode.success is False]
    assert [episode.source for episode in failures] == ["tool:boom", "tool:python_interpreter"]
    assert failures[0].content == "boom failed: ValueError: boom-y"


def test_arguments_that_the_host_pastes_behind_a_task_are_not_the_persons_words(store: Store) -> None:
    agent = tool_agent(answer("Noted."))
    with session(store) as memory:
        memory.attach(agent).run(FACT, additional_args={"user_id": "eve", "table": "x" * 100})
    assert any("additional arguments" in text for text in shown(agent))
    assert told(store)[0] == ("user", FACT)


def test_a_plan_is_recorded_and_the_call_that_writes_the_first_one_is_not_briefed(store: Store) -> None:
    store.record(FACT, session="earlier")
    agent = tool_agent("I will ask.", ("", ("c1", "add", {"a": 1, "b": 2})), "I will go on.", answer("On Tuesday."))
    agent.planning_interval = 1
    with session(store) as memory:
        memory.attach(agent).run(QUESTION)
    prompts = [str(content) for content in agent.model.received]  # type: ignore[attr-defined]
    assert [prompt.count(FENCE) for prompt in prompts] == [0, 1, 1, 1]
    assert [text for source, text in told(store) if source == "agent"][:1] == ["I will ask."]


def test_the_answer_of_a_run_that_took_too_many_steps_is_its_end(store: Store) -> None:
    agent = tool_agent(("", ("c1", "add", {"a": 1, "b": 2})), "I gave up.", max_steps=1)
    with session(store) as memory:
        memory.attach(agent).run("Add")
        assert actions(agent)[-1].error is not None
    assert told(store)[-1] == ("agent", "I gave up.")
    assert [episode.success for episode in held(store)].count(False) == 0


def test_an_interrupt_leaves_the_run_open_with_what_was_done(store: Store) -> None:
    @tool
    def stop() -> str:
        """Stop."""
        raise KeyboardInterrupt

    agent = ToolCallingAgent([stop], Plain(("", ("c1", "stop", {}))), verbosity_level=LogLevel.OFF)
    with session(store, session="s1") as memory, pytest.raises(KeyboardInterrupt):
        memory.attach(agent).run("Stop")
    assert told(store) == [("user", "Stop"), ("agent", "stop {}")]
    with database_of(store).read() as reader:
        assert find_open_run(reader, "s1", None)


def test_an_error_that_is_being_handled_around_a_run_is_not_the_runs(store: Store) -> None:
    agent = tool_agent(("", ("c1", "add", {"a": 1, "b": 2})), answer("Three."))
    with session(store) as memory:
        memory.attach(agent)
        try:
            raise LookupError("something else")
        except LookupError:
            assert agent.run("Add") == "Three."
    assert [episode.success for episode in held(store)].count(False) == 0


def test_an_error_of_the_model_is_recorded_as_what_it_was(store: Store) -> None:
    agent = agent_of(Script(Fail(ConnectionError("no route"))))
    with session(store) as memory, pytest.raises(AgentGenerationError):
        memory.attach(agent).run(FACT)
    assert told(store)[1:] == [("host:smolagents", "run failed: ConnectionError: no route")]


# -- what the model receives ---------------------------------------------------------------------------------------


def test_steps_hold_nothing_of_a_briefing_and_the_hosts_log_of_a_prompt_does(store: Store) -> None:
    store.record(FACT, session="earlier")
    agent = tool_agent(answer("On Tuesday."))
    with session(store) as memory:
        memory.attach(agent).run(QUESTION)
        steps = agent.memory.steps
        assert len(steps) == 2
        assert FENCE not in str([step.to_messages() for step in steps])
        assert FENCE not in str(agent.write_memory_to_messages())
        assert FENCE in str(actions(agent)[0].model_input_messages), "it is what the model received"


def test_a_conversation_that_goes_on_is_briefed_once_before_the_newest_task(store: Store) -> None:
    store.record(FACT, session="earlier")
    agent = tool_agent(answer("On Tuesday."), answer("I am sure."))
    with session(store, session="s1") as memory:
        memory.attach(agent).run(QUESTION)
        agent.run("Are you sure that deploys go out then?", reset=False)
    texts = shown(agent)
    blocks = [place for place, text in enumerate(texts) if FENCE in text]
    tasks = [place for place, text in enumerate(texts) if text.startswith("New task:")]
    assert len(tasks) == 2
    assert blocks == [tasks[-1] - 1]


def test_a_briefing_may_stand_behind_the_system_prompt(store: Store) -> None:
    store.record(FACT, session="earlier")
    agent = tool_agent(answer("On Tuesday."))
    with session(store, options=SessionOptions(placement=Placement.SYSTEM)) as memory:
        memory.attach(agent).run(QUESTION)
        assert FENCE not in agent.memory.system_prompt.system_prompt
    system, *others = shown(agent)
    assert system.startswith(agent.system_prompt) and FENCE in system
    assert FENCE not in str(others)


# -- agents that others call ---------------------------------------------------------------------------------------


def managed(*answers: Any) -> ToolCallingAgent:
    return tool_agent(*answers, name="helper", description="Knows more.")


def test_a_managed_agent_belongs_to_its_callers_run(store: Store) -> None:
    store.record(FACT, session="earlier")
    helper = managed(answer("On Tuesday."))
    asks = ("", ("c1", "helper", {"task": QUESTION}))
    agent = tool_agent(asks, answer("Done."), managed_agents=[helper], name="boss", description="Asks.")
    with session(store, session="s1") as memory:
        memory.attach(agent).run("Let the other one find out")
    assert any(FENCE in text for text in shown(helper))
    assert [source for source, _ in told(store)[1:]] == [
        *("user", "agent:helper", "agent:boss", "tool:helper", "agent:boss")
    ]
    assert len({episode.run for episode in held(store)[1:]}) == 1


def test_the_summary_that_a_managed_agent_gives_of_its_work_shows_no_briefing(store: Store) -> None:
    store.record(FACT, session="earlier")
    helper = tool_agent(answer("On Tuesday."), name="helper", description="x", provide_run_summary=True)
    agent = tool_agent(("", ("c1", "helper", {"task": QUESTION})), answer("Done."), managed_agents=[helper])
    with session(store, session="s1") as memory:
        memory.attach(agent).run("Let the other one find out")
    report = next(text for source, text in told(store) if source == "tool:helper")
    assert "summary_of_work" in report and FENCE not in report


def test_a_managed_agent_that_is_run_by_itself_is_a_root(store: Store) -> None:
    helper = managed(answer("Noted."))
    agent = tool_agent(managed_agents=[helper])
    with session(store) as memory:
        memory.attach(agent)
        helper.run(FACT)
    assert told(store) == [("user", FACT), ("agent:helper", "Noted.")]


def test_an_agent_inside_a_tool_belongs_to_its_callers_run(store: Store) -> None:
    inner = managed(answer("On Tuesday."))

    @tool
    def ask(question: str) -> str:
        """Ask.

        Args:
            question: What.
        """
        return str(inner.run(question))

    asks = ("", ("c1", "ask", {"question": QUESTION}))
    outer = ToolCallingAgent([ask], Plain(asks, answer("Done.")), verbosity_level=LogLevel.OFF)
    with session(store, session="s1", options=EACH_RUN) as memory:
        memory.attach(inner)
        memory.attach(outer)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("assay_integrations.smolagents.memory.compose", lambda model, prompt: honest_document(prompt))
            outer.run("Ask it")
    assert [source for source, _ in told(store)] == ["user", "agent:helper", "agent", "tool:ask", "agent"]
    assert store.status().wraps == 1


def test_the_caller_of_a_tool_of_another_user_keeps_its_memory_to_itself(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        inner = managed(answer("Noted for bob."))

        @tool
        def serve() -> str:
            """Serve."""
            with session(router, user="bob", session="b1") as memory:
                return str(memory.attach(inner).run(FACT))

        model = Plain(("", ("c1", "serve", {})), answer("Done."))
        outer = ToolCallingAgent([serve], model, verbosity_level=LogLevel.OFF)
        with session(router, user="ada", session="a1") as memory:
            memory.attach(outer).run("Serve bob")
        with Store(router.path("bob")) as bob:
            assert told(bob) == [("user:bob", FACT), ("agent:helper", "Noted for bob.")]


def test_two_agents_run_side_by_side_in_two_sessions(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        barrier = threading.Barrier(2)

        @tool
        def meet() -> str:
            """Meet."""
            barrier.wait(10)
            return "met"

        def run(user: str) -> None:
            model = Plain(("", ("c1", "meet", {})), answer(f"An answer for {user}."))
            agent = ToolCallingAgent([meet], model, verbosity_level=LogLevel.OFF)
            with session(router, user=user, session="s") as memory:
                memory.attach(agent).run(f"I am {user}")

        threads = [threading.Thread(target=run, args=(user,)) for user in ("ada", "bob")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        for user, other in (("ada", "bob"), ("bob", "ada")):
            with Store(router.path(user)) as store:
                assert [text for _, text in told(store)] == [
                    *(f"I am {user}", "meet {}", "met", f"An answer for {user}.")
                ]
                assert other not in str(told(store))


# -- the session ---------------------------------------------------------------------------------------------------


def test_a_session_that_ends_is_consolidated_by_the_model_of_its_agent(store: Store) -> None:
    agent = agent_of(Script(Say("Noted.")))
    with session(store, session="s1", options=MANUAL) as memory:
        memory.attach(agent).run(FACT)
        assert isinstance(agent.model, ScriptedModel)
        agent.model.script.extend(Say(lambda prompt: honest_document(prompt.text, about=FACT)))
        result = memory.end_session(now=True)
    assert result.status.value == "committed"
    assert FACT in store.continuity.text()


def test_a_session_without_an_agent_is_ended_without_a_wrap(store: Store) -> None:
    with session(store, session="s1") as memory:
        assert memory.end_session(SessionKey(None, "s1"), now=True).status.value != "committed"


def test_a_memory_that_was_never_attached_keeps_steps_as_the_hosts_does(store: Store) -> None:
    memory: AgentMemory = AssayAgentMemory(store)
    memory.steps.append(TaskStep(FACT))
    assert [step["task"] for step in memory.get_full_steps()] == [FACT]
    memory.reset()  # type: ignore[no-untyped-call]
    assert memory.get_full_steps() == []


def test_a_stream_that_is_left_raises_what_the_host_raises_and_the_next_run_goes_on(store: Store) -> None:
    agent = agent_of(Script(Call("add", {"a": 1, "b": 2}), Say("Three."), Say("Three.")))
    with session(store, session="s1") as memory:
        steps: Any = memory.attach(agent).run("Add", stream=True)
        next(steps)
        with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
            steps.close()
        agent.run("Again")
    assert [text for source, text in told(store) if source == "user"] == ["Add", "Again"]
    assert [episode.success for episode in held(store)].count(False) == 0
