"""What ADK's own machinery does with the plugin, beyond the contract."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent, SequentialAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.adk.workflow import Workflow
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from assay import Episode, Store
from assay.session import Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Fail, HandOff, Say, Script
from assay.testing.composer import honest_document
from assay_integrations.google_adk import AssayPlugin

from .harness import APP, SYSTEM, approve, texts
from .scripted import ScriptedModel

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


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def model(*steps: Any, agent: str = "main") -> ScriptedModel:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    return ScriptedModel(script=script, agent=agent)


def agent(*steps: Any, tools: Any = (add,), name: str = "main", **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=model(*steps), instruction=SYSTEM, tools=[*tools], **more)


def runner(root: Any, *plugins: BasePlugin, sessions: Any = None) -> Runner:
    app = App(name=APP, root_agent=root, plugins=[*plugins])
    return Runner(app=app, session_service=sessions or InMemorySessionService(), auto_create_session=True)


def said(text: str) -> Content:
    return Content(role="user", parts=[Part(text=text)])


async def arun(runner: Runner, given: str | Content = QUESTION, user: str = "ada", session: str = "s1") -> list[Event]:
    content = said(given) if isinstance(given, str) else given
    return [event async for event in runner.run_async(user_id=user, session_id=session, new_message=content)]


def run(runner: Runner, given: str | Content = QUESTION, user: str = "ada", session: str = "s1") -> list[Event]:
    return asyncio.run(arun(runner, given, user, session))


# -- how it is attached --------------------------------------------------------------------------------------------


def test_no_hook_gives_a_value_that_would_end_the_call_for_others() -> None:
    hooks = [hook for name, hook in vars(AssayPlugin).items() if name.endswith("_callback")]
    assert len(hooks) == 9
    assert {inspect.get_annotations(hook)["return"] for hook in hooks} == {"None"}
    assert all(inspect.iscoroutinefunction(hook) for hook in hooks)


def test_two_memories_of_one_app_have_names_of_their_own(store: Store, tmp_path: Path) -> None:
    assert AssayPlugin("memory.db").name == AssayPlugin("memory.db").name
    assert AssayPlugin(store, name="ours").name == "ours"
    with Store(tmp_path / "team.db") as team:
        run(runner(agent(Say("Noted.")), AssayPlugin(store), AssayPlugin(team)), FACT)
        assert told(store) == told(team) == [("user:ada", FACT), (f"agent:{APP}", "Noted.")]


def test_a_runner_that_is_closed_closes_the_stores_and_the_next_run_opens_them(tmp_path: Path) -> None:
    memory = AssayPlugin(tmp_path / "new" / "memory.db")
    mine = runner(agent(Say("Noted."), Say("Again.")), memory)

    async def twice() -> None:
        await arun(mine, FACT)
        await mine.close()
        await arun(mine, "Once more")
        await mine.close()

    asyncio.run(twice())
    with Store(tmp_path / "new" / "memory.db") as store:
        assert [text for _, text in told(store)] == [FACT, "Noted.", "Once more", "Again."]


def test_closing_leaves_a_shared_router_open(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "memory.db") as router:
        asyncio.run(AssayPlugin(router).close())
        run(runner(agent(Say("Noted.")), AssayPlugin(router)), FACT)
        with Store(tmp_path / "memory.db") as store:
            assert len(held(store)) == 2


# -- who and where -------------------------------------------------------------------------------------------------


def test_an_agent_tool_belongs_to_its_callers_session_and_never_wraps(store: Store) -> None:
    sub = LlmAgent(name="helper", description="Counts.", model=model(Script(sub=[Say("Four.")]), agent="sub"))
    main = Script(Call("helper", {"request": "2+2"}), Say("Four, it says."), Say(lambda p: honest_document(p.text)))
    run(runner(agent(main, tools=[AgentTool(sub)]), AssayPlugin(store, options=EACH_RUN)), "Let it count")
    assert len({(episode.session, episode.run) for episode in held(store)}) == 1
    assert told(store) == [
        ("user:ada", "Let it count"),
        (f"agent:{APP}", 'helper {"request": "2+2"}'),
        ("agent:helper", "Four."),
        ("tool:helper", "Four."),
        (f"agent:{APP}", "Four, it says."),
    ]
    assert store.status().wraps == 1


def test_an_agent_that_a_tool_runs_for_another_user_is_not_its_callers(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        memory, script = AssayPlugin(router), Script(Say("Bob is told."))
        other = runner(agent(script), memory)

        async def tell_bob(text: str) -> str:
            """Tell bob."""
            return texts(await arun(other, text, user="bob", session="bobs"))[-1]

        with Store(router.path("ada")) as hers, Store(router.path("bob")) as his:
            hers.record(FACT, session="earlier")
            steps = (Call("tell_bob", {"text": QUESTION}), Say("He knows."))
            run(runner(agent(*steps, tools=[tell_bob]), memory), "Tell bob")
            assert told(his) == [("user:bob", QUESTION), (f"agent:{APP}", "Bob is told.")]
        assert FACT not in script.prompts[0].text


def test_a_run_after_a_run_in_one_task_is_not_nested_in_it(store: Store) -> None:
    steps = (Call("add", {"a": 1, "b": 1}), Say("Two."), Say("Yes."))
    pipeline = SequentialAgent(name="pipeline", sub_agents=[agent(*steps)])

    async def twice() -> None:
        mine = runner(pipeline, AssayPlugin(store))
        await arun(mine, "Count")
        await arun(mine, "Sure?", session="s2")

    asyncio.run(twice())
    assert [text for source, text in told(store) if source == "user:ada"] == ["Count", "Sure?"]
    assert [episode.session for episode in held(store)] == ["s1"] * 4 + ["s2"] * 2


def test_each_step_of_a_pipeline_speaks_under_its_name(store: Store) -> None:
    script = Script(Say("Drafted."), Say("Edited."))
    steps: list[BaseAgent] = [agent(script, name="writer"), agent(script, name="editor")]
    run(runner(SequentialAgent(name="pipeline", sub_agents=steps), AssayPlugin(store)), "Write")
    assert told(store) == [("user:ada", "Write"), ("agent:writer", "Drafted."), ("agent:editor", "Edited.")]


def test_the_agents_of_a_workflow_are_one_run(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("Drafted."), Say("Edited."))
    writer, editor = agent(script, name="writer"), agent(script, name="editor")
    run(runner(Workflow(name="graph", edges=[("START", writer, editor)]), AssayPlugin(store)))
    later = held(store)[1:]
    assert [(episode.source, episode.content) for episode in later] == [
        ("user:ada", QUESTION),
        ("agent:writer", "Drafted."),
        ("agent:editor", "Edited."),
    ]
    assert len({episode.run for episode in later}) == 1
    assert FACT in script.prompts[0].text


def test_a_session_goes_on_with_the_agent_that_took_over(store: Store) -> None:
    script = Script(HandOff("sub"), sub=[Say("I take it."), Say("Still me.")])
    sub = LlmAgent(name="sub", description="Knows.", model=model(script, agent="sub"))
    mine = runner(agent(script, sub_agents=[sub]), AssayPlugin(store))
    run(mine, "Help")
    run(mine, "Who are you?")
    assert told(store) == [
        ("user:ada", "Help"),
        (f"agent:{APP}", f"{APP} -> sub"),
        ("agent:sub", "I take it."),
        ("user:ada", "Who are you?"),
        ("agent:sub", "Still me."),
    ]


# -- what is recorded ----------------------------------------------------------------------------------------------


class Answers(BasePlugin):
    """A plugin of the user's that gives a value of its own in one place."""

    def __init__(self, hook: str, value: Any) -> None:
        super().__init__("answers")
        self._answer = (hook, value)

    def __getattribute__(self, name: str) -> Any:
        if name.endswith("_callback") and name == super().__getattribute__("_answer")[0]:

            async def answer(**given: Any) -> Any:
                return self._answer[1]

            return answer
        return super().__getattribute__(name)


