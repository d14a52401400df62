"""Whose conversation a run of smolagents is: the host has no ids, so the one who attaches a memory says it."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import uuid
from dataclasses import replace

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared
from smolagents.models import Model

__all__ = ["Sessions"]


class Sessions(Shared[Model]):
    """Finds the session that a run or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, key: SessionKey, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="smolagents")
        self.key = key
        # Runs without a session are told apart by nothing of the host's.
        self._run = uuid.uuid4().hex if key.session is None else None

    def check(self) -> None:
        """Tell of a missing user now, before a run.

        Raises:
            MissingUser: The target holds a store per user and the key names none.
        """
        self._of_run(None)

    def of_run(self, agent: str | None) -> Session | None:
        """Give the session of an agent's run: its caller's when a tool of another run starts it."""
        return self.guarded(lambda: self._of_run(agent))

    def of_tool(self) -> Session | None:
        """Give the session of the agent that called a tool; None, with a counted fault, when there is none."""
        return self.caller(None) or self.guarded(lambda: self.of_key(self.key, run=self._run))

    def _of_run(self, agent: str | None) -> Session:
        caller = self.caller(self.key.user)
        if caller is not None:
            return caller.sub(agent)
        return self.of_key(replace(self.key, agent=agent), run=self._run)
