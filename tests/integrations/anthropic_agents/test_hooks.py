"""What the hooks do besides the contract: what is no person's word, what a conversation still holds, how runs end."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, Message, ResultError, ResultMessage, query

from assay import Episode, Store
from assay.errors import MissingUser
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing import Call, Compose, Say, Script
from assay.testing.composer import honest_document
from assay.testing.stage import FACT, QUESTION
from assay_integrations.anthropic_agents import AssayHooks, AssaySDKClient, session

from .command_line import CommandLine, Machine
from .harness import host_options

MANUAL = SessionOptions(wrap=WrapPolicy.manual())
EACH_RUN = SessionOptions(wrap=WrapPolicy.each_run())


class Desk:
    """A store, a machine with a script, and clients on them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.machine = Machine(Script())
        self.made: list[CommandLine] = []

    def transports(self, name: str = "s1") -> Callable[[ClaudeAgentOptions], CommandLine]:
        def make(options: ClaudeAgentOptions) -> CommandLine:
            self.made.append(CommandLine(self.machine, options, name))
            return self.made[-1]

        return make

    def options(self, **changes: Any) -> ClaudeAgentOptions:
        return replace(host_options(self.machine.script, ["yes"]), **changes)

    def client(self, name: str = "s1", *, memory: SessionOptions = MANUAL, **changes: Any) -> AssaySDKClient:
        return AssaySDKClient(self.path, self.options(**changes), self.transports(name), memory_options=memory)

    def say(self, *steps: Any, agent: str = "main") -> None:
        self.machine.script.extend(*steps, agent=agent)

    def episodes(self) -> list[Episode]:
        with Store(self.path) as store:
            return list(store.episodes.list(limit=1_000))

    def texts(self) -> list[str]:
        return [episode.content for episode in self.episodes()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "memory.db")


async def told(client: AssaySDKClient, text: str) -> ResultMessage:
    await client.query(text)
    last: Message | None = None
    async for message in client.receive_response():
        last = message
    assert isinstance(last, ResultMessage)
    return last


def conversation(desk: Desk, *texts: str, name: str = "s1", **options: Any) -> list[ResultMessage]:
    async def run() -> list[ResultMessage]:
        async with desk.client(name, **options) as client:
            return [await told(client, text) for text in texts]

    return asyncio.run(run())


# -- what is no person's word ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        "<task-notification>\n<status>completed</status>\n</task-notification>",
        "<teammate-message teammate_id='b'>approve it</teammate-message>",
        "Continue from where you left off.",
    ],
)
def test_a_prompt_that_the_host_makes_is_not_the_persons(desk: Desk, prompt: str) -> None:
    desk.say(Say("Hello."), Say("I see."))
    conversation(desk, "Hi", prompt)
    assert desk.texts() == ["Hi", "Hello.", "I see."]
    assert [episode.source for episode in desk.episodes()].count("user") == 1


def test_a_sub_agent_in_the_background_answers_within_the_run_that_it_was_asked_in(desk: Desk) -> None:
    desk.say(Say("It is working on it."), Say("It has found it."))
    desk.machine.background = True
    conversation(desk, "Let it look", "<task-notification>done</task-notification>")
    held = desk.episodes()
    assert [(episode.source, episode.content) for episode in held] == [
        ("user", "Let it look"),
        ("agent", "It is working on it."),
        ("agent:sub", "I found it at last."),
        ("agent", "It has found it."),
    ]
    assert len({episode.run for episode in held}) == 1


def test_a_sub_agents_tools_are_its_own(desk: Desk) -> None:
    desk.say(Call("ask_sub", {"question": "How much?"}, "c1"), Say("Three."))
    desk.machine.script._lanes["sub"] += [Call("add", {"a": 1, "b": 2}, "c2"), Say("It makes three.")]
    conversation(desk, "Let it add")
    assert [episode.source for episode in desk.episodes()] == [
        "user",
        "agent",
        "agent:sub",
        "tool:add",
        "agent:sub",
        "tool:Agent",
        "agent",
    ]


def test_a_stop_that_the_users_hook_blocks_is_followed_to_its_end(desk: Desk) -> None:
    blocked: list[str] = []

    async def once(given: Any, tool_use_id: str | None, context: Any) -> Any:
        if blocked:
            return {}
        blocked.append(given["last_assistant_message"])
        return {"decision": "block", "reason": "Check it again."}

    desk.say(Say("Two."), Call("add", {"a": 1, "b": 2}), Say("Three."))
    (result,) = conversation(desk, "How much?", hooks={"Stop": [HookMatcher(hooks=[once])]})
    assert (blocked, result.result) == (["Two."], "Three.")
    assert desk.texts() == ["How much?", "Two.", 'add {"a": 1, "b": 2}', "3", "Three."]


# -- what a conversation still holds ---------------------------------------------------------------------------------


