"""Where a hook of CrewAI stands: whose conversation it is in, in which kickoff, and inside which tool.

CrewAI gives a hook no id of a user, a conversation or a run. It carries context variables into its threads and tasks.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared
from crewai import BaseLLM

__all__ = ["Run", "Sessions", "remembered"]


@dataclass(eq=False, slots=True)
class Run:
    """One kickoff: of a crew, of an agent alone, or of a flow.

    Attributes:
        around: Where the kickoff was called.
        of: What was kicked off.
        part: Whether a flow kicked it off: then it is a part of the flow's run.
        flow: Whether it is a flow's.
        model: The newest model of the run's own agents; None until one is called, and for a sub-agent's.
        speaker: The agent whose task was begun last.
        questions: What agents were asked that were kicked off alone, by the id of their executor.
        blocks: What was placed into prompts.
    """

    session: Session
    around: Here
    of: object = field(repr=False)
    part: bool = False
    flow: bool = False
    model: BaseLLM | None = None
    speaker: str | None = None
    questions: dict[str, str] = field(default_factory=dict[str, str])
    blocks: set[str] = field(default_factory=set[str])
    calls: Iterator[int] = field(default_factory=itertools.count)

    def keep_model(self, model: BaseLLM) -> None:
        """Remember a model, for the whole of which this is a part as well."""
        self.model = model
        if self.part and self.around.run is not None:
            self.around.run.keep_model(model)


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool that is running: its call has no id of the host's, so it is given one."""

    id: str
    given: object = field(repr=False)
    session: Session
    around: Here


@dataclass(frozen=True, slots=True)
class Here:
    """A place in a program: whose memory is meant, which kickoff is going on, and which tool of it is running."""

    key: SessionKey = field(default_factory=SessionKey)
    run: Run | None = None
    call: _Call | None = None


_here: ContextVar[Mapping[StoreRouter, Here]] = ContextVar("assay_crewai_here", default=MappingProxyType({}))


class Sessions(Shared[BaseLLM]):
    """Finds the session that a hook or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="crewai")

    @property
    def run(self) -> Run | None:
        """Give the kickoff that is going on, or None."""
        return self._place.run

    @contextmanager
    def at(self, key: SessionKey) -> Generator[None]:
        """Say whose the kickoffs inside the block are.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        self.of_key(key)
        before = _here.get()
        self._stand(Here(key))
        try:
            yield
        finally:
            _here.set(before)

    def begin(self, of: object, agent: str | None = None) -> Run | None:
        """Begin a kickoff, of a crew or of the agent named; None, with a counted fault, when the user is missing.

        What a tool kicks off is a sub-agent's, and so is an agent that the host asks beside a crew, to judge a task.
        """
        here, part = self._place, False
        session: Session | None
        if here.call is not None:
            session = here.call.session.sub(agent)
        elif here.run is not None and here.run.flow:
            session, part = here.run.session, True
        elif here.run is not None and agent is not None:
            session = here.run.session.sub(agent)
        else:
            session = self._root(here.key)
        return None if session is None else self._enter(Run(session, here, of, part, speaker=agent))

    def begin_flow(self, of: object) -> Run | None:
        """Begin a flow, unless something else that is going on runs it."""
        here = self._place
        session = self._root(here.key) if here.run is None else None
        return None if session is None else self._enter(Run(session, here, of, flow=True))

    def leave(self, of: object) -> Run | None:
        """Leave a kickoff, if it is the one that is going on."""
        run = self.run
        if run is None or run.of is not of:
            return None
        self._stand(run.around)
        return run

    def enter_tool(self, agent: str, given: object) -> tuple[Session, str] | None:
        """Enter a tool that an agent calls with these arguments: give its session, and an id for the call."""
        here, session = self._place, self.of_agent(agent)
        if here.run is None or session is None:
            return None
        call = _Call(f"call-{next(here.run.calls)}", given, session, here)
        self._stand(replace(here, call=call))
        return session, call.id

    def leave_tool(self, agent: str, given: object) -> tuple[Session, str | None] | None:
        """Leave the tool; one that was never entered, because a hook of the user's stopped it before, has no id."""
        call = self._place.call
        if call is not None and call.given is given:
            self._stand(call.around)
            return call.session, call.id
        session = self.of_agent(agent)
        return None if session is None else (session, None)

    def of_agent(self, agent: str | None) -> Session | None:
        """Give the session of an agent of the kickoff that is going on: a sub-agent's when a tool asks it."""
        here = self._place
        if here.run is None:
            return None
        if here.call is not None and agent != here.call.session.key.agent:
            return here.call.session.sub(agent)
        return here.run.session.named(agent)

    def of_tool(self) -> Session | None:
        """Give the session of the agent whose tool is running; outside a kickoff, that of the block around it."""
        here = self._place
        if here.call is not None:
            return here.call.session
        return self.guarded(lambda: self.of_key(here.key))

    def _root(self, key: SessionKey) -> Session | None:
        one = uuid.uuid4().hex
        return self.guarded(lambda: self.of_key(key, run=one))

    def _enter(self, run: Run) -> Run:
        self._stand(Here(run.around.key, run))
        return run

    @property
    def _place(self) -> Here:
        return _here.get().get(self.router, Here())

    def _stand(self, here: Here) -> None:
        _here.set({**_here.get(), self.router: here})


def remembered() -> bool:
    """Tell whether the caller is inside a kickoff that is recorded and briefed, and not inside a tool of it."""
    return any(here.run is not None and here.call is None for here in _here.get().values())
