"""Assay as components of a pipeline: one that asks a memory, and one that adds to it."""

from __future__ import annotations

from typing import Any

from assay.session import SessionKey, SessionOptions, StoreRouter, Target
from assay_integrations.haystack.events import add
from assay_integrations.haystack.place import Sessions
from haystack import component
from haystack.dataclasses import ChatMessage, Document

__all__ = ["AssayMemoryRetriever", "AssayMemoryWriter"]


@component
class AssayMemoryRetriever:
    """Gives what a memory holds for a query.

    Args:
        target: What `AssayHook` takes.
        top_k: Number of documents at most.

    Raises:
        AssayError: The store failed: in a pipeline nothing is swallowed.
    """

    def __init__(self, target: Target | StoreRouter, *, top_k: int = 10, options: SessionOptions | None = None) -> None:
        self.target, self.top_k, self.options = target, top_k, options
        self._sessions = Sessions(target, options)

    @component.output_types(documents=list[Document], block=str)
    def run(self, query: str, user_id: str | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Ask the memory.

        Returns:
            `documents`: what answers the query, best first, each with `ref` and `trust` in its `meta`. `block`: the
            text for a prompt, fenced as data and with the continuity; "" when nothing is relevant.
        """
        session = self._sessions.of_key(SessionKey(user_id))
        with session.store() as store:
            hits = store.recall(query, limit=top_k or self.top_k)
        block = session.found(query)
        documents = [
            Document(id=hit.ref, content=hit.text, score=hit.score, meta={"ref": hit.ref, "trust": hit.trust.value})
            for hit in hits
        ]
        return {"documents": documents, "block": block}

    def close(self) -> None:
        """Close the stores that it opened."""
        self._sessions.close()


@component
class AssayMemoryWriter:
    """Adds the messages of a conversation to a memory, as the hooks of an agent would.

    Args:
        target: What `AssayHook` takes.
        agent: Name under which the words of the assistant are recorded.

    Raises:
        AssayError: The store failed: in a pipeline nothing is swallowed.
    """

    def __init__(
        self, target: Target | StoreRouter, *, agent: str | None = None, options: SessionOptions | None = None
    ) -> None:
        self.target, self.agent, self.options = target, agent, options
        self._sessions = Sessions(target, options)

    @component.output_types(messages_written=int)
    def run(
        self, messages: list[ChatMessage], user_id: str | None = None, session_id: str | None = None
    ) -> dict[str, int]:
        """Add messages that it was not given before, which make up a run, and give their number."""
        session = self._sessions.of_key(SessionKey(user_id, session_id, self.agent))
        return {"messages_written": add(session, messages)}

    def close(self) -> None:
        """Close the stores that it opened."""
        self._sessions.close()
