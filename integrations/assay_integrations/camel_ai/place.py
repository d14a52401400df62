"""Where an agent of CAMEL stands: whose conversation it holds, and how far its step has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from camel.memories import MemoryRecord
from camel.models import BaseModelBackend

from assay.session import Relay, Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay.session import Sessions as Shared
from assay_integrations.camel_ai import events, items

__all__ = ["Seat", "Sessions", "Step"]


@dataclass(eq=False, slots=True)
class Step:
    """One step of an agent: from what it is asked to its answer.

    Attributes:
        whole: Whether the agent itself says when it ends; else its last record does.
        block: What it is briefed with.
        question: The record that holds what it is asked.
        relay: On an event loop, what hands the events of the step to the worker of the store.
    """

    session: Session
    whole: bool = False
    block: str = ""
    question: UUID | None = None
    relay: Relay | None = None

    def tell(self, code: str, event: Callable[[Session], None]) -> None:
        """Tell the session at once; on an event loop, hand it to the worker, in order, and go on."""
        if self.relay is not None:
            self.relay.tell(code, partial(event, self.session))
        else:
            with guard(self.session, code):
                event(self.session)

    async def settled(self) -> None:
        """Wait until everything that was handed over is on disk."""
        if self.relay is not None:
            await self.relay.settled()


class Sessions(Shared[BaseModelBackend]):
    """Finds the session of an agent's step."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="camel-ai")

    def of_step(self, key: SessionKey, *, sub: bool) -> Session:
        """Give the session of a step that begins: its caller's when a tool of another agent runs it."""
        caller = self.caller(key.user)
        session = caller or self.of_key(key)
        return session.sub(key.agent) if sub or caller else session


class Seat:
    """The place of one agent in a session, from which its memory hears what it says and does.

    Args:
        key: Without a session, the agent's id names it.
        above: The seat of the agent that this one works for.

    Raises:
        MissingUser: The target holds a store per user and the key names none.
    """

    def __init__(self, sessions: Sessions, key: SessionKey, above: Seat | None = None) -> None:
        sessions.of_key(key)
        self.sessions = sessions
        self.agent_id: str | None = None
        self.step: Step | None = None
        self._key = key
        self._above = above
        self._since = time.time()
        self._heard: set[UUID] = set()

    @property
    def key(self) -> SessionKey:
        """Say whose conversation it is."""
        named = self.agent_id if self._above is None else self._above.key.session
        return replace(self._key, session=self._key.session or named)

    def sub(self, agent: str) -> Seat:
        """Give the seat of an agent that works for this one."""
        return Seat(self.sessions, replace(self._key, agent=agent), self)

    def again(self) -> Seat:
        """Give the seat of a clone."""
        return Seat(self.sessions, self._key, self._above)

    # -- a step ----------------------------------------------------------------------------------------------------

    def enter(self, *, whole: bool = False) -> Step:
        """Begin a step, of which nothing is known yet."""
        self.step = Step(self.sessions.of_step(self.key, sub=self._above is not None), whole)
        return self.step

    def begin(self, text: str, *, whole: bool = False) -> Step:
        """Begin a step with what the agent is asked."""
        step = self.enter(whole=whole)
        step.block = events.began(step.session, text)
        return step

    async def abegin(self, text: str) -> Step:
        """Do the same from an event loop."""
        step = self.enter(whole=True)
        step.relay = Relay(step.session)
        with guard(step.session, "run_started"):
            step.block = await step.session.aio.run(partial(events.began, step.session, text))
        return step

    @contextmanager
    def within(self, step: Step) -> Generator[None]:
        """Mark the block as the step; one that fails fails the run, and one that is broken off leaves it open."""
        try:
            yield
        except Exception as error:
            step.tell("run_failed", partial(_failed, error=error))
            raise
        finally:
            self.leave(step)

    def leave(self, step: Step) -> None:
        """Leave a step, unless another one has begun since."""
        if self.step is step:
            self.step = None

    # -- what the memory of the host is given ----------------------------------------------------------------------

    def hear(self, records: Sequence[MemoryRecord]) -> None:
        """Hear what is new: a history that is handed over, or written again, was recorded when it was new."""
        for record in records:
            if record.timestamp >= self._since and record.uuid not in self._heard:
                self._heard.add(record.uuid)
                self._hear(record)

    def _hear(self, record: MemoryRecord) -> None:
        step = self.step
        if items.is_question(record):
            step = step if step is not None and step.whole else self.begin(items.words(record.message))
            step.question = step.question or record.uuid
            return
        step = step or self.enter()
        step.tell("record", partial(events.heard, record=record))
        if items.is_answer(record) and not step.whole:
            step.tell("run_ended", events.ended)
            self.leave(step)


def _failed(session: Session, error: Exception) -> None:
    session.run_failed(error)
