"""A conversation that agents are bound to, where a host tells its hooks of no user, no session and no run."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from assay.session.keys import SessionKey
from assay.session.session import Session
from assay.session.sessions import Sessions

__all__ = ["Talk"]

M = TypeVar("M")


@dataclass(eq=False, slots=True)
class Talk(Generic[M]):
    """What the hooks of the agents in one conversation share.

    Attributes:
        people: Names of agents that speak for a person.
        watched: Runs that are seen from outside: those begin and end themselves.
        calling: Hooks whose agent waits for tools -> the agent's name, the innermost last; what other agents hear
            meanwhile is said to a sub-agent.
    """

    sessions: Sessions[M]
    session: Session
    people: frozenset[str] = frozenset()
    watched: int = 0
    calling: dict[object, str] = field(default_factory=dict[object, str])

    @classmethod
    def of(cls, sessions: Sessions[M], key: SessionKey, people: Iterable[str] = ()) -> Talk[M]:
        """Begin a conversation, or go on with it.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        return cls(sessions, sessions.of_key(key), frozenset(people))

    @property
    def caller(self) -> Session:
        """Give the session as the agent sees it whose tool is running."""
        return self.session.named([None, *self.calling.values()][-1])

    def nested(self, hooks: object) -> bool:
        """Tell whether an agent is run by a tool for which another one waits."""
        return any(other is not hooks for other in self.calling)

    def alone(self, hooks: object) -> bool:
        """Tell whether an agent's run is nobody else's: then its hooks are where it begins and ends."""
        return not self.watched and not self.nested(hooks)

    @contextmanager
    def watching(self) -> Generator[bool]:
        """Mark the block as a run seen from outside, and tell whether it is one: a tool's is a part of another."""
        own = not self.calling
        self.watched += own
        try:
            yield own
        finally:
            self.watched -= own
            if own and not self.watched:
                self.calling.clear()
