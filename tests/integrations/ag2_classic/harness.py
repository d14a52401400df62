"""Drives real agents of AG2 classic for the contract: `initiate_chat` and its async twin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any

from autogen import ChatResult, ConversableAgent

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing import ControlFlow, Entry, Outcome, Script
from assay.testing.stage import ADA
from assay_integrations.autogen.ag2_classic import session
from assay_integrations.autogen.ag2_classic.running import SessionMemory

from .scripted import scripted

__all__ = ["AG2ClassicHarness", "Built", "Chat", "person"]

Opens = Callable[..., AbstractContextManager[SessionMemory]]


@dataclass
class Chat:
    """One user's conversation: the agent, who speaks to it, the memory, and what ends that."""

    main: ConversableAgent
    user: ConversableAgent
    memory: SessionMemory | None
    stack: ExitStack


@dataclass
class Built:
    """What it takes to make the agents of a conversation: this host's agents hold one with each other agent."""

    make: Callable[[SessionKey], Chat]
    log: list[str]
    chats: dict[SessionKey, Chat] = field(default_factory=dict[SessionKey, Chat])

    def of(self, key: SessionKey) -> Chat:
        if key not in self.chats:
            self.chats[key] = self.make(key)
        return self.chats[key]


class AG2ClassicHarness:
    """The harness of AG2 classic; `binding` opens the memory under test."""

    entries = frozenset({Entry.SYNC, Entry.ASYNC})
    control_flow: tuple[ControlFlow, ...] = ()
    package = "assay_integrations.autogen.ag2_classic"
    extra = "ag2-classic"
    framework = ("autogen",)

    def __init__(self, binding: Opens = session) -> None:
        self._binding = binding

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions | None = None,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> Built:
        log = list[str]()

        def make(key: SessionKey) -> Chat:
            stack, ours = ExitStack(), None
            if memory is not None:
                named = {"user": key.user, "session": key.session}
                ours = stack.enter_context(self._binding(memory, options=options, **named))
            main, user = _agents(script, ours if sub_agent else None, sub_agent=sub_agent)
            if user_hooks:
                _hook(main, "first", log)
            if ours is not None:
                ours.attach(main)
            if user_hooks:
                _hook(main, "last", log)
            return Chat(main, user, ours, stack)

        return Built(make, log)

    def run(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        chat = agent.of(key)
        given: dict[str, Any] = {"message": text, "clear_history": False, "silent": True}

        def run() -> ChatResult:
            with nullcontext() if chat.memory is None else chat.memory.run():
                return chat.user.initiate_chat(chat.main, **given)

        async def arun() -> ChatResult:
            async with nullcontext() if chat.memory is None else chat.memory.run():
                return await chat.user.a_initiate_chat(chat.main, **given)

        try:
            result = asyncio.run(arun()) if entry.awaits else run()
        except BaseException as error:
            return Outcome(error=error)
        return Outcome(str(result.chat_history[-1]["content"]), seen=f"{result.summary} {result.cost}")

    def abandon(self, agent: Built, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        raise NotImplementedError

    def resume(self, agent: Built, value: object, *, key: SessionKey) -> Outcome:
        raise NotImplementedError

    def history(self, agent: Built, key: SessionKey) -> str:
        chat = agent.chats.get(key)
        return "" if chat is None else json.dumps(chat.main.chat_messages[chat.user])

    def user_log(self, agent: Built) -> tuple[str, ...]:
        return tuple(agent.log)

    def save_and_load(self, agent: Built) -> Built:
        """What this host saves is the messages; new agents take them over."""
        loaded = Built(agent.make, agent.log)
        agent.of(ADA)
        for key, chat in agent.chats.items():
            saved = json.loads(json.dumps(chat.main.chat_messages[chat.user]))
            there = loaded.of(key)
            there.main.chat_messages[there.user].extend(saved)
        return loaded

    def detach(self, agent: Built) -> None:
        for chat in agent.chats.values():
            chat.stack.close()
            chat.memory = None

    def snapshot(self) -> object:
        """Nothing of this host is global."""
        return ()


def person(name: str = "user") -> ConversableAgent:
    """Make the agent that speaks for the person and runs the tools, until it has an answer in words."""
    return ConversableAgent(
        name,
        llm_config=False,
        human_input_mode="NEVER",
        max_consecutive_auto_reply=20,
        is_termination_msg=lambda message: not message.get("tool_calls"),
    )


def _agents(
    script: Script, ours: SessionMemory | None, *, sub_agent: bool
) -> tuple[ConversableAgent, ConversableAgent]:
    sub, asker = scripted("sub", script, lane="sub"), person("asker")
    if ours is not None:
        ours.attach(sub)

    def ask_sub(question: str) -> str:
        """Ask the other agent."""
        asked = asker.initiate_chat(sub, message=question, max_turns=1, silent=True)
        return str(asked.chat_history[-1]["content"])

    user = person()
    main = scripted("main", script, *script.tools(), *([ask_sub] if sub_agent else []), executor=user)
    return main, user


def _hook(agent: ConversableAgent, label: str, log: list[str]) -> None:
    """Put hooks of the user's own into every place where ours are, and beside; they write down what they are told."""

    def write(place: str) -> Callable[..., Any]:
        def hook(given: Any = None, **named: Any) -> Any:
            told = {name: getattr(value, "name", value) for name, value in named.items()}
            log.append(f"{label} {place} {given} {told}")
            return named.get("message", given)

        return hook

    for place in (
        "process_last_received_message",
        "process_all_messages_before_reply",
        "process_message_before_send",
        "safeguard_llm_inputs",
        "safeguard_llm_outputs",
    ):
        agent.register_hook(place, write(place))
