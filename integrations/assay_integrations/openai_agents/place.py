"""Whose conversation a run of the Agents SDK is, and which run a tool was called by."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay_integrations.openai_agents.items import field

__all__ = ["Sessions", "remembered"]

# The sessions of the runs that are going on: a run that a tool starts belongs to its caller's.
_running: ContextVar[Mapping[StoreRouter, Session]] = ContextVar(
    "assay_openai_agents_running", default=MappingProxyType({})
)


class Sessions:
    """Finds the session that a run or a tool belongs to.

    Args:
        target: What holds the memory; a `StoreRouter` is shared with whoever else holds it.
    """

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        self.router = StoreRouter.of(target)
        self.options = options or SessionOptions()
        self._owned = self.router is not target

    def of_run(self, key: SessionKey) -> Session:
        """Give the session of a run that begins: its caller's when a tool of another run starts it.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        caller = self._caller()
        if caller is not None:
            return caller.sub(key.agent or "sub-agent")
        # Runs without a session are told apart by nothing of the host's.
        return self.of_key(key, run=uuid.uuid4().hex if key.session is None else None)

    def of_tool(self, context: object, agent: str | None) -> Session | None:
        """Give the session of the run that called a tool; outside an `AssayRunner` its `context` says whose it is."""
        caller = self._caller()
        if caller is not None:
            return caller.named(agent)
        user, session = (
            None if name is None else str(name) for name in (field(context, "user_id"), field(context, "session_id"))
        )
        key = SessionKey(user, session, agent)
        return guard.value(self.router, lambda: self.of_key(key), None, "session")

    def of_key(self, key: SessionKey, *, run: str | None = None) -> Session:
        """Give the session of a key."""
        return self.router.session(key, run=run, options=self.options, host="openai_agents")

    @contextmanager
    def running(self, session: Session) -> Generator[None, None, None]:
        """Mark the block, and every task that begins in it, as a run of the session."""
        token = _running.set({**_running.get(), self.router: session})
        try:
            yield
        finally:
            _running.reset(token)

    def close(self) -> None:
        """Close the stores that were opened here; a router that was handed in is its owner's to close."""
        if self._owned:
            self.router.close()

    def _caller(self) -> Session | None:
        return _running.get().get(self.router)


def remembered() -> bool:
    """Tell whether the caller is inside a run of an `AssayRunner`, which records it."""
    return bool(_running.get())