def boom() -> str:
    """Break."""
    raise RuntimeError("out of order")


def test_an_error_that_another_plugin_handles_is_one_failure_and_no_result(store: Store) -> None:
    handles = Answers("on_tool_error_callback", {"error": "try later"})
    run(runner(agent(Call("boom", {}), Say("Later."), tools=[boom]), AssayPlugin(store), handles), "Break it")
    assert [episode.success for episode in held(store)].count(False) == 1
    assert told(store)[2:] == [("tool:boom", "boom failed: RuntimeError: out of order"), (f"agent:{APP}", "Later.")]


def test_what_a_guardrail_replaces_is_not_remembered(store: Store) -> None:
    safe = LlmResponse(content=Content(role="model", parts=[Part(text="I may not say.")]))
    run(runner(agent(Say("The code is 4711.")), AssayPlugin(store), Answers("after_model_callback", safe)), "Tell me")
    assert told(store)[1:] == [(f"agent:{APP}", "I may not say.")]


def test_a_reply_that_no_model_gave_is_remembered(store: Store) -> None:
    cached = LlmResponse(content=Content(role="model", parts=[Part(text="From the cache.")]))
    run(runner(agent(), AssayPlugin(store), Answers("before_model_callback", cached)), "Tell me")
    assert told(store) == [("user:ada", "Tell me"), (f"agent:{APP}", "From the cache.")]