def test_a_line_is_sent_once_in_a_conversation(desk: Desk) -> None:
    other = "Deploys of the search service go out on Friday mornings"
    desk.say(Say("Noted."), Say("On Tuesday."), Say("Still."), Say("Noted."), Say("On Friday."))
    conversation(desk, FACT, name="first")

    async def run() -> None:
        async with desk.client("second") as client:
            await told(client, QUESTION)
            await told(client, "Are deploys of the billing service on Tuesday?")
            with Store(desk.path) as store:
                store.record(other, session="elsewhere")
            await told(client, "When do deploys of the search service go out?")

    asyncio.run(run())
    held = "\n".join(text for _, text in desk.machine.transcripts["second"])
    assert held.count(FACT) == held.count(other) == 1


def test_what_was_summed_up_is_sent_again(desk: Desk) -> None:
    desk.say(Say("Noted."), Say("On Tuesday."), Say("On Tuesday."))
    conversation(desk, FACT, name="first")
    conversation(desk, QUESTION, "/compact", QUESTION, name="second")
    held = "\n".join(text for _, text in desk.machine.transcripts["second"])
    assert held.count(FACT) == 1, "of the first copy nothing is left but the summary"
    assert FACT in desk.machine.script.prompts[-1].text


def test_the_continuity_is_sent_once_in_a_conversation(desk: Desk) -> None:
    desk.say(Say("Noted."), Compose(lambda prompt: honest_document(prompt, about=FACT)))
    conversation(desk, FACT, name="first", memory=EACH_RUN)
    desk.say(Say("Hello."), Say("Hello again."))
    conversation(desk, "Good morning", "Good evening", name="second")
    held = "\n".join(text for _, text in desk.machine.transcripts["second"])
    assert held.count("learned_fact") == 1


# -- how runs end ----------------------------------------------------------------------------------------------------


def test_a_limit_of_turns_is_the_runs_failure(desk: Desk) -> None:
    steps = (Call("add", {"a": 1, "b": 2}, "c1"), Say("never said"))
    desk.say(*steps, *steps)
    (result,) = conversation(desk, "Add", max_turns=1)
    assert result.subtype == "error_max_turns"

    async def by_query() -> None:
        made, options = desk.transports("s2"), desk.options(max_turns=1)
        desk.machine.script._lanes["main"] = list(steps)
        async with session(desk.path, transport=made, options=MANUAL) as memory:
            attached = memory.attach(options)
            async for _ in query(prompt="Add", options=attached, transport=made(attached)):
                pass

    with pytest.raises(ResultError, match="maximum number of turns"):
        asyncio.run(by_query())
    failures = [episode for episode in desk.episodes() if episode.success is False]
    assert [episode.session for episode in failures] == ["s1", "s2"]
    assert all("Reached maximum number of turns (1)" in episode.content for episode in failures)


def test_an_interrupted_run_has_not_failed(desk: Desk) -> None:
    asked, waits = threading.Event(), threading.Event()

    def wait(prompt: object) -> str:
        asked.set()
        waits.wait(10)
        return "too late"

    async def run() -> None:
        desk.say(Say(wait))
        async with desk.client(memory=EACH_RUN) as client:
            await client.query("Think")
            await asyncio.to_thread(asked.wait, 10)
            await client.interrupt()
            async for _ in client.receive_response():
                pass
            waits.set()

    asyncio.run(run())
    assert desk.texts() == ["Think"]


def test_a_cancelled_task_passes_and_its_run_has_not_failed(desk: Desk) -> None:
    asked, waits = threading.Event(), threading.Event()

    def wait(prompt: object) -> str:
        asked.set()
        waits.wait(10)
        return "too late"

    async def run() -> None:
        desk.say(Say(wait))
        task = asyncio.create_task(_talk(desk))
        await asyncio.to_thread(asked.wait, 10)
        task.cancel()
        waits.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert desk.texts() == ["Think"]


async def _talk(desk: Desk) -> None:
    async with desk.client(memory=EACH_RUN) as client:
        await told(client, "Think")


# -- the hooks in the host -------------------------------------------------------------------------------------------


def test_the_users_options_stay_as_they_are_and_their_hooks_come_first(tmp_path: Path) -> None:
    async def theirs(given: Any, tool_use_id: str | None, context: Any) -> Any:
        return {}

    with StoreRouter(tmp_path / "memory.db") as router:
        options = ClaudeAgentOptions(hooks={"Stop": [HookMatcher(hooks=[theirs])]}, model="m")
        attached = AssayHooks(router).attach(options)
    assert options.hooks == {"Stop": [HookMatcher(hooks=[theirs])]}
    assert attached.hooks is not None and attached.model == "m"
    assert attached.hooks["Stop"][0].hooks == [theirs]
    ours = [matchers[-1] for matchers in attached.hooks.values()]
    assert all(matcher.timeout and getattr(matcher, "on_failure", None) is None for matcher in ours)


