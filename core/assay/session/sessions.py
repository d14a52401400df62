"""What the object that an adapter gives its host holds: its stores, who is calling whom, and whose model composes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType
from typing import Generic, TypeVar

from assay.model.wrap import WrapResult
from assay.session.guarding import guard
from assay.session.keys import SessionKey
from assay.session.policy import SessionOptions
from assay.session.router import StoreRouter, Target
from assay.session.session import Session

__all__ = ["Sessions"]

M = TypeVar("M")

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

    def end(self, key: SessionKey, compose: Callable[[M, str], str], *, now: bool) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        session = self.of_key(key)
        closed, model = session.end(), self.model(session)
        return closed if model is None else session.wrap(partial(compose, model), now=now)

    async def aend(self, key: SessionKey, compose: Callable[[M, str], Awaitable[str]], *, now: bool) -> WrapResult:
        """Do the same from an event loop."""
        session = self.of_key(key)
        closed, model = await session.aio.end(), self.model(session)
        return closed if model is None else await session.aio.wrap(partial(compose, model), now=now)

    # -- the tools -------------------------------------------------------------------------------------------------

    def use(self, session: Session | None, verb: Callable[[Session], str]) -> str:
        """Give what a memory tool answers; a sentence that says so when memory is not available."""
        if session is None:
            return _UNAVAILABLE
        return guard.value(session, partial(verb, session), _UNAVAILABLE, "tool")

    async def ause(self, session: Session | None, verb: Callable[[Session], str]) -> str:
        """Do the same from an event loop."""
        if session is not None:
            with guard(session, "tool"):
                return await session.aio.run(partial(verb, session))
        return _UNAVAILABLE


def _who(session: Session) -> tuple[str | None, str | None]:
    return session.key.user, session.key.session
