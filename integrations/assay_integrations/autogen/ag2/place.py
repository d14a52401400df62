"""Where a hook of AG2 stands: whose conversation it is in, and who is waiting for it."""

from __future__ import annotations

from ag2.annotations import Context
from ag2.config import ModelConfig
from ag2.utils import AGENT_CONTEXT_DEPENDENCY_KEY, MODEL_CONFIG_CONTEXT_DEPENDENCY_KEY

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared

__all__ = ["Sessions", "model_of"]


class Sessions(Shared[ModelConfig]):
    """Finds the session that a turn or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="ag2")

    def of_turn(self, context: Context) -> Session | None:
        """Give the session of an agent's turn; None, with a counted fault, when the user is missing."""
        return self.guarded(lambda: self._of_turn(context))

    def of_tool(self, context: Context) -> Session | None:
        """Give the session of the agent that called a tool; None as above."""
        return self.guarded(lambda: self.caller(_variable(context, "user_id")) or self._at(context))

    def _of_turn(self, context: Context) -> Session:
        waiting = self.caller(_variable(context, "user_id"))
        return self._at(context) if waiting is None else waiting.sub(_agent(context))

    def _at(self, context: Context) -> Session:
        # A stream has one turn at a time, and a turn that goes on with an earlier one has no id that says so.
        session = _variable(context, "session_id") or str(context.stream.id)
        return self.of_key(SessionKey(_variable(context, "user_id"), session, _agent(context)))


def model_of(context: Context) -> ModelConfig | None:
    """Give what makes the client of the agent that is running."""
    model: ModelConfig | None = context.dependencies.get(MODEL_CONFIG_CONTEXT_DEPENDENCY_KEY)
    return model


def _agent(context: Context) -> str | None:
    return getattr(context.dependencies.get(AGENT_CONTEXT_DEPENDENCY_KEY), "name", None)


def _variable(context: Context, name: str) -> str | None:
    value: object = context.variables.get(name)
    return None if value is None else str(value)