def test_what_other_tools_gave_before_one_broke_is_kept(store: Store) -> None:
    class Both(ScriptedModel):
        def _reply(self, request: Any) -> Content:
            calls = [
                FunctionCall(name="add", args={"a": 1, "b": 2}, id="c1"),
                FunctionCall(name="late", args={}, id="c2"),
            ]
            return Content(role="model", parts=[Part(function_call=call) for call in calls])

    async def late() -> str:
        """Break once the other tool is done."""
        while not [text for source, text in told(store) if source == "tool:add"]:
            await asyncio.sleep(0)
        raise RuntimeError("late")

    root = LlmAgent(name="main", model=Both(script=None), tools=[add, late])
    with pytest.raises(RuntimeError, match="late"):
        run(runner(root, AssayPlugin(store)), "Do both")
    assert ("tool:add", "3") in told(store)
    assert [episode.success for episode in held(store)].count(False) == 1


def test_thoughts_are_not_recorded_and_media_are_named(store: Store) -> None:
    class Thinks(ScriptedModel):
        def _reply(self, request: Any) -> Content:
            return Content(role="model", parts=[Part(text="Hm, a cat?", thought=True), Part(text="A cat.")])

    picture = Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
    page = Part.from_uri(file_uri="gs://zoo/cat.pdf", mime_type="application/pdf")
    given = Content(role="user", parts=[Part(text="What is it?"), picture, page])
    run(runner(LlmAgent(name="main", model=Thinks(script=None)), AssayPlugin(store)), given)
    assert told(store) == [
        ("user:ada", "What is it?\n[image/png]\n[application/pdf gs://zoo/cat.pdf]"),
        (f"agent:{APP}", "A cat."),
    ]


def deploy(service: str) -> str:
    """Deploy a service."""
    return f"{service} is out"


def test_a_call_that_waits_for_approval_has_its_result_afterwards(store: Store) -> None:
    tool = FunctionTool(deploy, require_confirmation=True)
    mine = runner(agent(Call("deploy", {"service": "billing"}, "c1"), Say("Done."), tools=[tool]), AssayPlugin(store))
    asked = next(
        call for event in run(mine, "Deploy") for call in event.get_function_calls() if "request" in str(call.name)
    )
    yes = FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
    run(mine, Content(role="user", parts=[Part(function_response=yes)]))
    assert told(store) == [
        ("user:ada", "Deploy"),
        (f"agent:{APP}", 'deploy {"service": "billing"}'),
        ("tool:deploy", "billing is out"),
        (f"agent:{APP}", "Done."),
    ]
    assert len({episode.run for episode in held(store)}) == 1


