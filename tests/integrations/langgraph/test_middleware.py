"""What LangGraph's own machinery does with the middleware, beyond the contract."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRetryMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import ToolRuntime
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from assay import Episode, Store
from assay.session import Placement, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Fail, Meet, Say, Script
from assay.testing.composer import honest_document
from assay.testing.script import Step
from assay_integrations.langgraph import AssayMiddleware

from .harness import SYSTEM
from .scripted import ScriptedModel

FACT = "Deploys of the billing service go out on Tuesday"
QUESTION = "When do deploys of the billing service go out?"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as store:
        yield store


def told(store: Store) -> list[tuple[str, str]]:
    return [(episode.source, episode.content) for episode in held(store)]


def held(store: Store) -> list[Episode]:
    return list(store.episodes.list())


def asks(text: str = QUESTION) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


def at(thread: str | None = "t1", **ids: object) -> Any:
    return {"configurable": {**({"thread_id": thread} if thread else {}), **ids}}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(memory: Any, *steps: Any, tools: Any = (add,), middleware: Any = None, **more: Any) -> Any:
    script = steps[0] if steps and isinstance(steps[0], Script) else Script(*steps)
    layers = middleware if middleware is not None else [memory]
    return create_agent(ScriptedModel(script=script), list(tools), system_prompt=SYSTEM, middleware=layers, **more)


# -- how it is attached --------------------------------------------------------------------------------------------


def test_two_memories_of_one_agent_have_names_of_their_own(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "team.db") as team:
        both = [AssayMiddleware(store), AssayMiddleware(team)]
        agent(None, Say("Noted."), middleware=both).invoke(asks(FACT), at())
        assert told(store) == told(team) == [("user", FACT), ("agent", "Noted.")]


def test_a_name_is_the_same_in_every_process_and_may_be_chosen(store: Store) -> None:
    assert AssayMiddleware("memory.db").name == AssayMiddleware("memory.db").name
    assert AssayMiddleware("memory.db").name != AssayMiddleware("team.db").name
    assert AssayMiddleware(store, name="ours").name == "ours"
    with pytest.raises(AssertionError, match="duplicate"):
        agent(None, middleware=[AssayMiddleware(store), AssayMiddleware(store)])


def test_no_hook_is_used_whose_return_the_host_would_checkpoint() -> None:
    for hook in ("before_model", "abefore_model", "after_model", "aafter_model"):
        assert getattr(AssayMiddleware, hook) is getattr(AgentMiddleware, hook)
    assert "state_schema" not in vars(AssayMiddleware)


def test_every_hook_has_its_twin_for_event_loops() -> None:
    for hook in ("before_agent", "after_agent", "wrap_model_call", "wrap_tool_call"):
        assert inspect.iscoroutinefunction(getattr(AssayMiddleware, f"a{hook}"))
        assert getattr(AssayMiddleware, hook) is not getattr(AgentMiddleware, hook)


def test_a_path_makes_a_store_and_closing_releases_it(tmp_path: Path) -> None:
    memory = AssayMiddleware(tmp_path / "new" / "memory.db")
    agent(memory, Say("Noted.")).invoke(asks(FACT), at())
    memory.close()
    with Store(tmp_path / "new" / "memory.db") as store:
        assert len(held(store)) == 2


def test_closing_leaves_a_shared_router_open(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "memory.db") as router:
        AssayMiddleware(router).close()
        agent(AssayMiddleware(router), Say("Noted.")).invoke(asks(FACT), at())
        with Store(tmp_path / "memory.db") as store:
            assert len(held(store)) == 2


# -- who and where -------------------------------------------------------------------------------------------------


@dataclass
class Context:
    user_id: int


@pytest.mark.parametrize(
    ("config", "context"),
    [(at(user_id="7"), None), (at(user_id=7), None), (at(), Context(7)), (at(user_id="other"), {"user_id": 7})],
    ids=["configurable", "number", "context object", "context dict"],
)
def test_the_user_is_found_where_the_host_keeps_it(tmp_path: Path, config: Any, context: Any) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        agent(AssayMiddleware(router), Say("Noted."), context_schema=Context).invoke(
            asks(FACT), config, context=context
        )
        assert router.users() == ("7",)


def test_runs_without_a_thread_are_sessions_of_their_own_even_at_once(store: Store) -> None:
    barrier = threading.Barrier(2)
    lanes: dict[str, list[Step]] = {
        text: [Meet(barrier), Call("add", {"a": 1, "b": 1}), Say(f"Done: {text}")] for text in ("one", "two")
    }
    both = agent(AssayMiddleware(store), Script(lanes=lanes))
    threads = [threading.Thread(target=lambda text=text: both.invoke(asks(text))) for text in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    by_session: dict[str | None, list[str]] = {}
    for episode in held(store):
        by_session.setdefault(episode.session, []).append(episode.content)
    expected = [[text, 'add {"a": 1, "b": 1}', "2", f"Done: {text}"] for text in lanes]
    assert sorted(by_session.values()) == sorted(expected)


@pytest.mark.parametrize("thread", ["t1", None])
def test_a_sub_agent_belongs_to_its_callers_session(store: Store, thread: str | None) -> None:
    memory = AssayMiddleware(store)
    sub = create_agent(
        ScriptedModel(script=Script(sub=[Say("Forty-two.")]), agent="sub"), middleware=[memory], name="sub"
    )

    @tool
    def ask(question: str) -> str:
        """Ask the sub-agent."""
        return str(sub.invoke({"messages": [HumanMessage(question)]})["messages"][-1].text)

    steps = (Call("ask", {"question": "How many?"}), Say("It says forty-two."))
    agent(memory, *steps, tools=[ask], name="main").invoke(asks("Let it count"), at(thread))
    assert len({(episode.session, episode.run) for episode in held(store)}) == 1
    assert [source for source, text in told(store) if text == "Forty-two."] == ["agent:sub", "tool:ask"]
    assert [text for source, text in told(store) if source == "user"] == ["Let it count"]


def test_an_agent_that_a_tool_runs_for_another_user_is_not_its_callers(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        memory = AssayMiddleware(router)
        script = Script(sub=[Say("Bob is told."), Say("Bob is told again.")])
        other = create_agent(ScriptedModel(script=script, agent="sub"), middleware=[memory], name="other")

        @tool
        def tell_bob(text: str) -> str:
            """Tell bob."""
            return str(other.invoke(asks(text), at("bobs", user_id="bob"))["messages"][-1].text)

        with Store(router.path("ada")) as hers, Store(router.path("bob")) as his:
            hers.record(FACT, session="earlier")
            steps = (Call("tell_bob", {"text": QUESTION}), Say("He knows."))
            agent(memory, *steps, tools=[tell_bob], name="main").invoke(asks("Tell bob"), at(user_id="ada"))
            assert [text for _, text in told(his)] == ["Bob is told."]
            assert ("agent:other", "Bob is told.") not in told(hers)
        assert FACT not in script.prompts[0].text


# -- what is recorded ----------------------------------------------------------------------------------------------


def test_a_raising_tool_still_ends_the_run_of_a_default_agent(store: Store) -> None:
    @tool
    def boom() -> str:
        """Break."""
        raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order"):
        agent(AssayMiddleware(store), Call("boom", {}), tools=[boom]).invoke(asks("Break it"), at())
    assert told(store)[-1] == ("tool:boom", "boom failed: RuntimeError: out of order")


def test_an_error_that_the_host_turns_into_a_message_is_an_error_too(store: Store) -> None:
    @tool
    def page(person: str) -> str:
        """Page a person."""
        raise ToolException(f"no answer from {person}")

    page.handle_tool_error = True
    agent(AssayMiddleware(store), Call("page", {"person": "ada"}), Say("Nobody."), tools=[page]).invoke(
        asks("Page"), at()
    )
    failed = next(episode for episode in held(store) if episode.source == "tool:page")
    assert (failed.success, failed.content) == (False, "page failed: no answer from ada")


def test_the_message_in_a_command_is_the_result_of_its_tool(store: Store) -> None:
    @tool
    def look(runtime: ToolRuntime) -> Command[Any]:
        """Look."""
        return Command(update={"messages": [ToolMessage("nothing there", tool_call_id=runtime.tool_call_id)]})

    agent(AssayMiddleware(store), Call("look", {}), Say("Nothing."), tools=[look]).invoke(asks("Look"), at())
    assert told(store)[1:3] == [("agent", "look {}"), ("tool:look", "nothing there")]


def test_a_command_that_ends_the_run_is_no_handoff(store: Store) -> None:
    @tool
    def stop(runtime: ToolRuntime) -> Command[Any]:
        """Stop."""
        return Command(goto=END, update={"messages": [ToolMessage("stopped", tool_call_id=runtime.tool_call_id)]})

    agent(AssayMiddleware(store), Call("stop", {}), Say("Stopped."), tools=[stop]).invoke(asks("Stop"), at())
    assert [text for _, text in told(store)][:3] == ["Stop", "stop {}", "stopped"]
    assert not [text for _, text in told(store) if "->" in text]


def test_a_structured_response_is_what_the_agent_said(store: Store) -> None:
    class Answer(BaseModel):
        day: str

    steps = (Call("Answer", {"day": "Tuesday"}),)
    agent(AssayMiddleware(store), *steps, response_format=ToolStrategy(Answer)).invoke(asks(), at())
    assert [source for source, _ in told(store)] == ["user", "agent"]
    assert "Tuesday" in told(store)[1][1]


def test_a_call_that_the_host_retries_is_no_failure(store: Store) -> None:
    layers = [AssayMiddleware(store), ModelRetryMiddleware(max_retries=1, initial_delay=0.0)]
    agent(None, Fail(RuntimeError("busy")), Say("Here."), middleware=layers).invoke(asks("Hello"), at())
    assert told(store) == [("user", "Hello"), ("agent", "Here.")]


def test_a_run_that_failed_goes_on_from_its_checkpoint(store: Store) -> None:
    script = Script(Call("add", {"a": 1, "b": 2}), Fail(RuntimeError("down")))
    again = agent(AssayMiddleware(store), script, checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError):
        again.invoke(asks("Add"), at())
    script.extend(Say("Three."))
    again.invoke(None, at())
    assert [text for _, text in told(store)] == [
        "Add",
        'add {"a": 1, "b": 2}',
        "3",
        "run failed: RuntimeError: down",
        "Three.",
    ]


def test_an_interrupted_run_goes_on_in_another_process(tmp_path: Path) -> None:
    @tool
    def approve() -> str:
        """Ask for approval."""
        return str(interrupt("may I?"))

    saver, script = InMemorySaver(), Script(Call("approve", {}))
    with Store(tmp_path / "memory.db") as store:
        store.record(FACT, session="earlier")
        agent(AssayMiddleware(store), script, tools=[approve], checkpointer=saver).invoke(asks(), at())
    script.extend(Say("On Tuesday."))
    with Store(tmp_path / "memory.db") as store:
        later = agent(AssayMiddleware(store), script, tools=[approve], checkpointer=saver)
        later.invoke(Command(resume="yes"), at())
        run = held(store)[1:]
        assert [episode.content for episode in run] == [QUESTION, "approve {}", "yes", "On Tuesday."]
        assert len({episode.run for episode in run}) == 1
    assert FACT in script.prompts[1].text, "the resumed call is briefed as well"


# -- what is injected ----------------------------------------------------------------------------------------------


class Reminds(AgentMiddleware[Any, Any, Any]):
    """A middleware of the user's that adds a human message of its own."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [HumanMessage("Be brief.")]}


