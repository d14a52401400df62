"""Where a callback of DSPy stands: whose memory is meant, in which run, and inside which tool."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import dspy
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared
from dspy.utils.callback import ACTIVE_CALL_ID

__all__ = ["SESSION", "USER", "Place", "Sessions", "key_of"]

# Settings of the host are what it carries into its threads.
USER, SESSION = "memory_user", "memory_session"
_MAX_ENDED = 1_024


@dataclass(frozen=True, slots=True)
class Place:
    """A call of the host that is going on.

    Attributes:
        session: Whose it is; None for one that is off the record.
        answers: Whether what it gives is the answer of an agent, rather than a step on the way.
        tool: Name of the tool that is called; None for a module.
        asked: What the agent was given, value by value.
    """

    session: Session | None
    answers: bool = False
    tool: str | None = None
    asked: tuple[str, ...] = ()


# Places by the id of their call, for all who share the stores of a router.
_places: WeakKeyDictionary[StoreRouter, dict[str, Place]] = WeakKeyDictionary()


class Sessions(Shared[dspy.BaseLM]):
    """Finds the session that a call of the host belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="dspy")
        self._places = _places.setdefault(self.router, {})
        # Sessions whose run has ended on an event loop, where no callback may wait for a model.
        self._ended: OrderedDict[SessionKey, Session] = OrderedDict()

    @property
    def here(self) -> Place | None:
        """Give the call that is going on in this context; None outside of every run."""
        return self._places.get(ACTIVE_CALL_ID.get() or "")

    def enter(self, call_id: str, place: Place) -> Place | None:
        """Note that a call begins; None when another callback on the same stores has noted it."""
        if call_id in self._places:
            return None
        self._places[call_id] = place
        return place

    def leave(self, call_id: str) -> Place | None:
        """Note that a call is over, and give where it stood."""
        return self._places.pop(call_id, None)

    def of_module(self, call_id: str, instance: Any, asked: tuple[str, ...]) -> Place:
        """Give the place of a module that is called: a run of its own, a part of one, or an agent that a tool asks."""
        above, key = self.here, key_of(_name(instance))
        if above is None or (above.session is not None and key.user not in (None, above.session.key.user)):
            return Place(self.guarded(lambda: self.of_key(key, run=call_id)), True, asked=asked)
        if above.session is None or above.tool is None:
            return Place(above.session, asked=above.asked)
        return Place(above.session.sub(_name(instance)), True, asked=asked)

    def of_tool(self) -> Session | None:
        """Give the session of the agent whose tool is running; outside a run, that of the block around it."""
        here = self.here
        return here.session if here is not None else self.guarded(lambda: self.of_key(key_of()))

    def set_aside(self, session: Session) -> None:
        """Keep a session whose run has ended until it can be consolidated."""
        self._ended[key_of()] = session
        if len(self._ended) > _MAX_ENDED:
            self._ended.popitem(last=False)

    def set_aside_here(self) -> Session | None:
        """Give the session that was set aside in this block, once."""
        return self._ended.pop(key_of(), None)


def key_of(agent: str | None = None) -> SessionKey:
    """Give what the settings of the host say: whose run, and which conversation, it is."""
    return SessionKey(_setting(USER), _setting(SESSION), agent)


def _setting(name: str) -> str | None:
    value = dspy.settings.get(name)
    return None if value is None else str(value)


def _name(instance: Any) -> str:
    """Name an agent: by the `name` of its module, where it has one, else by its class."""
    name = getattr(instance, "name", None)
    return name if isinstance(name, str) and name else type(instance).__name__
