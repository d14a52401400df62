"""The verbs of a session as coroutines: they run in order on one thread of the store, and the loop never waits for a disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from assay.model.recall import Briefing
from assay.model.wrap import WrapResult, WrapStatus
from assay.session import tools, wrapping
from assay.session.policy import AnyComposer

if TYPE_CHECKING:
    from assay.session.session import Session

__all__ = ["AsyncSession"]

T = TypeVar("T")


class AsyncSession:
    """Stands for a session in a coroutine; see `Session` for each verb.

    A call whose task is cancelled is still made: an event that was handed over is not lost.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def run_started(self, *, id: str | None = None) -> None:
        """Open a run."""
        await self._call(partial(self._session.run_started, id=id))

    async def user_message(self, text: str, *, id: str | None = None) -> None:
        """Record what the person said."""
        await self._call(partial(self._session.user_message, text, id=id))

    async def agent_message(self, text: str, *, id: str | None = None, agent: str | None = None) -> None:
        """Record what the agent said."""
        await self._call(partial(self._session.agent_message, text, id=id, agent=agent))

    async def tool_call(self, name: str, arguments: object, *, call_id: str | None) -> None:
        """Record that a tool is called."""
        await self._call(partial(self._session.tool_call, name, arguments, call_id=call_id))

    async def tool_result(self, name: str, result: object, *, call_id: str | None) -> None:
        """Record what a tool gave."""
        await self._call(partial(self._session.tool_result, name, result, call_id=call_id))

    async def tool_error(self, name: str, error: BaseException | str, *, call_id: str | None) -> None:
        """Record that a tool failed."""
        await self._call(partial(self._session.tool_error, name, error, call_id=call_id))

    async def handoff(self, source: str, target: str, *, id: str | None = None) -> None:
        """Record that one agent handed the conversation to another."""
        await self._call(partial(self._session.handoff, source, target, id=id))

    async def run_ended(self, output: object) -> None:
        """Close the run."""
        await self._call(partial(self._session.run_ended, output))

    async def run_failed(self, error: BaseException) -> None:
        """Record that the run failed and close it."""
        await self._call(partial(self._session.run_failed, error))

    async def briefing(self, query: str | None = None, *, tokens: int | None = None) -> Briefing:
        """Give what memory holds for a query."""
        return await self._call(partial(self._session.briefing, query, tokens=tokens))

    async def recall(self, query: str) -> str:
        """Search memory for the model: fenced text."""
        return await self._call(partial(tools.recall_tool, self._session, query))

    async def remember(self, text: str) -> str:
        """Keep a text for the model: says under which ref."""
        return await self._call(partial(tools.remember_tool, self._session, text))

    async def run(self, fn: Callable[[], T]) -> T:
        """Run a function of the sync verbs as one step, so that an adapter writes its translation once."""
        return await self._call(fn)

    async def wrap(self, compose: AnyComposer, *, now: bool = False) -> WrapResult:
        """Consolidate if it is time; a composer that is async is awaited on the loop, any other called there."""
        session = self._session
        conversation = session.conversation
        composer = session.options.wrap.model or compose
        steps = wrapping.rounds(conversation, root=session.root, now=now)
        asked = await self._call(partial(wrapping.step, partial(next, steps)))
        while isinstance(asked, str):
            try:
                with conversation.compose():
                    composed = composer(asked)
                    text = composed if isinstance(composed, str) else await composed
            except Exception as error:
                asked = await self._call(partial(wrapping.step, partial(steps.throw, error)))
            else:
                asked = await self._call(partial(wrapping.step, partial(steps.send, text)))
        return asked

    async def end(self, compose: AnyComposer | None = None) -> WrapResult:
        """Close the open run, and wrap if it is time."""
        await self._call(self._session.close_run)
        if compose is None:
            return WrapResult(WrapStatus.NOT_DUE, message="no composer was given")
        return await self.wrap(compose)

    def paused(self) -> AbstractContextManager[None]:
        """Keep what happens inside the block off the record."""
        return self._session.paused()

    async def _call(self, fn: Callable[[], T]) -> T:
        return await self._session.conversation.home.run(fn)
