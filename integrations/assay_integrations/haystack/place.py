"""Where a hook of Haystack stands: whose conversation it is in, in which run, and inside which other one."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary, ref

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay.session import Sessions as Shared
from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage

__all__ = ["Run", "Sessions", "failing"]


@dataclass(eq=False, slots=True)
class Run:
    """A run of an agent.

    Attributes:
        told: The messages that were recorded, or were there before the first call of a model, by their identity.
        failed: Whether it was seen to end with an error.
    """

    session: Session
    told: dict[int, ChatMessage] = field(default_factory=dict[int, ChatMessage])
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An agent whose tools are running, in threads or tasks of their own."""

    run: Run
    state: ref[State]
    where: object

    def is_around(self) -> bool:
        """Tell whether the caller is inside its tools; a run that a tool has ended with an error is none any more.

        While the error of a run that was not seen to fail is being handled, its state lives on.
        """
        return self.state() is not None and not self.run.failed and self.where != _here()


Block = tuple[SessionKey, str | None]
_blocks: ContextVar[Mapping[StoreRouter, Block]] = ContextVar("assay_haystack_blocks", default=MappingProxyType({}))
_waiting: ContextVar[Mapping[StoreRouter, _Waiting]] = ContextVar("assay_haystack_waits", default=MappingProxyType({}))
# The runs that have begun inside of whoever wants to know how they fail.
_begun: ContextVar[list[Run] | None] = ContextVar("assay_haystack_begun", default=None)


class Sessions(Shared[Any]):
    """Finds the session that a run or a tool belongs to.

    Args:
        agent: Name of the agent: the host has none.
    """

    def __init__(
        self, target: Target | StoreRouter, options: SessionOptions | None, *, agent: str | None = None
    ) -> None:
        super().__init__(target, options, host="haystack")
        self._agent = agent
        self._runs: WeakKeyDictionary[State, Run] = WeakKeyDictionary()

    def begin(self, state: State) -> Run | None:
        """Begin a run; None, with a counted fault, when the user is missing."""
        session = self.guarded(lambda: self._of(state.data.get("hook_context") or {}))
        if session is None:
            return None
        self._runs[state] = run = Run(session)
        begun = _begun.get()
        if begun is not None and session.root:
            begun.append(run)
        return run

    def run(self, state: State) -> Run | None:
        """Give the run that a state is of."""
        return self._runs.get(state)

    def waits(self, run: Run, state: State, now: bool) -> None:
        """Say whether the agent of a run waits for its tools from now on."""
        others = {router: waiting for router, waiting in _waiting.get().items() if router is not self.router}
        _waiting.set(others | ({self.router: _Waiting(run, ref(state), _here())} if now else {}))

    def of_tool(self, key: SessionKey) -> Session | None:
        """Give the session of the agent whose tool is running; outside of a run that of a block, or of the key."""
        return self._around() or self.guarded(lambda: self._at(key))

    @contextmanager
    def at(self, key: SessionKey) -> Generator[None]:
        """Say whose the runs inside the block are, and tell them of an error that ends it.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        self.of_key(key)
        token = _blocks.set({**_blocks.get(), self.router: (key, uuid.uuid4().hex)})
        try:
            with failing():
                yield
        finally:
            _blocks.reset(token)

    def _of(self, context: Mapping[str, Any]) -> Session:
        """Find the session by the ids of a run; one without ids of its own belongs to what is around it."""
        user, session = (None if name is None else str(name) for name in map(context.get, ("user_id", "session_id")))
        around = self._around()
        if around is not None and user in (None, around.key.user) and session in (None, around.key.session):
            return around.sub(self._agent)
        return self._at(SessionKey(user, session, self._agent))

    def _around(self) -> Session | None:
        waiting = _waiting.get().get(self.router)
        return waiting.run.session if waiting is not None and waiting.is_around() else None

    def _at(self, key: SessionKey) -> Session:
        block, run = _blocks.get().get(self.router, (key, uuid.uuid4().hex))
        if key.user is None and key.session is None:
            key = replace(block, agent=key.agent)
        # A session has one run at a time; runs without a session are told apart by nothing of the host's.
        return self.of_key(key, run=run if key.session is None else None)


@contextmanager
def failing() -> Generator[None]:
    """Tell the runs that begin inside the block, and have not ended, of the error that ends it."""
    begun: list[Run] = []
    token = _begun.set(begun)
    try:
        yield
    except Exception as error:
        for run in begun:
            run.failed = True
            if run.session.conversation.run is not None:
                with guard(run.session, "run_failed"):
                    run.session.run_failed(error)
        raise
    finally:
        _begun.reset(token)


def _here() -> object:
    """Name the thread, and the task in it: the host runs tools in others than the agent."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.get_ident(), id(task)
