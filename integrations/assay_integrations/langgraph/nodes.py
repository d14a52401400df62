"""A memory for the nodes of a graph of your own, where there is no agent to put a middleware on."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay_integrations.langgraph import events
from assay_integrations.langgraph.composing import compose
from assay_integrations.langgraph.place import Sessions
from langgraph.errors import GraphBubbleUp

__all__ = ["NodeMemory", "session"]


class NodeMemory:
    """What a node does with the memory of one session: brief the messages it sends, record those it has."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._recorded: set[str] = set()

    def brief(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """Give the messages with what memory holds placed before the person's newest one; the state stays as it is."""
        return guard.value(self._session, partial(self._brief, messages), [*messages])

    async def abrief(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """Do the same from an event loop."""
        with guard(self._session, "briefing"):
            return await self._session.aio.run(partial(self._brief, messages))
        return [*messages]

    def record(self, messages: Sequence[AnyMessage]) -> None:
        """Record the messages that were not recorded yet, from the person's newest one on."""
        with guard(self._session, "record"):
            self._record(messages)

    async def arecord(self, messages: Sequence[AnyMessage]) -> None:
        """Do the same from an event loop."""
        with guard(self._session, "record"):
            await self._session.aio.run(partial(self._record, messages))

    def _brief(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        self._record(messages)
        place, asks = events.question(self._session, messages)
        return events.with_briefing(messages, place, self._session.briefing(asks).text)

    def _record(self, messages: Sequence[AnyMessage]) -> None:
        """Tell the session of each message once; a place in the conversation stands in for an id."""
        humans = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
        for place, message in enumerate(messages[humans[-1] :] if humans else ()):
            identity = message.id or f"message-{humans[-1] + place}"
            if identity not in self._recorded:
                self._recorded.add(identity)
                self._tell(message, identity)

    def _tell(self, message: AnyMessage, identity: str) -> None:
        if isinstance(message, HumanMessage):
            self._session.run_started(id=identity)
            self._session.user_message(message.text, id=identity)
        elif isinstance(message, ToolMessage):
            events.returned(self._session, message.name or "tool", message.tool_call_id, message)
        elif isinstance(message, AIMessage):
            events.said(self._session, [message])
            for call in message.tool_calls:
                self._session.tool_call(call["name"], call["args"], call_id=call["id"])
            if not message.tool_calls:
                self._session.run_ended(message.text)


@contextmanager
def session(
    target: Target | StoreRouter,
    *,
    user: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    model: BaseChatModel | None = None,
    options: SessionOptions | None = None,
) -> Generator[NodeMemory, None, None]:
    """Open the memory of one session for the nodes of a graph, and close it at the end of the block.

    Args:
        target: What `AssayMiddleware` takes.
        session: The graph's `thread_id`; one is made up when left out.
        agent: Name under which the agent's own words are recorded.
        model: Consolidates at the end of the block, if it is time.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory.db", session="t1") as memory:
            reply = model.invoke(memory.brief(messages))
            memory.record([*messages, reply])
    """
    sessions = Sessions(target, options)
    try:
        opened = sessions.of_key(SessionKey(user, session, agent))
        try:
            yield NodeMemory(opened)
        except GraphBubbleUp:
            raise
        except Exception as error:
            with guard(opened, "run_failed"):
                opened.run_failed(error)
            raise
        with guard(opened, "end"):
            opened.end(None if model is None else partial(compose, model))
    finally:
        sessions.close()
