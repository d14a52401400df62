"""A memory for one agent of AG2 classic: records what it is told and says, and briefs every call of its model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.session import guard
from assay_integrations.autogen.ag2_classic import events
from assay_integrations.autogen.ag2_classic.items import Call, calls_of, results_of, words
from assay_integrations.autogen.ag2_classic.place import AgentTalk
from autogen import Agent, ConversableAgent

__all__ = ["Hooks"]

_BEFORE_REPLY = "process_all_messages_before_reply"


class Hooks:
    """The hooks of one agent of a conversation."""

    def __init__(self, talk: AgentTalk, agent: ConversableAgent) -> None:
        self._talk = talk
        self._agent = agent
        self._calls: list[Call] = []
        self._hooks: dict[str, Callable[..., Any]] = {
            _BEFORE_REPLY: self.before_reply,
            "process_message_before_send": self.before_send,
        }

    def attach(self) -> None:
        """Put the hooks behind those that the agent has.

        Raises:
            ValueError: The memory of another conversation is attached to it: each would hear the other's chats.
        """
        if any(isinstance(getattr(hook, "__self__", None), Hooks) for hook in self._agent.hook_lists[_BEFORE_REPLY]):
            raise ValueError(f"a memory is attached to {self._agent.name}: detach it first")
        for place, hook in self._hooks.items():
            self._agent.register_hook(place, hook)  # pyright: ignore[reportUnknownMemberType]

    def detach(self) -> None:
        """Take the hooks out of the agent's lists; the host has no call for it."""
        for place, hook in self._hooks.items():
            if hook in self._agent.hook_lists[place]:
                self._agent.hook_lists[place].remove(hook)

    def before_reply(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Record what the agent is told last, and give its model the briefing besides."""
        if not messages:
            return messages
        session = self._talk.session
        with guard(session, "record"):
            self._hear(messages[-1])
        with guard(session, "briefing"):
            return events.briefed(session, messages)
        return messages

    def before_send(
        self, sender: Agent, message: dict[str, Any] | str, recipient: Agent, silent: bool | None
    ) -> dict[str, Any] | str:
        """Record what the agent says, and which tools it calls."""
        talk = self._talk
        if not talk.nested(self):
            talk.sessions.keep_model(talk.session, self._agent)
        with guard(talk.session, "record"):
            self._say(message)
        return message

    def _hear(self, message: dict[str, Any]) -> None:
        talk = self._talk
        nested, results = talk.nested(self), results_of(message)
        if results:
            calls, self._calls = self._calls, []
            talk.calling.pop(self, None)
            events.returned(talk.session.named(self._agent.name), results, calls)
        elif not nested and self._is_a_person(message):
            events.asked(talk.session, words(message), begins=not talk.watched)

    def _say(self, message: dict[str, Any] | str) -> None:
        talk = self._talk
        speaker = talk.session.named(self._agent.name)
        calls = [] if isinstance(message, str) else calls_of(message)
        answers = not isinstance(message, str) and message.get("role") == "tool"
        text = "" if answers else words(message)
        if text:
            speaker.agent_message(text)
        if calls:
            self._calls = calls
            talk.calling[self] = self._agent.name
            events.called(speaker, calls)
        elif text and not talk.watched and not talk.nested(self):
            talk.session.run_ended(None)

    def _is_a_person(self, message: dict[str, Any]) -> bool:
        """Tell whether a person speaks: an agent without a model does so for one, in a chat with this agent."""
        name = message.get("name")
        partner = next((one for one in self._agent.chat_messages if one.name == name), None)
        return name in self._talk.people or (partner is not None and not getattr(partner, "llm_config", None))
