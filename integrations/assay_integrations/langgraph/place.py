"""Where a hook of LangGraph stands: whose conversation it is in, in which run, and how deep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, ensure_config

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, field_of
from assay.session import Sessions as Shared

__all__ = ["Sessions", "asked", "thread_id"]

_TOOLS_NODE = "tools:"


class Sessions(Shared[BaseChatModel]):
    """Finds the session that a hook, a tool or a node of a graph belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="langgraph")

    def of_agent(self, context: object, messages: Sequence[BaseMessage]) -> Session | None:
        """Give the session of an agent's hook; None, with a counted fault, when the user is missing."""
        return self.guarded(lambda: self._of_agent(context, messages, ensure_config()))

    def of_tool(self, context: object, messages: Sequence[BaseMessage]) -> Session | None:
        """Give the session of the agent that called a tool; None as above."""
        return self.guarded(lambda: self._of_tool(_key(context, messages, ensure_config()), messages))

    def _of_agent(self, context: object, messages: Sequence[BaseMessage], config: RunnableConfig) -> Session:
        key = _key(context, messages, config)
        session = self._of_tool(key, messages)
        return session.sub(key.agent) if self.called or _nested(config) else session

    def _of_tool(self, key: SessionKey, messages: Sequence[BaseMessage]) -> Session:
        return self._caller(key) or self._at(key, messages)

    def _caller(self, key: SessionKey) -> Session | None:
        """Give the session whose tool is running, unless that tool runs an agent for another user or thread."""
        caller = self.caller(key.user)
        return caller if caller is not None and key.session in (None, caller.key.session) else None

    def _at(self, key: SessionKey, messages: Sequence[BaseMessage]) -> Session:
        # A thread has one run at a time, and a resumed run another id than the interrupted one. Runs without a thread
        # are told apart by the message that began them.
        human = asked(messages) if key.session is None else None
        return self.of_key(key, run=human.id if human else None)


def asked(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """Give the newest message of the person, or None."""
    return next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)


def thread_id() -> str | None:
    """Give the thread of the run that is going on, or None."""
    return _text(_configurable(ensure_config()).get("thread_id"))


def _key(context: object, messages: Sequence[BaseMessage], config: RunnableConfig) -> SessionKey:
    """Say who is speaking; the config of a run is made anew whenever it is asked for, so a hook asks once."""
    settings = _configurable(config)
    user = field_of(context, "user_id") or settings.get("user_id")
    return SessionKey(_text(user), _text(settings.get("thread_id")), _agent(messages, config))


def _text(name: object) -> str | None:
    return None if name is None else str(name)


def _configurable(config: RunnableConfig) -> Mapping[str, Any]:
    return config.get("configurable", {})


def _agent(messages: Sequence[BaseMessage], config: RunnableConfig) -> str | None:
    """Give the `name=` of the agent that is running.

    Its factory puts it into the metadata, which older releases of LangGraph do not pass to an agent that is a node of
    a graph, and on what its model says.
    """
    spoken = next((message.name for message in reversed(messages) if isinstance(message, AIMessage)), None)
    return config.get("metadata", {}).get("lc_agent_name") or spoken


def _nested(config: RunnableConfig) -> bool:
    """Tell whether the agent that is running was called by a tool: then its namespace lies in that of a tools node."""
    around = str(_configurable(config).get("checkpoint_ns", "")).split("|")[:-1]
    return any(node.startswith(_TOOLS_NODE) for node in around)
