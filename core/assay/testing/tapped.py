"""Stores whose engine can be listened to, delayed and broken, for tests of what stands on it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, Any, TypeVar, cast

from assay.store import Store

if TYPE_CHECKING:
    from assay.episodes.draft import Checked
    from assay.episodes.recording import Written
    from assay.model.recall import Briefing
    from assay.storage.database import Database
    from assay.storage.reader import Reader
    from assay.storage.transaction import Transaction

__all__ = ["VERBS", "FaultyStore", "TappedStore"]

T = TypeVar("T")

VERBS = (
    "user_message",
    "agent_message",
    "tool_call",
    "tool_result",
    "tool_error",
    "handoff",
    "run_failed",
    "briefing",
    "runs",
    "reading",
    "wrap",
)


class TappedStore(Store):
    """A store that says what it is about to do.

    Args:
        path: As of `Store`.
        tap: Called before each step of the engine with its verb: an event that is recorded (`user_message`, ...),
            `briefing`, `runs` (runs, receipts and counters), `reading`, or `wrap`. It may wait, or raise.
    """

    def __init__(self, path: str | os.PathLike[str], tap: Callable[[str], None]) -> None:
        super().__init__(path)
        self._tap = tap
        self._inside = local()
        self._database = cast("Database", _Doors(self._database, self._door))

    def _record_within(self, tell: Callable[[Transaction, Callable[[Checked], Written]], T]) -> T:
        def tapped(tx: Transaction, add: Callable[[Checked], Written]) -> T:
            def heard(item: Checked) -> Written:
                self._tap(str(item.draft.metadata.get("event", "record")))
                return add(item)

            return tell(tx, heard)

        with self._quietly():
            return super()._record_within(tapped)

    def briefing(self, goal: str = "", **arguments: Any) -> Briefing:
        """Tap, then brief."""
        self._tap("briefing")
        with self._quietly():
            return super().briefing(goal, **arguments)

    @contextmanager
    def _quietly(self) -> Generator[None]:
        self._inside.verb = True
        try:
            yield
        finally:
            self._inside.verb = False

    def _door(self, verb: str) -> None:
        if not getattr(self._inside, "verb", False):
            self._tap(verb)


class FaultyStore(TappedStore):
    """A store whose engine fails in some verbs.

    Args:
        path: As of `Store`.
        verbs: Which of `VERBS`.
        error: What is raised; None for a store that is only slow.
        delay: Seconds that each of these verbs takes longer.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        verbs: Iterable[str],
        *,
        error: Exception | None = None,
        delay: float = 0.0,
    ) -> None:
        self._verbs: frozenset[str] = frozenset(verbs)
        self._error = error
        self._delay = delay
        self.hits = 0
        super().__init__(path, self._fail)

    def fail(self, *verbs: str) -> None:
        """Let these verbs fail from now on, and no others."""
        self._verbs = frozenset(verbs)

    def heal(self) -> None:
        """Let everything work from now on."""
        self._verbs = frozenset[str]()

    def _fail(self, verb: str) -> None:
        if verb in self._verbs:
            self.hits += 1
            time.sleep(self._delay)
            if self._error is not None:
                raise self._error


class _Doors:
    """Stands before a database."""

    def __init__(self, database: Database, tap: Callable[[str], None]) -> None:
        self._database = database
        self._tap = tap

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    @contextmanager
    def read(self) -> Generator[Reader]:
        self._tap("reading")
        with self._database.read() as reader:
            yield reader

    def mutate(self, fn: Callable[[Any], T]) -> T:
        self._tap("wrap")
        return self._database.mutate(fn)

    def operational(self, fn: Callable[[Any], T]) -> T:
        self._tap("runs")
        return self._database.operational(fn)
