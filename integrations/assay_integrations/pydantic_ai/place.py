"""Where a hook of Pydantic AI stands: whose conversation it is in, in which run, and how deep."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, field_of, guard
from assay.session import Sessions as Shared
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.tools import RunContext

__all__ = ["Caller", "Sessions"]

# Whether the answer of the agent that is run now is to be its caller's own: an output function called it.
_hands_over: ContextVar[bool] = ContextVar("assay_pydantic_ai_hands_over", default=False)


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


class Sessions(Shared[Model]):
    """Finds the session that a run or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="pydantic-ai")

    def of_run(self, ctx: RunContext[Any]) -> Standing:
        """Give the session of a run, None with a counted fault when the user is missing; and who waits for the run."""
        nowhere: Standing = (None, None)
        return guard.value(self.router, lambda: self._of_run(ctx), nowhere, "session")

    def of_tool(self, ctx: RunContext[Any]) -> Session | None:
        """Give the session of the agent that called a tool."""
        return self.guarded(lambda: self.caller(_user(ctx)) or self._at(ctx))

    @contextmanager
    def waiting(self, session: Session, *, hands_over: bool = False) -> Generator[None, None, None]:
        """Mark the block as one in which the session's agent waits for what it has called."""
        token = _hands_over.set(hands_over)
        try:
            with self.calling(session):
                yield
        finally:
            _hands_over.reset(token)

    def _of_run(self, ctx: RunContext[Any]) -> Standing:
        waiting = self.caller(_user(ctx))
        if waiting is None:
            return self._at(ctx), None
        return waiting.sub(_agent(ctx)), Caller(waiting, _hands_over.get())

    def _at(self, ctx: RunContext[Any]) -> Session:
        return self.of_key(SessionKey(_user(ctx), ctx.conversation_id, _agent(ctx)), run=_run(ctx))


def _user(ctx: RunContext[Any]) -> str | None:
    """Find the user where an app keeps it: `deps`, which are dicts or objects as it likes, or the run's metadata."""
    user = field_of(ctx.deps, "user_id")
    user = field_of(ctx.metadata, "user_id") if user is None else user
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
