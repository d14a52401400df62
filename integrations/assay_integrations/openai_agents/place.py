"""Whose conversation a run of the Agents SDK is, and which run a tool was called by."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, field_of
from assay.session import Sessions as Shared

__all__ = ["Sessions", "remembered"]

Composer = Callable[[str], Awaitable[str]]

# Whether a run of an `AssayRunner` is going on in this task.
_running: ContextVar[bool] = ContextVar("assay_openai_agents_running", default=False)


class Sessions(Shared[Composer]):
    """Finds the session that a run or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="openai_agents")

    def of_run(self, key: SessionKey) -> Session:
        """Give the session of a run that begins: its caller's when a tool of another run starts it.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        caller = self.caller(key.user)
        if caller is not None:
            return caller.sub(key.agent)
        # Runs without a session are told apart by nothing of the host's.
        return self.of_key(key, run=uuid.uuid4().hex if key.session is None else None)

    def of_tool(self, context: object, agent: str | None) -> Session | None:
        """Give the session of the run that called a tool; outside an `AssayRunner` its `context` says whose it is."""
        caller = self.caller(None)
        if caller is not None:
            return caller.named(agent)
        ids = (field_of(context, name) for name in ("user_id", "session_id"))
        user, session = (None if name is None else str(name) for name in ids)
        return self.guarded(lambda: self.of_key(SessionKey(user, session, agent)))

    @contextmanager
    def running(self, session: Session) -> Generator[None, None, None]:
        """Mark the block, and every task that begins in it, as a run of the session."""
        token = _running.set(True)
        try:
            with self.calling(session):
                yield
        finally:
            _running.reset(token)


def remembered() -> bool:
    """Tell whether the caller is inside a run of an `AssayRunner`, which records it."""
    return _running.get()
