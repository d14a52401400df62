"""Whose conversation a hook of a Claude agent is about, and what that conversation still holds of its briefings."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from claude_agent_sdk import ClaudeAgentOptions

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared

__all__ = ["Held", "Sessions"]

_MAX_HELD = 1_024

# The sessions that hooks have told of, by user and the host's id, newest last. The host tells a tool nothing about who
# calls it, and a session store nothing about hooks.
Heard = OrderedDict[tuple[str | None, str], SessionKey]
_heard: WeakKeyDictionary[StoreRouter, Heard] = WeakKeyDictionary()


@dataclass(slots=True)
class Held:
    """What a conversation holds of earlier briefings, for the host keeps them in its transcript."""

    refs: list[str] = field(default_factory=list[str])
    continuity: bool = False


class Sessions(Shared[ClaudeAgentOptions]):
    """Finds the session that a hook or a tool belongs to.

    Args:
        key: The user; the session and the agent, where the host's own ids are not to name them.

    Raises:
        MissingUser: The target holds a store per user and the key names none.
    """

    def __init__(self, target: Target | StoreRouter, key: SessionKey, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="anthropic_agents")
        self.key = key
        self._held: OrderedDict[str, Held] = OrderedDict()
        self.of_key(SessionKey(key.user, key.session or "unopened"))  # a missing user is told of now

    def of_hook(self, given: Mapping[str, Any]) -> Session | None:
        """Give the session of a hook; None, with a counted fault, when there is none to be had."""
        key = SessionKey(self.key.user, self.key.session or given["session_id"], self.key.agent)
        session = self.guarded(lambda: self.of_key(key))
        if session is not None:
            heard = _heard.setdefault(self.router, OrderedDict())
            heard[key.user, given["session_id"]] = session.key
            heard.move_to_end((key.user, given["session_id"]))
            if len(heard) > _MAX_HELD:
                heard.popitem(last=False)
        return session

    def hears(self, session_id: str) -> bool:
        """Tell whether hooks tell of a session of the host, by this router."""
        return (self.key.user, session_id) in _heard.get(self.router, ())

    def of_tool(self) -> Session:
        """Give the session of the agent that calls a tool: the one that its user's hooks told of last."""
        heard = reversed(_heard.get(self.router, OrderedDict()).values())
        return self.of_key(next((key for key in heard if key.user == self.key.user), self.key))

    def held(self, session: Session) -> Held:
        """Give what a conversation holds."""
        held = self._held.setdefault(session.label, Held())
        self._held.move_to_end(session.label)
        if len(self._held) > _MAX_HELD:
            self._held.popitem(last=False)
        return held

    def forget_held(self, session: Session) -> None:
        """A conversation was summed up: what it held may be gone."""
        self._held.pop(session.label, None)