def test_the_briefing_stands_before_the_persons_own_words(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("On Tuesday."))
    agent(None, script, middleware=[AssayMiddleware(store), Reminds()]).invoke(asks(), at())
    users = script.prompts[0].of("user")
    assert FACT in users[0]
    assert users[1:] == (QUESTION, "Be brief.")


def test_placed_as_system_text_it_follows_the_hosts_own(store: Store) -> None:
    store.record(FACT, session="earlier")
    script = Script(Say("On Tuesday."))
    agent(AssayMiddleware(store, options=SessionOptions(placement=Placement.SYSTEM)), script).invoke(asks(), at())
    (system,), users = script.prompts[0].of("system"), script.prompts[0].of("user")
    assert system.startswith(f"{SYSTEM}\n\n<memory-")
    assert FACT in system
    assert users == (QUESTION,)


def test_a_system_prompt_of_blocks_keeps_its_blocks(store: Store) -> None:
    store.record(FACT, session="earlier")
    block = {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}
    seen: list[Any] = []

    class Looks(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            seen.extend(request.system_message.content)
            return handler(request)

    memory = AssayMiddleware(store, options=SessionOptions(placement=Placement.SYSTEM))
    model = ScriptedModel(script=Script(Say("On Tuesday.")))
    create_agent(model, system_prompt=SystemMessage([block]), middleware=[memory, Looks()]).invoke(asks(), at())
    assert seen[0] == block
    assert FACT in seen[1]["text"]


# -- the wrap ------------------------------------------------------------------------------------------------------


def test_a_wrap_is_in_no_event_of_the_host(store: Store) -> None:
    script = Script(Say("Noted."), Say(lambda prompt: honest_document(prompt.text, about=FACT)))
    noting = agent(AssayMiddleware(store, options=EACH_RUN), script)

    async def events() -> list[Any]:
        return [event async for event in noting.astream_events(asks(FACT), at(), version="v2")]

    shown = str(asyncio.run(events()))
    assert store.status().wraps == 1
    assert "Noted." in shown
    assert "learned_fact" not in shown
    assert "assay-wrap" not in shown


def test_a_session_is_consolidated_when_the_host_says_so(store: Store) -> None:
    memory = AssayMiddleware(store)
    key = SessionKey(session="t1")
    script = Script(Say("Noted."), *[Say(lambda prompt: honest_document(prompt.text, about=FACT))] * 2)
    agent(memory, script).invoke(asks(FACT), at())
    assert memory.end_session(key).status.value == "not_due"
    assert memory.end_session(key, now=True).status.value == "committed"
    assert asyncio.run(memory.aend_session(key, now=True)).status.value == "empty"
    assert memory.end_session(SessionKey(session="unknown"), now=True).status.value == "not_due"


def test_the_model_of_a_sub_agent_composes_nothing(store: Store) -> None:
    memory = AssayMiddleware(store, options=EACH_RUN)
    sub = create_agent(ScriptedModel(script=Script(sub=[Say("Four.")]), agent="sub"), middleware=[memory], name="sub")
    ask = StructuredTool.from_function(
        lambda: str(sub.invoke(asks("2+2"))["messages"][-1].text), name="ask", description="Ask."
    )
    composed = Say(lambda prompt: honest_document(prompt.text))
    agent(memory, Call("ask", {}), Say("It is four."), composed, tools=[ask], name="main").invoke(asks("Count"), at())
    assert store.status().wraps == 1
