"""Where a hook of ADK stands: whose conversation it is in, in which run, and how deep."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType

from google.adk.agents import InvocationContext
from google.adk.models import BaseLlm

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared

__all__ = ["Sessions"]


@dataclass(frozen=True, slots=True)
class _Standing:
    """An agent in whose run the code of this task is.

    Attributes:
        run: Its invocation id.
        calling: Whether a tool of it is running: an agent that is run in there is a sub-agent.
    """

    session: Session
    run: str
    calling: bool


# ADK has a hook before a tool and one after it, no place around it; but each tool runs in a task of its own, where what
# is set ends with it. An agent of a nested runner has a session of its own in the host.
_standing: ContextVar[Mapping[StoreRouter, _Standing]] = ContextVar(
    "assay_google_adk_standing", default=MappingProxyType({})
)


class Sessions(Shared[BaseLlm]):
    """Finds the session that a hook or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="google-adk")

    def of_run(self, invocation: InvocationContext, agent: str | None = None) -> Session | None:
        """Give the session as an agent of a run sees it; None, with a counted fault, when the user is missing.

        Args:
            agent: Name of the agent; None for the one that the run began with.
        """
        return self.guarded(lambda: self._of_run(invocation, agent))

    def enter(self, session: Session, invocation: InvocationContext, *, calling: bool = False) -> None:
        """Say where the task stands from now on."""
        standing = _Standing(session, invocation.invocation_id, calling)
        _standing.set({**_standing.get(), self.router: standing})

    @property
    def nested(self) -> bool:
        """Tell whether the task is inside a tool of an agent that has this memory."""
        standing = _standing.get().get(self.router)
        return standing is not None and standing.calling

    def briefed(self, user: str, query: str) -> bool:
        """Tell whether the task is in a run that is briefed for just this query."""
        standing = _standing.get().get(self.router)
        if standing is None or standing.session.key.user != (user or None):
            return False
        return query.split() == standing.session.asked.split()

    def _of_run(self, invocation: InvocationContext, agent: str | None) -> Session:
        name = agent or str(getattr(invocation.agent, "name", invocation.app_name))
        user = invocation.user_id or None
        standing = _standing.get().get(self.router)
        if standing is not None and standing.session.key.user == user:
            if standing.run == invocation.invocation_id and not standing.session.root:
                return standing.session.named(name)
            if standing.run != invocation.invocation_id and standing.calling:
                return standing.session.sub(name)
        waiting = self.caller(user)  # an agent of another framework, whose tool runs this one
        if waiting is not None:
            return waiting.sub(name)
        key = SessionKey(user, invocation.session.id, _speaker(invocation, name))
        return self.of_key(key, run=invocation.invocation_id)


def _speaker(invocation: InvocationContext, name: str) -> str:
    """Name an agent of a run: the first one of an app speaks for the app, for its own name is often `root_agent`."""
    first: object = getattr(invocation.agent, "root_agent", invocation.agent)
    return invocation.app_name if name == getattr(first, "name", None) else name