def test_one_object_serves_conversations_side_by_side(desk: Desk) -> None:
    barrier = threading.Barrier(2)

    def meet(prompt: object) -> str:
        barrier.wait(10)
        return "Noted."

    async def talk(memory: AssayHooks, name: str) -> None:
        attached = memory.attach(desk.options())
        async for _ in query(prompt=f"I am {name}", options=attached, transport=desk.transports(name)(attached)):
            pass

    async def run() -> None:
        desk.say(Say(meet), Say(meet))
        async with session(desk.path, options=MANUAL) as memory:
            await asyncio.gather(talk(memory, "one"), talk(memory, "two"))

    asyncio.run(run())
    held = {(episode.session, episode.content) for episode in desk.episodes()}
    assert held == {("one", "I am one"), ("one", "Noted."), ("two", "I am two"), ("two", "Noted.")}


def test_two_memories_on_one_store_record_once(desk: Desk) -> None:
    desk.say(Call("add", {"a": 1, "b": 2}, "c1"), Say("Three."))

    async def run() -> None:
        with StoreRouter(desk.path) as router:
            twice = AssayHooks(router, options=MANUAL).attach(AssayHooks(router, options=MANUAL).attach(desk.options()))
            async for _ in query(prompt="How much?", options=twice, transport=desk.transports()(twice)):
                pass

    asyncio.run(run())
    assert desk.texts() == ["How much?", 'add {"a": 1, "b": 2}', "3", "Three."]


# -- names, wraps and ends -------------------------------------------------------------------------------------------


def test_the_host_may_name_session_and_agent(desk: Desk) -> None:
    desk.say(Say("Noted."))

    async def run() -> None:
        made = desk.transports("an id of the host")
        client = AssaySDKClient(desk.path, desk.options(), made, session="thursday", agent="clerk")
        async with client:
            await told(client, FACT)

    asyncio.run(run())
    assert [(episode.session, episode.source) for episode in desk.episodes()] == [
        ("thursday", "user"),
        ("thursday", "agent:clerk"),
    ]


def test_a_missing_user_is_told_early(tmp_path: Path) -> None:
    for make in (AssaySDKClient, AssayHooks, session):
        with pytest.raises(MissingUser):
            make(tmp_path / "{user}.db")


def test_a_wrap_is_a_conversation_of_its_own_with_nothing_of_the_users(desk: Desk) -> None:
    desk.say(Say("Noted."), Compose(honest_document))
    conversation(desk, FACT, memory=EACH_RUN, model="the-model", system_prompt="You are kind.", env={"A": "b"})
    options = desk.made[-1].options
    assert (options.model, options.env, options.tools, options.max_turns) == ("the-model", {"A": "b"}, [], 1)
    assert not options.hooks and not options.mcp_servers and options.system_prompt is None
    assert "no-session-persistence" in options.extra_args
    assert options.settings == '{"disableAllHooks": true}'
    assert [*desk.machine.transcripts] == ["s1"]


def test_a_session_is_ended_when_the_host_says_so(desk: Desk) -> None:
    async def run() -> tuple[str, str]:
        desk.say(Say("Noted."), Compose(honest_document))
        async with desk.client() as client:
            await told(client, FACT)
            due = await client.end_session()
            now = await client.end_session(SessionKey(None, "s1"), now=True)
            return due.status.value, now.status.value

    assert asyncio.run(run()) == ("not_due", "committed")


def test_a_transport_of_one_conversation_composes_nothing_and_the_log_says_what_to_do(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.say(Say("Noted."))

    async def run() -> None:
        only = desk.transports()(desk.options())
        async with AssaySDKClient(desk.path, desk.options(), only, memory_options=EACH_RUN) as client:
            await told(client, FACT)

    with caplog.at_level(logging.WARNING, "assay.session"):
        asyncio.run(run())
    assert "WrapPolicy.model" in caplog.text
    with Store(desk.path) as store:
        assert store.status().wraps == 0 and store.status().faults


def test_a_consumer_who_stops_at_the_result_is_wrapped_when_the_client_is_left(desk: Desk) -> None:
    async def run() -> None:
        desk.say(Say("Noted."), Compose(honest_document))
        async with desk.client(memory=EACH_RUN) as client:
            await client.query(FACT)
            async for message in client.receive_messages():
                if isinstance(message, ResultMessage):
                    break

    asyncio.run(run())
    with Store(desk.path) as store:
        assert store.status().wraps == 1


def test_a_client_that_is_entered_again_remembers(desk: Desk) -> None:
    async def run() -> str:
        desk.say(Say("Noted."), Say("On Tuesday."), Compose(honest_document))
        client = AssaySDKClient(desk.path, desk.options(), desk.transports(), memory_options=MANUAL)
        for text in (FACT, QUESTION):
            async with client:
                await told(client, text)
        return (await client.end_session(now=True)).status.value

    assert asyncio.run(run()) == "committed"
    assert desk.texts() == [FACT, "Noted.", QUESTION, "On Tuesday."]


def test_an_error_of_the_users_own_is_not_the_runs(desk: Desk) -> None:
    desk.say(Say("Noted."))

    async def run() -> None:
        async with desk.client(memory=EACH_RUN) as client:
            await told(client, FACT)
            raise LookupError("of the user")

    with pytest.raises(LookupError):
        asyncio.run(run())
    assert desk.texts() == [FACT, "Noted."]
