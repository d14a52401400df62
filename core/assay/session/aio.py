"""The verbs of a session as coroutines, on one thread of the store: in order, and the loop never waits for a disk."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from assay.model.recall import Briefing
from assay.model.wrap import WrapResult
from assay.session.policy import AnyComposer
from assay.session.wrapping import NO_COMPOSER, rounds, step

if TYPE_CHECKING:
    from assay.session.session import Session

__all__ = ["AsyncSession"]

T = TypeVar("T")


class AsyncSession:
    """Stands for a session in a coroutine: each verb of `Session` by the same name and arguments.

    A call whose task is cancelled is still made: an event that was handed over is not lost.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Give the coroutine form of a verb."""
        verb = getattr(self._session, name)
        if name.startswith("_") or not callable(verb):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.run(partial(verb, *args, **kwargs))

    async def run(self, fn: Callable[[], T]) -> T:
        """Run a function of the sync verbs as one step, so that an adapter writes its translation once."""
        return await self._session.conversation.home.run(fn)

    async def briefing(self, query: str | None = None, **given: Any) -> Briefing:
        """Give what memory holds, as `Session.briefing` does: at once, when the run has been briefed for the query."""
        known = self._session.briefed(query, tokens=given.get("tokens"))
        return known if known is not None else await self.run(partial(self._session.briefing, query, **given))

    async def wrap(self, compose: AnyComposer, *, now: bool = False) -> WrapResult:
        """Consolidate if it is time; the composer is called on the loop, and awaited when it is async."""
        conversation = self._session.conversation
        composer = self._session.options.wrap.model or compose
        steps = rounds(self._session, now=now)
        asked = await self.run(partial(step, partial(next, steps)))
        while isinstance(asked, str):
            try:
                with conversation.compose():
                    composed = composer(asked)
                    text = composed if isinstance(composed, str) else await composed
            except Exception as error:
                asked = await self.run(partial(step, partial(steps.throw, error)))
            else:
                asked = await self.run(partial(step, partial(steps.send, text)))
        return asked

    async def end(self, compose: AnyComposer | None = None) -> WrapResult:
        """Close the open run, and wrap if it is time."""
        await self.run(self._session.close_run)
        return NO_COMPOSER if compose is None else await self.wrap(compose)