def test_an_interrupted_run_goes_on_in_another_process(tmp_path: Path) -> None:
    sessions, script = InMemorySessionService(), Script(Call("approve", {"question": "May I?"}, "c1"))
    root = agent(script, tools=[LongRunningFunctionTool(approve)])
    with Store(tmp_path / "memory.db") as store:
        store.record(FACT, session="earlier")
        run(runner(root, AssayPlugin(store), sessions=sessions))
    script.extend(Say("On Tuesday."))
    with Store(tmp_path / "memory.db") as store:
        yes = FunctionResponse(id="c1", name="approve", response={"result": "yes"})
        run(
            runner(root, AssayPlugin(store), sessions=sessions),
            Content(role="user", parts=[Part(function_response=yes)]),
        )
        later = held(store)[1:]
        assert [episode.content for episode in later] == [
            QUESTION,
            'approve {"question": "May I?"}',
            "yes",
            "On Tuesday.",
        ]
        assert len({episode.run for episode in later}) == 1
    assert FACT in script.prompts[1].text, "the resumed call is briefed as well"


@pytest.mark.parametrize("pieces", [1, 2], ids=["before the answer", "after it"])
def test_a_caller_who_stops_reading_ends_no_run_but_one_that_was_over(store: Store, pieces: int) -> None:
    steps = (Call("add", {"a": 1, "b": 2}), Say("Three."), Say(lambda prompt: honest_document(prompt.text)))
    mine = runner(agent(*steps), AssayPlugin(store, options=EACH_RUN))

    async def stops() -> None:
        stream = mine.run_async(user_id="ada", session_id="s1", new_message=said("Add"))
        for _ in range(1 if pieces == 1 else 3):
            await anext(stream)
        await stream.aclose()

    asyncio.run(stops())
    assert store.status().wraps == pieces - 1
    assert not [episode for episode in held(store) if episode.success is False]


# -- what is injected ----------------------------------------------------------------------------------------------


def test_the_briefing_stays_before_the_question_when_tools_have_answered(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Call("add", {"a": 1, "b": 2}), Say("On Tuesday."))
    run(runner(agent(script), AssayPlugin(store)))
    roles = [message.role for message in script.prompts[1].messages]
    assert roles == ["system", "user", "user", "assistant", "tool"]
    assert FACT in script.prompts[1].messages[1].text


def test_placed_as_system_text_it_follows_the_hosts_own(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("On Tuesday."))
    run(runner(agent(script), AssayPlugin(store, options=SessionOptions(placement=Placement.SYSTEM))))
    (system,), users = script.prompts[0].of("system"), script.prompts[0].of("user")
    assert system.startswith(SYSTEM)
    assert "\n\n<memory-" in system
    assert FACT in system
    assert users == (QUESTION,)


# -- the wrap ------------------------------------------------------------------------------------------------------


def test_a_session_is_consolidated_when_the_host_says_so(store: Store) -> None:
    memory = AssayPlugin(store)
    key = SessionKey("ada", "s1")
    script = Script(Say("Noted."), *[Say(lambda prompt: honest_document(prompt.text, about=FACT))] * 2)
    run(runner(agent(script), memory), FACT)
    assert memory.end_session(key).status.value == "not_due"
    assert memory.end_session(key, now=True).status.value == "committed"
    assert asyncio.run(memory.aend_session(key, now=True)).status.value == "empty"
    assert memory.end_session(SessionKey("ada", "unknown"), now=True).status.value == "not_due"


def test_a_failed_run_is_told_once_and_not_consolidated(store: Store) -> None:
    down = ConnectionError("down")
    with pytest.raises(ConnectionError):
        run(runner(agent(Fail(down)), AssayPlugin(store, options=EACH_RUN)), "Hello")
    assert told(store) == [("user:ada", "Hello"), ("host:google-adk", "run failed: ConnectionError: down")]
    assert store.status().wraps == 0
