"""Where a hook of AG2 classic stands: in which conversation, and in whose run.

A hook is told of no user, no session and no run: an agent is attached to a conversation, which knows them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared
from autogen import ConversableAgent

__all__ = ["Sessions", "Talk"]


class Sessions(Shared[ConversableAgent]):
    """Holds the stores of one conversation, or of those that share a router; an agent composes with its own client."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="ag2-classic")


@dataclass(eq=False, slots=True)
class Talk:
    """A conversation: what the hooks of its agents share.

    Attributes:
        people: Names of agents that speak for a person, besides those that have no model.
        watched: Runs that are seen from outside: those begin and end themselves.
        calling: Hooks whose agent waits for tools -> the agent's name; what other agents hear meanwhile is said to a
            sub-agent.
    """

    sessions: Sessions
    session: Session
    people: frozenset[str]
    watched: int = 0
    calling: dict[object, str] = field(default_factory=dict[object, str])

    @classmethod
    def of(
        cls,
        target: Target | StoreRouter,
        key: SessionKey,
        options: SessionOptions | None,
        people: frozenset[str] = frozenset(),
    ) -> Talk:
        """Begin a conversation, or go on with it.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        sessions = Sessions(target, options)
        return cls(sessions, sessions.of_key(key), people)

    def nested(self, hooks: object) -> bool:
        """Tell whether an agent is run by a tool for which another one waits."""
        return any(other is not hooks for other in self.calling)
