"""What CrewAI's own machinery does with the hooks, beyond the contract."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, Crew, Process, Task
from crewai.events import crewai_event_bus
from crewai.flow.flow import Flow, listen, start
from crewai.hooks import HookAborted, InterceptionPoint, get_hooks, register_hook, unregister_hook
from crewai.hooks.dispatch import get_scoped_hooks
from crewai.tools import tool

from assay import Episode, Store
from assay.session import MissingUser, Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Fail, Meet, Say, Script
from assay.testing.composer import honest_document
from assay.testing.script import Step
from assay_integrations.crewai import AssayEventListener, session

from .harness import agent_of
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


@pytest.fixture
def listener(store: Store) -> Iterator[AssayEventListener]:
    listener = AssayEventListener(store)
    yield listener
    listener.close()


@tool("add")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def crew_of(agent: Agent, text: str = "{request}", **task: Any) -> Crew:
    return Crew(agents=[agent], tasks=[Task(description=text, expected_output="An answer.", agent=agent, **task)])


def crew(*steps: Any, text: str = "{request}", **agent: Any) -> Crew:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    return crew_of(agent_of(script, tools=[add], **agent), text)


def asks(text: str = QUESTION) -> dict[str, Any]:
    return {"request": text}


# -- how it is attached --------------------------------------------------------------------------------------------


def test_a_listener_hears_every_kickoff_until_it_is_closed(store: Store) -> None:
    before = {point: get_hooks(point) for point in InterceptionPoint}
    handlers = dict(crewai_event_bus._sync_handlers)
    listener = AssayEventListener(store)
    assert crewai_event_bus._sync_handlers == handlers, "it listens by hooks, not by handlers that run later"
    kept = crew(Say("Noted."), Say("I see."))
    kept.kickoff(asks(FACT))
    listener.close()
    kept.kickoff(asks("And now?"))
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]
    assert {point: get_hooks(point) for point in InterceptionPoint} == before


def test_a_block_hears_a_crew_that_was_kicked_off_before(store: Store) -> None:
    kept = crew(Say("Hello."), Say("Noted."), Say("Goodbye."))
    kept.kickoff(asks("Hello"))
    with session(store):
        kept.kickoff(asks(FACT))
    kept.kickoff(asks("Goodbye"))
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]


def test_a_block_leaves_no_hook(store: Store) -> None:
    before = [(get_hooks(point), get_scoped_hooks(point)) for point in InterceptionPoint]
    with session(store):
        crew(Say("Noted.")).kickoff(asks(FACT))
    assert [(get_hooks(point), get_scoped_hooks(point)) for point in InterceptionPoint] == before


def test_blocks_within_blocks_each_have_their_own(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "team.db") as team, session(store, session="mine"), session(team, session="ours"):
        crew(Say("Noted.")).kickoff(asks(FACT))
        assert told(store) == told(team) == [("user", FACT), ("agent:main", "Noted.")]
    assert {episode.session for episode in held(store)} == {"mine"}


def test_a_path_makes_a_store_and_the_end_of_the_block_releases_it(tmp_path: Path) -> None:
    with session(tmp_path / "new" / "memory.db"):
        crew(Say("Noted.")).kickoff(asks(FACT))
    with Store(tmp_path / "new" / "memory.db") as store:
        assert len(held(store)) == 2


# -- who and where -------------------------------------------------------------------------------------------------


def test_a_missing_user_is_told_at_the_block_and_fails_closed_without_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        with pytest.raises(MissingUser), session(router):
            pass
        listener = AssayEventListener(router)
        try:
            assert crew(Say("Noted.")).kickoff(asks(FACT)).raw == "Noted."  # type: ignore[union-attr]
        finally:
            listener.close()
        assert "missing_user" in caplog.text
        assert router.users() == ()


@pytest.mark.parametrize("entry", ["kickoff_async", "akickoff"])
def test_crews_of_three_users_at_once_stay_apart(tmp_path: Path, entry: str) -> None:
    barrier = threading.Barrier(3)

    async def one(router: StoreRouter, user: str) -> None:
        with session(router, user=user, session=f"of-{user}"):
            steps = (Meet(barrier), Call("add", {"a": 1, "b": 1}), Say(f"Done for {user}."))
            await getattr(crew(*steps), entry)(asks(f"I am {user}"))

    async def all_of_them(router: StoreRouter) -> None:
        await asyncio.gather(*[one(router, user) for user in ("ada", "bob", "eve")])

    with StoreRouter(tmp_path / "{user}.db") as router:
        asyncio.run(all_of_them(router))
        for user in ("ada", "bob", "eve"):
            with Store(router.path(user)) as store:
                texts = [text for _, text in told(store)]
                assert texts == [f"I am {user}", 'add {"a": 1, "b": 1}', "2", f"Done for {user}."]
                assert {episode.session for episode in held(store)} == {f"of-{user}"}


def test_kickoffs_of_one_session_at_once_are_runs_of_their_own(store: Store) -> None:
    barrier = threading.Barrier(2)
    lanes: dict[str, list[Step]] = {text: [Meet(barrier), Say(f"Done: {text}")] for text in ("one", "two")}
    several = crew(Script(lanes=lanes))
    with session(store, session="s1"):
        asyncio.run(several.kickoff_for_each_async([asks("one"), asks("two")]))
    runs: dict[str | None, list[str]] = {}
    for episode in held(store):
        runs.setdefault(episode.run, []).append(episode.content)
    assert sorted(runs.values()) == [["one", "Done: one"], ["two", "Done: two"]]
    assert {episode.session for episode in held(store)} == {"s1"}


def test_kickoffs_without_a_session_are_sessions_of_their_own(listener: AssayEventListener, store: Store) -> None:
    again = crew(Say("One."), Say("Two."))
    again.kickoff(asks("First"))
    again.kickoff(asks("Second"))
    assert len({episode.session for episode in held(store)}) == 2


# -- agents alone, agents among others -----------------------------------------------------------------------------


def test_an_agent_that_is_kicked_off_alone_is_recorded_and_briefed(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    with session(store, session="s1"):
        done: Any = agent_of(script, tools=[add]).kickoff(QUESTION)
    assert done.raw == "On Tuesday."
    assert told(store)[1:] == [
        ("user", QUESTION),
        ("agent:main", 'add {"a": 1, "b": 2}'),
        ("tool:add", "3"),
        ("agent:main", "On Tuesday."),
    ]
    assert all(prompt.text.count("<memory-") == 1 for prompt in script.prompts)
    assert all(prompt.of("user")[-1] == QUESTION for prompt in script.prompts)
    assert "<memory-" not in str(done.messages)


def test_an_agent_alone_fails_and_consolidates_like_a_crew(store: Store) -> None:
    composed = Say(lambda prompt: honest_document(prompt.text, about=FACT))
    with session(store, session="s1", options=EACH_RUN):
        asyncio.run(agent_of(Script(Say("Noted."), composed)).kickoff_async(FACT))
        with pytest.raises(RuntimeError):
            agent_of(Script(Fail(RuntimeError("down")))).kickoff("Hello")
    assert store.status().wraps == 1
    assert told(store)[-1] == ("host:crewai", "run failed: RuntimeError: down")


def test_a_coworker_that_is_asked_by_the_hosts_own_tool_is_a_sub_agent(store: Store) -> None:
    store.record(FACT, session="earlier")
    given = {"task": QUESTION, "context": "none", "coworker": "Coworker"}
    script = Script(
        Call("delegate_work_to_coworker", given),
        Say("It is known now."),
        sub=[Call("add", {"a": 1, "b": 1}), Say("Tuesday, two.")],
    )
    boss = agent_of(script, "main", allow_delegation=True)
    coworker = Agent(
        role="Coworker",
        goal="g",
        backstory="b",
        tools=[add],
        llm=ScriptedModel(model="scripted", script=script, agent="sub"),
    )
    task = Task(description="Find out", expected_output="An answer.", agent=boss)
    with session(store, session="s1"):
        Crew(agents=[boss, coworker], tasks=[task]).kickoff()
    assert [(source, text.partition(" {")[0]) for source, text in told(store)[1:]] == [
        ("user", "Find out"),
        ("agent:main", "delegate_work_to_coworker"),
        ("agent:Coworker", "add"),
        ("tool:add", "2"),
        ("agent:Coworker", "Tuesday, two."),
        ("tool:delegate_work_to_coworker", "Tuesday, two."),
        ("agent:main", "It is known now."),
    ]
    asked = next(prompt for prompt in script.prompts if prompt.agent == "sub")
    assert FACT in asked.text
    assert len({episode.run for episode in held(store)[1:]}) == 1


def test_a_coworkers_model_does_not_consolidate_for_the_one_who_asked(store: Store) -> None:
    script = Script(
        Call("ask_question_to_coworker", {"question": "2+2", "context": "none", "coworker": "Coworker"}),
        Fail(RuntimeError("down")),
        sub=[Say("Four.")],
    )
    boss, coworker = agent_of(script, allow_delegation=True), agent_of(script, "sub")
    coworker.role = "Coworker"
    task = Task(description="Find out", expected_output="An answer.", agent=boss)
    with session(store, session="s1") as memory:
        with pytest.raises(RuntimeError):
            Crew(agents=[boss, coworker], tasks=[task]).kickoff()
        script.extend(Say(lambda prompt: honest_document(prompt.text)))
        assert memory.end_session(SessionKey(session="s1"), now=True).status.value == "committed"
    assert [prompt.agent for prompt in script.prompts] == ["main", "sub", "main", "main"]


def test_a_manager_and_its_crew_are_one_run(store: Store) -> None:
    given = {"task": "Say two", "context": "none", "coworker": "worker"}
    script = Script(Call("delegate_work_to_coworker", given), Say("It is two."), sub=[Say("Two, I say.")])
    worker = Agent(
        role="worker", goal="g", backstory="b", llm=ScriptedModel(model="scripted", script=script, agent="sub")
    )
    task = Task(description="How many?", expected_output="A number.")
    manager = ScriptedModel(model="scripted", script=script)
    with session(store, session="s1"):
        Crew(agents=[worker], tasks=[task], process=Process.hierarchical, manager_llm=manager).kickoff()
    sources = [source for source, _ in told(store)]
    assert sources[0] == "user" and "agent:worker" in sources and "agent:Crew Manager" in sources
    assert len({episode.run for episode in held(store)}) == 1


def test_the_agents_of_a_crew_hand_over_and_speak_under_their_names(store: Store) -> None:
    script = Script(Say("A draft."), sub=[Say("A better draft.")])
    writer, editor = agent_of(script, "writer\n"), agent_of(script, "editor")
    writer.llm.agent, editor.llm.agent = "main", "sub"  # type: ignore[union-attr]
    tasks = [
        Task(description=f"{verb} it", expected_output="A text.", agent=one)
        for verb, one in (("Write", writer), ("Edit", editor))
    ]
    with session(store):
        Crew(agents=[writer, editor], tasks=tasks).kickoff()
    assert told(store) == [
        ("user", "Write it"),
        ("agent:writer", "A draft."),
        ("agent:writer", "writer -> editor"),
        ("user", "Edit it"),
        ("agent:editor", "A better draft."),
    ]


def test_tasks_that_run_at_once_keep_their_own_questions(store: Store) -> None:
    store.record(FACT, session="earlier")
    barrier = threading.Barrier(2)
    lanes: dict[str, list[Step]] = {text: [Meet(barrier), Say(f"About: {text}")] for text in (QUESTION, "Who is ada?")}
    script = Script(lanes={**lanes, "Sum up": [Say("That is all.")]})
    agents = [agent_of(script), agent_of(script, "second")]
    agents[1].llm.agent = "main"  # type: ignore[union-attr]
    last = Task(description="Sum up", expected_output="An answer.", agent=agents[0])
    tasks = [
        Task(description=text, expected_output="An answer.", agent=one, async_execution=True)
        for text, one in zip(lanes, agents, strict=True)
    ]
    with session(store, session="s1"):
        Crew(agents=[*agents], tasks=[*tasks, last]).kickoff()
    said = {(source, text) for source, text in told(store) if text.startswith("About")}
    assert said == {("agent:main", f"About: {QUESTION}"), ("agent:second", "About: Who is ada?")}
    assert [prompt.of("user")[-1] for prompt in script.prompts if FACT in prompt.text] == [QUESTION]


def test_an_agent_that_judges_a_task_is_not_the_person(store: Store) -> None:
    judged = '{"valid": true, "feedback": null}'
    agent = agent_of(Script(Say("It is fine."), Say(judged), Say(judged)))
    with session(store, session="s1"):
        crew_of(agent, "Write", guardrail="It is polite.").kickoff()
    assert [text for source, text in told(store) if source == "user"] == ["Write"]
    assert len({episode.run for episode in held(store)}) == 1


class Plans(Flow[Any]):
    """Asks an agent of its own, and then a crew."""

    agent: Any = None
    crew: Any = None

    @start()
    async def think(self) -> str:
        return str((await self.agent.kickoff_async(FACT)).raw)

    @listen(think)
    def act(self) -> str:
        return str(self.crew.kickoff({"request": "Write it down"}))


def test_a_flow_with_its_agents_and_crews_is_one_run(store: Store) -> None:
    flow = Plans()
    flow.agent = agent_of(Script(Say("Noted.")), "thinker")
    flow.agent.llm.agent = "main"
    flow.crew = crew(Say("Written."), Say(lambda prompt: honest_document(prompt.text, about=FACT)))
    with session(store, session="s1", options=EACH_RUN):
        assert flow.kickoff() == "Written."
    assert told(store) == [
        ("user", FACT),
        ("agent:thinker", "Noted."),
        ("user", "Write it down"),
        ("agent:main", "Written."),
    ]
    assert len({episode.run for episode in held(store)}) == 1
    assert store.status().wraps == 1


def test_a_flow_that_fails_is_one_failure(store: Store) -> None:
    flow = Plans()
    flow.agent = agent_of(Script(Fail(RuntimeError("down"))))
    with session(store, session="s1", options=EACH_RUN), pytest.raises(RuntimeError):
        flow.kickoff()
    assert told(store) == [("user", FACT), ("host:crewai", "run failed: RuntimeError: down")]


# -- what is recorded ----------------------------------------------------------------------------------------------


def test_a_model_that_calls_tools_in_words_is_recorded_like_another(store: Store) -> None:
    @tool("boom")
    def boom(x: str) -> str:
        """Break."""
        raise ValueError(f"boom-{x}")

    steps = (
        Call("add", {"a": 1, "b": 2}),
        Call("boom", {"x": "y"}),
        Say("Thought: I now know the final answer\nFinal Answer: It is three."),
    )
    with session(store):
        done: Any = crew_of(agent_of(Script(*steps), tools=[add, boom], calls_tools=False), "Add").kickoff()
    assert done.raw == "It is three."
    assert told(store)[:3] == [("user", "Add"), ("agent:main", 'add {"a": 1, "b": 2}'), ("tool:add", "3")]
    assert told(store)[-1] == ("agent:main", "It is three.")
    assert [episode.content for episode in held(store) if episode.success is False] == [
        "boom failed: ValueError: boom-y"
    ]


class CallsBoth(ScriptedModel):
    """Asks for two calls of one tool at once."""

    def _reply(self, messages: Any) -> Any:
        if any(message["role"] == "tool" for message in messages):
            return super()._reply(messages)
        return [
            {"id": f"c{n}", "type": "function", "function": {"name": "slow", "arguments": f'{{"n": {n}}}'}}
            for n in (1, 2)
        ]


def test_calls_of_one_tool_at_once_keep_their_own_results(store: Store) -> None:
    barrier = threading.Barrier(2)

    @tool("slow")
    def slow(n: int) -> str:
        """Wait for the other one."""
        barrier.wait(10)
        if n == 2:
            raise ValueError("no second one")
        return f"result {n}"

    agent = agent_of(Script(Say("Both.")), tools=[slow])
    agent.llm = CallsBoth(model="scripted", script=Script(Say("Both.")))
    with session(store):
        crew_of(agent, "Do both").kickoff()
    by_ref = {episode.ref: episode.content for episode in held(store)}
    ends = {
        episode.content: by_ref[episode.derived_from[0]] for episode in held(store) if episode.source == "tool:slow"
    }
    assert ends == {"result 1": 'slow {"n": 1}', "slow failed: ValueError: no second one": 'slow {"n": 2}'}


def test_a_task_that_the_host_tries_again_is_recorded_once(store: Store) -> None:
    agent = agent_of(Script(Fail(RuntimeError("busy")), Say("Here.")))
    agent.max_retry_limit = 1
    with session(store):
        crew_of(agent, "Hello").kickoff()
    assert told(store) == [("user", "Hello"), ("agent:main", "Here.")]


@pytest.mark.parametrize("point", [InterceptionPoint.INPUT, InterceptionPoint.OUTPUT])
def test_a_hook_that_aborts_a_run_is_no_failure(store: Store, point: InterceptionPoint) -> None:
    denied = HookAborted("not today")

    def deny(context: Any) -> None:
        raise denied

    register_hook(point, deny)
    try:
        with pytest.raises(HookAborted) as raised, session(store):
            crew(Say("Noted.")).kickoff(asks(FACT))
    finally:
        unregister_hook(point, deny)
    assert raised.value is denied
    assert [episode for episode in held(store) if episode.success is False] == []
    assert len(held(store)) == (0 if point is InterceptionPoint.INPUT else 2)


def test_a_tool_that_a_hook_of_the_users_blocks_was_called_and_gave_nothing_else(store: Store) -> None:
    def block(context: Any) -> bool:
        return False

    register_hook(InterceptionPoint.PRE_TOOL_CALL, block)
    try:
        with session(store):
            crew(Call("add", {"a": 1, "b": 2}), Say("I may not.")).kickoff(asks("Add"))
    finally:
        unregister_hook(InterceptionPoint.PRE_TOOL_CALL, block)
    assert [text for source, text in told(store) if source == "tool:add"] == [
        "Tool execution blocked by hook. Tool: add"
    ]


def test_what_a_hook_of_the_users_hides_is_not_recorded(store: Store) -> None:
    def hide(context: Any) -> str:
        return "a number"

    register_hook(InterceptionPoint.POST_TOOL_CALL, hide)
    try:
        with session(store):
            crew(Call("add", {"a": 1, "b": 2}), Say("It is a number.")).kickoff(asks("Add"))
    finally:
        unregister_hook(InterceptionPoint.POST_TOOL_CALL, hide)
    assert ("tool:add", "a number") in told(store)
    assert ("tool:add", "3") not in told(store)


# -- what is injected ----------------------------------------------------------------------------------------------


def test_placed_as_system_text_it_follows_the_hosts_own_and_is_not_kept(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    with session(store, options=SessionOptions(placement=Placement.SYSTEM)):
        done: Any = crew(script).kickoff(asks())
    for prompt in script.prompts:
        (system,) = prompt.of("system")
        assert system.startswith("You are main.") and system.count("<memory-") == 1 and FACT in system
        assert prompt.of("user") == (QUESTION,)
    assert "<memory-" not in str(done.tasks_output[0].messages)


def test_a_tool_that_gives_the_answer_leaves_no_briefing_behind(store: Store) -> None:
    store.record(FACT, session="earlier")

    @tool("answer")
    def answer() -> str:
        """Give the answer."""
        return "On Tuesday, says the tool."

    answer.result_as_answer = True
    script = Script(Call("answer", {}))
    with session(store):
        done: Any = crew_of(agent_of(script, tools=[answer]), QUESTION).kickoff()
    assert done.raw == "On Tuesday, says the tool."
    assert FACT in script.prompts[0].text
    assert "<memory-" not in str(done.tasks_output[0].messages)


class TellsHooks(ScriptedModel):
    """Calls the hooks of the host from inside, as its own models do."""

    def call(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        self._invoke_before_llm_call_hooks(messages, None)
        return super().call(messages, *arguments, **more)


def test_calls_that_are_no_agents_are_neither_recorded_nor_briefed(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("An aside."))
    with session(store):
        TellsHooks(model="scripted", script=script).call([{"role": "user", "content": QUESTION}])
    assert len(held(store)) == 1
    assert "<memory-" not in script.prompts[0].text


# -- the wrap ------------------------------------------------------------------------------------------------------


def test_a_wrap_by_a_model_that_tells_hooks_is_neither_recorded_nor_briefed(store: Store) -> None:
    script = Script(Say("Noted."), Say(lambda prompt: honest_document(prompt.text, about=FACT)))
    agent = agent_of(script)
    agent.llm = TellsHooks(model="scripted", script=script)
    with session(store, options=EACH_RUN):
        crew_of(agent, FACT).kickoff()
    assert store.status().wraps == 1
    assert told(store) == [("user", FACT), ("agent:main", "Noted.")]
    assert 'note="recalled memory' not in script.prompts[-1].text


def test_a_session_is_consolidated_when_the_host_says_so(store: Store) -> None:
    key = SessionKey(session="s1")
    composed = [Say(lambda prompt: honest_document(prompt.text, about=FACT))] * 2
    with session(store, session="s1") as memory:
        crew(Say("Noted."), *composed).kickoff(asks(FACT))
        assert memory.end_session(key).status.value == "not_due"
        assert memory.end_session(key, now=True).status.value == "committed"
        assert memory.end_session(key, now=True).status.value == "empty"
        assert memory.end_session(SessionKey(session="unknown"), now=True).status.value == "not_due"


def test_the_model_of_a_sub_agent_composes_nothing(store: Store) -> None:
    script = Script(
        Call("ask", {}), Say("It is four."), Say(lambda prompt: honest_document(prompt.text)), sub=[Say("Four.")]
    )

    @tool("ask")
    def ask() -> str:
        """Ask."""
        return str(crew_of(agent_of(script, "sub"), "2+2").kickoff())

    with session(store, session="s1", options=EACH_RUN):
        crew_of(agent_of(script, tools=[ask]), "Count").kickoff()
    assert store.status().wraps == 1
    assert [(source, text) for source, text in told(store) if text == "Four."] == [
        ("agent:sub", "Four."),
        ("tool:ask", "Four."),
    ]
    assert [text for source, text in told(store) if source == "user"] == ["Count"]
