"""Where a hook of Pydantic AI stands: whose conversation it is in, in which run, and how deep."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.tools import RunContext

__all__ = ["Caller", "Sessions"]

_UNNAMED = "sub-agent"


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent that is waiting for another one.

    Attributes:
        hands_over: Whether the answer of the other one is to be its own: an output function called it.
    """

    session: Session
    hands_over: bool

    @property
    def name(self) -> str:
        """Name the agent."""
        return self.session.key.agent or "agent"


Standing = tuple[Session | None, Caller | None]

# Who is waiting in this task: an agent that is run now is a sub-agent, though its conversation has an id of its own.
_waiting: ContextVar[Mapping[StoreRouter, Caller]] = ContextVar(
    "assay_pydantic_ai_waiting", default=MappingProxyType({})
)


class Sessions:
    """Finds the session that a run or a tool belongs to.

    Args:
        target: What holds the memory; a `StoreRouter` is shared with whoever else holds it.
    """

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        self.router = StoreRouter.of(target)
        self.options = options or SessionOptions()
        self._owned = self.router is not target

    def of_run(self, ctx: RunContext[Any]) -> Standing:
        """Give the session of a run, None with a counted fault when the user is missing; and who waits for the run."""
        nowhere: Standing = (None, None)
        return guard.value(self.router, lambda: self._of_run(ctx), nowhere, "session")

    def of_tool(self, ctx: RunContext[Any]) -> Session | None:
        """Give the session of the agent that called a tool."""
        return guard.value(self.router, lambda: self._of_tool(ctx), None, "session")

    @contextmanager
    def waiting(self, session: Session, *, hands_over: bool = False) -> Generator[None, None, None]:
        """Mark the block as one in which the session's agent waits for what it has called."""
        token = _waiting.set({**_waiting.get(), self.router: Caller(session, hands_over)})
        try:
            yield
        finally:
            _waiting.reset(token)

    def of_key(self, key: SessionKey) -> Session:
        """Give the session of a key.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        return self.router.session(key, options=self.options, host="pydantic-ai")

    def close(self) -> None:
        """Close the stores that were opened here; a router that was handed in is its owner's to close."""
        if self._owned:
            self.router.close()

    def _of_run(self, ctx: RunContext[Any]) -> Standing:
        caller = self._caller(ctx)
        return (caller.session.sub(_agent(ctx) or _UNNAMED) if caller else self._at(ctx)), caller

    def _of_tool(self, ctx: RunContext[Any]) -> Session:
        caller = self._caller(ctx)
        return caller.session if caller else self._at(ctx)

    def _caller(self, ctx: RunContext[Any]) -> Caller | None:
        """Give the agent that waits for this run, unless that one serves another person."""
        caller = _waiting.get().get(self.router)
        return caller if caller is not None and _user(ctx) in (None, caller.session.key.user) else None

    def _at(self, ctx: RunContext[Any]) -> Session:
        key = SessionKey(_user(ctx), ctx.conversation_id, _agent(ctx))
        return self.router.session(key, run=_run(ctx), options=self.options, host="pydantic-ai")


def _user(ctx: RunContext[Any]) -> str | None:
    """Find the user where an app keeps it: `deps`, which are dicts or objects as it likes, or the run's metadata."""
    deps: object = ctx.deps
    user = cast("dict[str, Any]", deps).get("user_id") if isinstance(deps, dict) else getattr(deps, "user_id", None)
    user = (ctx.metadata or {}).get("user_id") if user is None else user
    return None if user is None else str(user)


def _agent(ctx: RunContext[Any]) -> str | None:
    return None if ctx.agent is None else ctx.agent.name


def _run(ctx: RunContext[Any]) -> str | None:
    """Name the run as memory sees it: one that was started to answer a deferred call is the run that made the call."""
    return ctx.run_id if ctx.prompt is not None else _asked_in(ctx.messages) or ctx.run_id


def _asked_in(history: Sequence[ModelMessage]) -> str | None:
    requests = [message for message in history if isinstance(message, ModelRequest)]
    asked = (one for one in reversed(requests) if any(isinstance(part, UserPromptPart) for part in one.parts))
    return next((one.run_id for one in asked), None)
