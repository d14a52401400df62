"""A memory for crews: for every kickoff of a program, or for those inside a block."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult
from assay_integrations.crewai.hooks import MemoryHooks
from assay_integrations.crewai.place import Sessions
from crewai.events import BaseEventListener
from crewai.events.event_bus import CrewAIEventsBus
from crewai.hooks import register_hook, unregister_hook
from crewai.hooks.dispatch import get_scoped_hooks, scoped_hooks

__all__ = ["AssayEventListener", "session"]


class AssayEventListener(BaseEventListener):
    """Gives every crew and agent of a program a memory that outlives their kickoffs.

    Make one, before crews are kicked off: an agent keeps the hooks that were there at its first task. One object serves
    any number of crews, users and runs at once; `session(listener, user=, session=)` says whose a kickoff is. It is
    closed by `close`, for the host's hooks are global.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Example:
        listener = AssayEventListener("memory/{user}.db")
        with session(listener, user="ada", session="s1"):
            crew.kickoff()
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self._hooks = MemoryHooks(target, options=options)
        super().__init__()

    @property
    def sessions(self) -> Sessions:
        """Give what finds the session of a hook."""
        return self._hooks.sessions

    def setup_listeners(self, crewai_event_bus: CrewAIEventsBus) -> None:
        """Listen by hooks: they are called in order, before the run goes on, as handlers of the bus are not."""
        for point, hook in self._hooks.points().items():
            register_hook(point, hook)

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agents used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self._hooks.end_session(key, now=now)

    def close(self) -> None:
        """Take the hooks away and close the stores that it opened; runs after this are not remembered."""
        for point, hook in self._hooks.points().items():
            unregister_hook(point, hook)
        self._hooks.close()


@contextmanager
def session(
    target: Target | StoreRouter | AssayEventListener,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> Generator[AssayEventListener | MemoryHooks]:
    """Give the kickoffs inside a block a memory, in whichever threads and tasks they run.

    Args:
        target: What `AssayEventListener` takes; or such a listener, which is told whose the kickoffs are.
        session: Name of the conversation; without one, each kickoff is a session of its own.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory/{user}.db", user="ada", session="s1"):
            crew.kickoff()
    """
    key = SessionKey(user, session)
    if isinstance(target, AssayEventListener):
        with target.sessions.at(key):
            yield target
        return
    hooks = MemoryHooks(target, options=options)
    scope = {point: [*get_scoped_hooks(point), hook] for point, hook in hooks.points().items()}
    try:
        with hooks.sessions.at(key), scoped_hooks(scope):
            yield hooks
    finally:
        hooks.close()
