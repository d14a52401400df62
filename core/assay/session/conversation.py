"""The state that all views of one (session, run) share: which run is open, and what it has seen."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.errors import MissingUser
from assay.model.labels import Origin, Trust
from assay.model.recall import Briefing
from assay.session.engine import database_of
from assay.session.keys import SessionKey
from assay.session.labels import label
from assay.storage import session_rows

if TYPE_CHECKING:
    from assay.session.home import Home
    from assay.storage.reader import Reader
    from assay.store import Store

__all__ = ["SECOND_USER", "CallState", "Conversation", "RunState"]

logger = logging.getLogger("assay.session")

SECOND_USER = (
    "a second user came to a store that serves one: give each user a store with a path such as 'memory/{user}.db',"
    " or say that several people speak in it with RecordPolicy(user_trust=Trust.EXTERNAL)"
)
_MAX_EXTERNALS = 64

# The conversations whose wrap is being composed by the running task or thread.
_composing: ContextVar[tuple[int, ...]] = ContextVar("assay_composing", default=())


@dataclass(slots=True)
class CallState:
    """A tool call: its identity among the calls of the run, its episode, and whether its end was seen."""

    identity: str
    ref: str | None = None
    settled: bool = False


@dataclass(slots=True)
class RunState:
    """What one open run has seen so far.

    Attributes:
        started: False while only a verb other than `run_started` has opened it.
        ordinal: Number of its next event; makes the key of an event that has no host id.
        externals: Refs of what it read from outside.
        error: The last error of a tool: when it ends the run, the run's failure is recorded already.
        recorded: Refs of its episodes: still in the conversation, so left out of its briefings.
    """

    id: str
    started: bool = False
    ordinal: int = 0
    externals: list[str] = field(default_factory=list[str])
    recorded: list[str] = field(default_factory=list[str])
    calls: dict[tuple[str, str | None], CallState] = field(default_factory=dict[tuple[str, str | None], CallState])
    error: BaseException | str | None = None
    briefings: dict[tuple[str, int], Briefing] = field(default_factory=dict[tuple[str, int], Briefing])

    def note_external(self, refs: tuple[str, ...]) -> None:
        """Remember what was read from outside: what the model says next may come from there."""
        self.externals = [*self.externals, *refs][-_MAX_EXTERNALS:]


class Conversation:
    """One session of one user, as far as one host run id tells runs apart.

    Attributes:
        session: The host's session, or a minted one.
        run: The open run, or None.
        asked: The newest user message, under None, and the task of each sub-agent.
        said: The last message of each agent in the open run; `heard` that of any.
        ended: Whether a run has ended; `failed` whether the last one failed.
        previous: When the store was last heard of before the newest run, microseconds since 1970; 0 for never.
        recorded: Number of episodes of the run that ended last.
    """

    def __init__(self, home: Home, key: SessionKey, *, run: str | None, several_users: bool) -> None:
        self.home = home
        self.key = key
        self.lock = threading.RLock()
        self.session = key.session or _mint_session()
        self.run: RunState | None = None
        self.asked: dict[str | None, str] = {}
        self.said: dict[str | None, str] = {}
        self.heard = ""
        self.ended = False
        self.failed = False
        self.paused = 0
        self.previous = 0
        self.recorded = 0
        self.told_no_authority = False
        self._host_run = run
        self._several_users = several_users
        self._composers = 0
        self._begun_while_composing = False

    # -- runs --------------------------------------------------------------------------------------------------

    def begin(self, store: Store, run: str | None) -> RunState:
        """Open a run because the host said so; one that a verb has just opened is that run."""
        run = run or self._host_run
        if self.run is not None and (not self.run.started or self.run.id == run):
            self.run.started = True
            return self.run
        if self.key.session is None and self.ended:
            self.session = _mint_session()
        return self._open(store, run, started=True)

    def current(self, store: Store, *, adopt: bool = True) -> RunState:
        """Give the open run: the one in memory, one that another process left open, or a new one.

        Args:
            adopt: False for the user's own words, which begin a run rather than resume one.
        """
        if self.run is not None:
            return self.run
        found = self.adopted(store) if adopt else None
        return found or self._open(store, self._host_run, started=False)

    def adopted(self, store: Store) -> RunState | None:
        """Find the run that the session has open in the store, with what it has recorded so far."""
        if self.run is not None or self.key.session is None:
            return self.run
        with database_of(store).read() as reader:
            found = session_rows.find_open_run(reader, self.session, self._host_run)
            self.run = None if found is None else self._seen(reader, found)
        return self.run

    def finish(self, store: Store, state: str) -> None:
        """Close the open run."""
        run, self.run = self.run, None
        self.ended, self.failed = True, state == "failed"
        if run is not None:
            self.recorded = len(run.recorded)
            database_of(store).operational(lambda tx: session_rows.close_run(tx, self.session, run.id, state))

    def _open(self, store: Store, run: str | None, *, started: bool) -> RunState:
        user = self.key.user
        if user is not None and not self._several_users:
            with database_of(store).read() as reader:
                if session_rows.stranger(reader, user) is not None:
                    raise MissingUser(SECOND_USER)
        opened = database_of(store).operational(lambda tx: session_rows.open_run(tx, self.session, run, user))
        if opened.known:
            with database_of(store).read() as reader:
                self.run = self._seen(reader, opened.id)
        else:
            self.run = RunState(opened.id, started)
        self.previous = opened.previous
        self.failed = False
        self.said.clear()
        self.heard = ""
        self._begun_while_composing = self._composers > 0
        return self.run

    def _seen(self, reader: Reader, run: str) -> RunState:
        """Read back what a run that goes on has recorded so far."""
        rows = reader.find("episode", {"session": label(self.session), "run": label(run)}, order="n")
        recorded = [row["id"] for row in rows]
        words = [row["content"] for row in rows if row["origin"] == Origin.USER.value]
        if words:
            self.asked.setdefault(None, words[-1])
        externals = [row["id"] for row in rows if row["trust"] == Trust.EXTERNAL.value]
        return RunState(run, True, len(rows), externals[-_MAX_EXTERNALS:], recorded)

    # -- off the record ----------------------------------------------------------------------------------------

    @property
    def within_wrap(self) -> bool:
        """Tell whether the running task or thread composes this conversation's wrap."""
        return id(self) in _composing.get()

    @property
    def composing(self) -> bool:
        """Tell whether the caller is the model call of this conversation's own wrap.

        A context variable says so, and where it does not follow the call into another thread, that a wrap is
        being composed and no run has begun since.
        """
        return self.within_wrap or (self._composers > 0 and not self._begun_while_composing)

    @contextmanager
    def compose(self) -> Generator[None]:
        """Mark the calls inside the block as the wrap's own."""
        token = _composing.set((*_composing.get(), id(self)))
        self._composers += 1
        self._begun_while_composing = False
        try:
            yield
        finally:
            self._composers -= 1
            _composing.reset(token)


def _mint_session() -> str:
    session = f"auto:{os.urandom(8).hex()}"
    logger.info("no session id was given: this run is session %s", session)
    return session
