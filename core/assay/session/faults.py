"""What the memory could not do: counted, said once, and no tax on a run while the store is out of order."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from assay.errors import AssayError, Conflict, InvalidInput, MissingUser, NotFound

__all__ = ["Breaker", "Fault", "FaultLog", "OutOfOrder"]

logger = logging.getLogger("assay.session")

_FAULTS_IN_A_ROW = 3
_SECONDS_IN_A_ROW = 4.0  # a host that has waited so long for nothing waits no more
_SECONDS_BETWEEN_TRIES = 30.0
_MAX_SAID = 10_000


class OutOfOrder(AssayError):
    """The store failed several times in a row, or kept calls waiting; it is tried again every 30 seconds."""

    code = "out-of-order"


@dataclass(slots=True)
class Fault:
    """How often one thing went wrong, and the type of the first error.

    Attributes:
        first: Microseconds since 1970, as `last`.
    """

    code: str
    count: int
    first: int
    last: int
    detail: str


class FaultLog:
    """Counts faults until the store can take them, and logs each (session, code) once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Fault] = {}
        self._said: set[tuple[str, str]] = set()

    def note(self, session: str, code: str, error: BaseException) -> None:
        """Count a fault: only its type is kept, for its text may hold content; the log gets the traceback."""
        now = time.time_ns() // 1000
        # One code for a missing id, whichever hook met it: the run goes on, but nothing of it is remembered.
        code, level = ("missing_user", logging.ERROR) if isinstance(error, MissingUser) else (code, logging.WARNING)
        with self._lock:
            fault = self._waiting.setdefault(code, Fault(code, 0, now, now, type(error).__name__))
            fault.count, fault.last = fault.count + 1, now
            if len(self._said) > _MAX_SAID:
                self._said.clear()
            new = (session, code) not in self._said
            self._said.add((session, code))
        if new:
            logger.log(
                level, "memory fault %s in session %s; the run goes on without it", code, session, exc_info=error
            )

    def counts(self) -> dict[str, int]:
        """Give the faults that no store has taken yet."""
        with self._lock:
            return {code: fault.count for code, fault in self._waiting.items()}

    def hand_over(self, keep: Callable[[list[Fault]], None]) -> None:
        """Give the waiting faults to a store; they wait on when it cannot take them."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        if taken:
            try:
                keep(list(taken.values()))
            except Exception:
                with self._lock:
                    for code, fault in self._waiting.items():
                        fault.count += taken[code].count if code in taken else 0
                    self._waiting = taken | self._waiting


class Breaker:
    """Refuses calls for a while after three faults of the store in a row, or after slow ones of four seconds in all."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._in_a_row = 0
        self._spent = 0.0  # seconds, by the faults in a row
        self._rests_until = 0.0

    @contextmanager
    def watch(self) -> Generator[None]:
        """Let a call of the store through, or one try each 30 seconds while it is out of order.

        Raises:
            OutOfOrder: It is not yet time to try again.
        """
        began = self._clock()
        if self._in_a_row >= _FAULTS_IN_A_ROW or self._spent >= _SECONDS_IN_A_ROW:
            if began < self._rests_until:
                raise OutOfOrder("the store failed or kept calls waiting, and is left alone for 30 seconds")
            self._rests_until = began + _SECONDS_BETWEEN_TRIES
        try:
            yield
        except (InvalidInput, NotFound, Conflict):  # the call was at fault, not the store
            raise
        except Exception:
            now = self._clock()
            self._in_a_row += 1
            self._spent += now - began
            self._rests_until = now + _SECONDS_BETWEEN_TRIES
            raise
        self._in_a_row, self._spent = 0, 0.0
