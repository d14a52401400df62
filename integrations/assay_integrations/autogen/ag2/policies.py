"""The memory where AG2 lets an app arrange what a model reads, and says when knowledge is put in order."""

from __future__ import annotations

from functools import partial

from ag2.annotations import Context
from ag2.events import BaseEvent
from ag2.knowledge import KnowledgeStore

from assay.session import SessionOptions, StoreRouter, Target, guard
from assay_integrations.autogen.ag2 import events as told
from assay_integrations.autogen.ag2.composing import acompose
from assay_integrations.autogen.ag2.place import Sessions, model_of

__all__ = ["AssayAggregateStrategy", "AssayAssemblyPolicy"]


class AssayAssemblyPolicy:
    """Briefs the model at its place among the policies of `Agent(..., assembly=[...])`; it records nothing.

    It is for agents that only read a memory. Where an `AssayMiddleware` on the same memory briefs, it adds nothing.

    Args:
        target: What `AssayMiddleware` takes.

    Example:
        agent = Agent("reader", config=config, assembly=[AssayAssemblyPolicy(router), SlidingWindowPolicy()])
    """

    name = "assay_memory"

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self._sessions = Sessions(target, options)

    async def apply(
        self, prompts: list[str], events: list[BaseEvent], context: Context
    ) -> tuple[list[str], list[BaseEvent]]:
        """Give prompts and events with the briefing among them."""
        session = self._sessions.of_turn(context)
        if session is not None:
            with guard(session, "briefing"):
                seen, around = await told.briefed(session, events, context)
                return [*prompts, *around.prompt[len(context.prompt) :]], list(seen)
        return prompts, events

    def close(self) -> None:
        """Close the stores that it opened."""
        self._sessions.close()


class AssayAggregateStrategy:
    """Consolidates the memory when `KnowledgeConfig(aggregate_trigger=)` says that it is time.

    Give the `AssayMiddleware` beside it `WrapPolicy.manual()`, so that the host's trigger alone decides. A failure is
    the host's to report: it sends `AggregationFailed`, and the turn goes on.

    Args:
        target: What `AssayMiddleware` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        knowledge = KnowledgeConfig(
            store=AssayKnowledgeStore("files.db"),
            aggregate=AssayAggregateStrategy(router),
            aggregate_trigger=AggregateTrigger(every_n_turns=20),
        )
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self._sessions = Sessions(target, options)

    async def aggregate(self, events: list[BaseEvent], context: Context, store: KnowledgeStore) -> None:
        """Let the agent's own model rewrite what the memory of the turn's session holds.

        Raises:
            AssayError: The store failed.
        """
        session, model = self._sessions.of_tool(context), model_of(context)
        if session is not None and model is not None:
            await session.aio.wrap(partial(acompose, model), now=True)

    def close(self) -> None:
        """Close the stores that it opened."""
        self._sessions.close()
