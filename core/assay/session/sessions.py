"""What the object that an adapter gives its host holds: its stores, who is calling whom, and whose model composes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from assay.model.wrap import WrapResult
from assay.session.guarding import guard
from assay.session.keys import SessionKey
from assay.session.policy import SessionOptions
from assay.session.router import StoreRouter, Target
from assay.session.session import Session
from assay.session.tools import recall_tool, remember_tool

__all__ = ["Sessions"]

M = TypeVar("M")
T = TypeVar("T")

_MAX_MODELS = 1_024
_UNAVAILABLE = "Memory is not available at the moment."

# The sessions whose tools are running in this task: an agent inside belongs to its caller's, whatever its own ids.
_calling: ContextVar[Mapping[StoreRouter, Session]] = ContextVar("assay_calling", default=MappingProxyType({}))


class Sessions(Generic[M]):
    """Finds the sessions of one adapter object; `M` is the host's type of a model.

    Args:
        target: What holds the memory; a `StoreRouter` is shared with whoever else holds it.
        host: Names the framework where a run fails.
    """

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None, *, host: str) -> None:
        self.router = StoreRouter.of(target)
        self.options = options or SessionOptions()
        self._host = host
        self._owned = self.router is not target
        self._models: OrderedDict[tuple[str | None, str | None], M] = OrderedDict()

    # -- whose -----------------------------------------------------------------------------------------------------

    def of_key(self, key: SessionKey, *, run: str | None = None) -> Session:
        """Give the session of a key.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        return self.router.session(key, run=run, options=self.options, host=self._host)

    def guarded(self, find: Callable[[], Session]) -> Session | None:
        """Give what a hook finds; None, with a counted fault, when the user is missing."""
        found: Callable[[], Session | None] = find
        return guard.value(self.router, found, None, "session")

    @contextmanager
    def calling(self, session: Session) -> Generator[None]:
        """Mark the block as one in which the session's agent waits for what it has called."""
        token = _calling.set({**_calling.get(), self.router: session})
        try:
            yield
        finally:
            _calling.reset(token)

    @property
    def called(self) -> bool:
        """Tell whether what runs now was called by an agent of this memory."""
        return self.router in _calling.get()

    def caller(self, user: str | None) -> Session | None:
        """Give the session that waits for what runs now, unless what runs serves another person."""
        caller = _calling.get().get(self.router)
        return caller if caller is not None and user in (None, caller.key.user) else None

    def close(self) -> None:
        """Close the stores that were opened here; a router that was handed in is its owner's to close."""
        if self._owned:
            self.router.close()

    # -- who composes ----------------------------------------------------------------------------------------------

    def keep_model(self, session: Session, model: M) -> None:
        """Remember the model that the session's agent used last; a sub-agent's does not compose."""
        if session.root:
            self._models[_who(session)] = model
        if len(self._models) > _MAX_MODELS:
            self._models.popitem(last=False)

    def model(self, session: Session) -> M | None:
        """Give the model that composes the session's wrap, or None while none was seen."""
        return self._models.get(_who(session))

    def wrap(self, session: Session, compose: Callable[[M, str], str]) -> None:
        """Consolidate if it is time and someone can compose; a fault is counted, as everywhere in a run."""
        composer = self._composer(session, compose)
        if composer is not None and session.root:
            with guard(session, "wrap"):
                session.wrap(composer)

    async def awrap(self, session: Session, compose: Callable[[M, str], Awaitable[str]]) -> None:
        """Do the same from an event loop."""
        composer = self._composer(session, compose)
        if composer is not None and session.root:
            with guard(session, "wrap"):
                await session.aio.wrap(composer)

    def end(self, whose: SessionKey | Session, compose: Callable[[M, str], str], *, now: bool) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            whose: A session, or the key of one; without a name in it, a key finds none that is open.
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        session = self._named(whose)
        closed, composer = session.end(), self._composer(session, compose)
        return closed if composer is None else session.wrap(composer, now=now)

    async def aend(
        self, whose: SessionKey | Session, compose: Callable[[M, str], Awaitable[str]], *, now: bool
    ) -> WrapResult:
        """Do the same from an event loop."""
        session = self._named(whose)
        closed, composer = await session.aio.end(), self._composer(session, compose)
        return closed if composer is None else await session.aio.wrap(composer, now=now)

    def _named(self, whose: SessionKey | Session) -> Session:
        return whose if isinstance(whose, Session) else self.of_key(whose)

    def _composer(self, session: Session, compose: Callable[[M, str], T]) -> Callable[[str], T] | None:
        """Give what composes: with the model seen last; where none was seen, the policy's own may stand in."""
        model = self.model(session)
        if model is not None:
            return partial(compose, model)
        return cast("Callable[[str], T] | None", session.options.wrap.model)

    # -- the tools -------------------------------------------------------------------------------------------------

    def recall(self, session: Session | None, query: str) -> str:
        """Give what the tool `recall` answers; a sentence that says so when memory is not available."""
        return self._use(session, partial(recall_tool, query=query))

    async def arecall(self, session: Session | None, query: str) -> str:
        """Do the same from an event loop."""
        return await self._ause(session, partial(recall_tool, query=query))

    def remember(self, session: Session | None, text: str) -> str:
        """Give what the tool `remember` answers; a sentence that says so when memory is not available."""
        return self._use(session, partial(remember_tool, text=text))

    async def aremember(self, session: Session | None, text: str) -> str:
        """Do the same from an event loop."""
        return await self._ause(session, partial(remember_tool, text=text))

    def _use(self, session: Session | None, verb: Callable[[Session], str]) -> str:
        if session is None:
            return _UNAVAILABLE
        return guard.value(session, partial(verb, session), _UNAVAILABLE, "tool")

    async def _ause(self, session: Session | None, verb: Callable[[Session], str]) -> str:
        if session is not None:
            with guard(session, "tool"):
                return await session.aio.run(partial(verb, session))
        return _UNAVAILABLE


def _who(session: Session) -> tuple[str | None, str | None]:
    return session.key.user, session.key.session
