"""Where a hook of AutoGen stands: in which conversation, and in whose run.

Neither a context nor a memory is told of a user, a session or a run: all of them are bound to a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from autogen_core.models import ChatCompletionClient

from assay.session import AnyComposer, Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay.session import Sessions as Shared
from assay_integrations.autogen.agentchat.composing import acompose

__all__ = ["PERSON", "Sessions", "Talk"]

PERSON = "user"


class Sessions(Shared[ChatCompletionClient]):
    """Holds the stores of one conversation, or of those that share a router."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="autogen")


@dataclass(eq=False, slots=True)
class Talk:
    """A conversation: what the contexts of its agents share.

    Attributes:
        people: Names of agents that speak for a person.
        watched: Runs that are seen from outside: those begin and end themselves.
        calling: Contexts whose agent waits for tools -> the agent's name; what another context hears meanwhile is a
            sub-agent's.
    """

    sessions: Sessions
    session: Session
    client: ChatCompletionClient | None
    people: frozenset[str]
    watched: int = 0
    calling: dict[object, str] = field(default_factory=dict[object, str])

    @classmethod
    def of(
        cls,
        target: Target | StoreRouter,
        key: SessionKey,
        client: ChatCompletionClient | None,
        people: Iterable[str],
        options: SessionOptions | None,
    ) -> Talk:
        """Begin a conversation, or go on with it.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        sessions = Sessions(target, options)
        return cls(sessions, sessions.of_key(key), client, frozenset(people))

    def alone(self, context: object) -> bool:
        """Tell whether an agent's run is nobody else's: then its context is where it begins and ends."""
        return not self.watched and all(other is context for other in self.calling)

    async def wrap(self) -> None:
        """Consolidate if it is time, and if there is someone to compose."""
        compose = self._composer
        if compose is not None:
            with guard(self.session, "wrap"):
                await self.session.aio.wrap(compose)

    async def end(self, *, now: bool) -> WrapResult:
        """Close what is open, and consolidate; a fault is the caller's to see."""
        closed, compose = await self.session.aio.end(), self._composer
        return closed if compose is None else await self.session.aio.wrap(compose, now=now)

    @property
    def _composer(self) -> AnyComposer | None:
        own = None if self.client is None else partial(acompose, self.client)
        return self.session.options.wrap.model or own
