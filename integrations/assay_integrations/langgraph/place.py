"""Where a hook of LangGraph stands: whose conversation it is in, in which run, and how deep."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import ensure_config

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard

__all__ = ["Sessions", "asked", "field", "thread_id"]

_TOOLS_NODE = "tools:"
_UNNAMED = "sub-agent"

# The sessions whose tools are running: a sub-agent inside belongs to its caller's, even where no thread id says so.
_calling: ContextVar[Mapping[StoreRouter, Session]] = ContextVar(
    "assay_langgraph_calling", default=MappingProxyType({})
)


class Sessions:
    """Finds the session that a hook, a tool or a node of a graph belongs to.

    Args:
        target: What holds the memory; a `StoreRouter` is shared with whoever else holds it.
    """

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        self.router = StoreRouter.of(target)
        self.options = options or SessionOptions()
        self._owned = self.router is not target

    def of_agent(self, context: object, messages: Sequence[BaseMessage]) -> Session | None:
        """Give the session of an agent's hook; None, with a counted fault, when the user is missing."""
        return guard.value(self.router, lambda: self._of_agent(_key(context, messages), messages), None, "session")

    def of_tool(self, context: object, messages: Sequence[BaseMessage]) -> Session | None:
        """Give the session of the agent that called a tool; None as above."""
        return guard.value(self.router, lambda: self._of_tool(_key(context, messages), messages), None, "session")

    @contextmanager
    def calling(self, session: Session) -> Generator[None, None, None]:
        """Mark the block as a tool that the session's agent has called."""
        token = _calling.set({**_calling.get(), self.router: session})
        try:
            yield
        finally:
            _calling.reset(token)

    def of_key(self, key: SessionKey) -> Session:
        """Give the session of a key.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        return self.router.session(key, options=self.options, host="langgraph")

    def close(self) -> None:
        """Close the stores that were opened here; a router that was handed in is its owner's to close."""
        if self._owned:
            self.router.close()

    def _of_agent(self, key: SessionKey, messages: Sequence[BaseMessage]) -> Session:
        session = self._of_tool(key, messages)
        called = _nested() or self.router in _calling.get()
        return session.sub(key.agent or _UNNAMED) if called else session

    def _of_tool(self, key: SessionKey, messages: Sequence[BaseMessage]) -> Session:
        return self._caller(key) or self._at(key, messages)

    def _caller(self, key: SessionKey) -> Session | None:
        """Give the session whose tool is running, unless that tool runs an agent for another user or thread."""
        caller = _calling.get().get(self.router)
        if caller is None or caller.key.user != key.user or key.session not in (None, caller.key.session):
            return None
        return caller

    def _at(self, key: SessionKey, messages: Sequence[BaseMessage]) -> Session:
        # A thread has one run at a time, and a resumed run another id than the interrupted one. Runs without a thread
        # are told apart by the message that began them.
        human = asked(messages) if key.session is None else None
        return self.router.session(key, run=human.id if human else None, options=self.options, host="langgraph")


def asked(messages: Sequence[BaseMessage]) -> HumanMessage | None:
    """Give the newest message of the person, or None."""
    return next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)


def field(thing: object, name: str) -> Any:
    """Read a field of a context or a state, which are dicts or objects as their author likes."""
    return cast("dict[str, Any]", thing).get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def thread_id() -> str | None:
    """Give the thread of the run that is going on, or None."""
    thread = _configurable().get("thread_id")
    return None if thread is None else str(thread)


def _key(context: object, messages: Sequence[BaseMessage]) -> SessionKey:
    user = field(context, "user_id") or _configurable().get("user_id")
    return SessionKey(None if user is None else str(user), thread_id(), _agent(messages))


def _configurable() -> Mapping[str, Any]:
    return ensure_config().get("configurable", {})


def _agent(messages: Sequence[BaseMessage]) -> str | None:
    """Give the `name=` of the agent that is running.

    Its factory puts it into the metadata, which older releases of LangGraph do not pass to an agent that is a node of
    a graph, and on what its model says.
    """
    spoken = next((message.name for message in reversed(messages) if isinstance(message, AIMessage)), None)
    return ensure_config().get("metadata", {}).get("lc_agent_name") or spoken


def _nested() -> bool:
    """Tell whether the agent that is running was called by a tool: then its namespace lies in that of a tools node."""
    around = str(_configurable().get("checkpoint_ns", "")).split("|")[:-1]
    return any(node.startswith(_TOOLS_NODE) for node in around)
