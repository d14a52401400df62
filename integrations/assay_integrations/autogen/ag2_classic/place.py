"""Where a hook of AG2 classic stands: in which conversation, and in whose run.

A hook is told of no user, no session and no run: an agent is attached to a conversation, which knows them.
"""

from __future__ import annotations

from assay.session import SessionOptions, StoreRouter, Talk, Target
from assay.session import Sessions as Shared
from autogen import ConversableAgent

__all__ = ["AgentTalk", "Sessions"]

AgentTalk = Talk[ConversableAgent]


class Sessions(Shared[ConversableAgent]):
    """Holds the stores of one conversation, or of those that share a router; an agent composes with its own client."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="ag2-classic")
