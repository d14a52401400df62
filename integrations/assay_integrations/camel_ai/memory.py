"""A memory of CAMEL's agents: keeps their records where the host would, records what they say, and briefs them."""

from __future__ import annotations

from copy import copy
from typing import Any

from camel.memories import AgentMemory, BaseContextCreator, ContextRecord, MemoryRecord
from camel.messages import OpenAIMessage

from assay.session import Placement, SessionKey, SessionOptions, StoreRouter, Target, WrapResult
from assay_integrations.camel_ai import items
from assay_integrations.camel_ai.composing import acompose, compose
from assay_integrations.camel_ai.place import Seat, Sessions

__all__ = ["AssayAgentMemory"]


class AssayAgentMemory(AgentMemory):
    """Gives one agent a memory that outlives its conversation.

    It is for an `AssayChatAgent`, which says how its steps end and composes the wraps. Any other agent takes it too,
    with an inner memory: its last record ends a step, and failures are not seen.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        user: Whose memory it is; a store for one user needs none.
        session: The conversation; by default the id of the agent.
        agent: The name under which the agent's words are recorded.
        inner: Keeps the records of the conversation; by default what an `AssayChatAgent` would have.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        memory = AssayAgentMemory("memory/{user}.db", user="ada")
        agent = AssayChatAgent("You are helpful.", model=model, memory=memory)
    """

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        inner: AgentMemory | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self.seat = Seat(Sessions(target, options), SessionKey(user, session, agent))
        self.inner = inner

    def sub(self, agent: str) -> AssayAgentMemory:
        """Give the memory of an agent that works for this one's: in a tool, or as a worker.

        Its task is not taken for the person's words, and it never consolidates.
        """
        return self._seated(self.seat.sub(agent))

    def again(self) -> AssayAgentMemory:
        """Give the memory of a clone, which keeps its own records."""
        return self._seated(self.seat.again())

    # -- what the agent is shown -----------------------------------------------------------------------------------

    def get_context(self) -> tuple[list[OpenAIMessage], int]:
        """Give the conversation as a call of the model receives it, with the briefing."""
        return self.get_context_creator().create_context(self._briefed(self.retrieve()))

    def retrieve(self) -> list[ContextRecord]:
        """Give the conversation as it was held: the host writes down elsewhere what it gets here."""
        return self._kept.retrieve()

    def get_context_creator(self) -> BaseContextCreator:
        """Give what makes a prompt of records."""
        return self._kept.get_context_creator()

    # -- what the host keeps ---------------------------------------------------------------------------------------

    @property
    def agent_id(self) -> str | None:
        """Give the id of the agent."""
        return self._kept.agent_id

    @agent_id.setter
    def agent_id(self, val: str | None) -> None:
        self._kept.agent_id = val
        self.seat.agent_id = val

    def write_records(self, records: list[MemoryRecord]) -> None:
        """Keep records, and record what they say."""
        self._kept.write_records(records)
        self.seat.hear(records)

    def clear(self) -> None:
        """Forget the conversation; what was recorded of it stays: `store.erase` removes that."""
        self._kept.clear()

    def pop_records(self, count: int) -> list[MemoryRecord]:
        """Take the newest records away; what was recorded of them stays."""
        return self._kept.pop_records(count)

    def remove_records_by_indices(self, indices: list[int]) -> list[MemoryRecord]:
        """Take some records away; what was recorded of them stays."""
        return self._kept.remove_records_by_indices(indices)

    def clean_tool_calls(self) -> None:
        """Take the calls of tools away, as an agent does that is told to prune them."""
        self._kept.clean_tool_calls()

    def __getattr__(self, name: str) -> Any:
        """Give what the host looks for in its own memories, such as the size of a window."""
        if name in ("inner", "seat") or self.inner is None:
            raise AttributeError(name)
        return getattr(self.inner, name)

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, *, now: bool = False) -> WrapResult:
        """Consolidate the session, which is over, with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self.seat.sessions.end(self.seat.key, compose, now=now)

    async def aend_session(self, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self.seat.sessions.aend(self.seat.key, acompose, now=now)

    def close(self) -> None:
        """Close the stores that it opened; steps after this are not remembered."""
        self.seat.sessions.close()

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _kept(self) -> AgentMemory:
        if self.inner is None:
            raise ValueError("give the memory to an AssayChatAgent, or an inner memory of the host's own to it")
        return self.inner

    def _seated(self, seat: Seat) -> AssayAgentMemory:
        made = copy(self)
        made.seat, made.inner = seat, None
        return made

    def _briefed(self, records: list[ContextRecord]) -> list[ContextRecord]:
        step = self.seat.step
        if step is None or not step.block:
            return records
        if step.session.options.placement is Placement.DATA:
            return items.before(records, step.question, step.block)
        return items.as_system(records, step.block)
