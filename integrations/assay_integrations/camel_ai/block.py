"""A block of long-term memory for the user's own memories of CAMEL."""

from __future__ import annotations

from camel.memories import ContextRecord, MemoryBlock, MemoryRecord

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, guard
from assay_integrations.camel_ai import items
from assay_integrations.camel_ai.place import Seat, Sessions

__all__ = ["AssayMemoryBlock"]


class AssayMemoryBlock(MemoryBlock):
    """Records what it is given, and is searched like a `VectorDBBlock`, by Assay's own ranking: no embedder is asked.

    What a `LongtermAgentMemory` finds in it becomes part of what the host shows and saves; an `AssayAgentMemory`
    keeps it out.

    Args:
        target: What `AssayAgentMemory` takes, and so are `user`, `session`, `agent` and `options`.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        block = AssayMemoryBlock("memory/{user}.db", user="ada", session="monday")
        agent = ChatAgent("You are helpful.", memory=LongtermAgentMemory(creator, vector_db_block=block))
    """

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self._seat = Seat(Sessions(target, options), SessionKey(user, session, agent))

    def write_records(self, records: list[MemoryRecord]) -> None:
        """Record what records say; a system message is nobody's words."""
        self._seat.hear(records)

    def clear(self) -> None:
        """Keep everything: a block that outlives conversations is emptied by `store.erase`."""

    def retrieve(self, keyword: str, limit: int = 3) -> list[ContextRecord]:
        """Find what bears on a text: one record with a fenced block, or none.

        Args:
            limit: Accepted and ignored: the size of a block is `SessionOptions.tokens`.
        """
        step = self._seat.step
        session = step.session if step is not None else self._seat.sessions.of_key(self._seat.key)
        text = step.block if step is not None else guard.value(session, lambda: session.found(keyword), "")
        return [items.of_block(text)] if text else []

    def close(self) -> None:
        """Close the stores that it opened."""
        self._seat.sessions.close()
