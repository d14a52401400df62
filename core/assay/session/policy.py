"""What is recorded, when a session is consolidated, and where recalled text is placed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from assay.errors import InvalidInput
from assay.model.labels import Kind, Origin, Trust
from assay.model.wrap import Composer

__all__ = ["AnyComposer", "Event", "Placement", "RecordPolicy", "Row", "SessionOptions", "WrapPolicy"]

AnyComposer = Composer | Callable[[str], Awaitable[str]]


class Event(StrEnum):
    """What a host tells the port that happened; each becomes an episode by one row of the table."""

    USER_MESSAGE = "user_message"
    AGENT_MESSAGE = "agent_message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TOOL_ERROR = "tool_error"
    HANDOFF = "handoff"
    RUN_FAILED = "run_failed"
    REMEMBER = "remember"


@dataclass(frozen=True, slots=True)
class Row:
    """How one event is recorded.

    Attributes:
        limit: Longest text of one episode, in characters.
        splits: A longer text becomes several linked episodes; else its middle is left out.
        failure: The episode is flagged as an outcome that failed.
    """

    kind: Kind
    origin: Origin
    trust: Trust
    limit: int
    splits: bool = False
    failure: bool = False


_TABLE: Final[Mapping[Event, Row]] = MappingProxyType(
    {
        Event.USER_MESSAGE: Row(Kind.OBSERVATION, Origin.USER, Trust.AGENT, 8_000, splits=True),
        Event.AGENT_MESSAGE: Row(Kind.OBSERVATION, Origin.AGENT, Trust.AGENT, 8_000, splits=True),
        Event.TOOL_CALL: Row(Kind.CONTEXT, Origin.AGENT, Trust.AGENT, 2_000),
        Event.TOOL_RESULT: Row(Kind.OBSERVATION, Origin.TOOL, Trust.TOOL, 4_000),
        Event.TOOL_ERROR: Row(Kind.OUTCOME, Origin.HOST, Trust.TOOL, 2_000, failure=True),
        Event.HANDOFF: Row(Kind.CONTEXT, Origin.HOST, Trust.AGENT, 400),
        Event.REMEMBER: Row(Kind.OBSERVATION, Origin.AGENT, Trust.AGENT, 8_000, splits=True),
        Event.RUN_FAILED: Row(Kind.OUTCOME, Origin.HOST, Trust.TOOL, 2_000, failure=True),
    }
)


@dataclass(frozen=True, slots=True)
class RecordPolicy:
    """Which events become episodes, and with which labels; every adapter reads the same table.

    Attributes:
        only: The events to record; None for all. What the agent asks to remember is kept all the same.
        skip_tools: Tools whose calls, results and errors are not recorded.
        memory_tools: The port's own tools; what they read and write is in the store already.
        tool_trust: Tool -> trust of its results. Declare retrieval, web and remote agents `Trust.EXTERNAL`.
        kinds: Event -> another kind than the table's.
        user_trust: Trust of user messages: `Trust.EXTERNAL` when several people speak in one store.
    """

    only: frozenset[Event] | None = None
    skip_tools: frozenset[str] = frozenset()
    memory_tools: frozenset[str] = frozenset({"recall", "remember"})
    tool_trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    kinds: Mapping[Event, Kind] = field(default_factory=dict[Event, Kind])
    user_trust: Trust = Trust.AGENT

    def __post_init__(self) -> None:
        for name, trust in {**self.tool_trust, "user_trust": self.user_trust}.items():
            if trust.rank > Trust.AGENT.rank:
                raise InvalidInput(
                    name, "an adapter records at most `agent`: the operator speaks through the store itself"
                )

    def ignores(self, tool: str) -> bool:
        """Tell whether nothing of a tool is recorded."""
        return tool in self.skip_tools or tool in self.memory_tools

    def row(self, event: Event, tool: str = "") -> Row | None:
        """Give how an event is recorded, or None when the policy leaves it out."""
        if self.only is not None and event not in self.only and event is not Event.REMEMBER:
            return None
        row = _TABLE[event]
        trust, kind = row.trust, self.kinds.get(event, row.kind)
        if event is Event.USER_MESSAGE:
            trust = self.user_trust
        elif event in (Event.TOOL_RESULT, Event.TOOL_ERROR):
            trust = self.tool_trust.get(tool, trust)
        return row if (trust, kind) == (row.trust, row.kind) else replace(row, trust=trust, kind=kind)


@dataclass(frozen=True, slots=True)
class WrapPolicy:
    """When a session is consolidated; looked at when a run ends and when a session ends, by no timer.

    Attributes:
        episodes: Unwrapped episodes that make a wrap due; None for never.
        idle: Age of the newest unwrapped episode of earlier runs that makes a wrap due; None for never.
        model: Composes instead of the agent's own model.
        retries: How often the findings of a refused text go back to the composer.
    """

    episodes: int | None = 40
    idle: timedelta | None = timedelta(hours=6)
    model: AnyComposer | None = None
    retries: int = 2

    @classmethod
    def after(cls, episodes: int = 40, *, idle: timedelta | None = timedelta(hours=6)) -> WrapPolicy:
        """Wrap when enough has gathered, or when a session was left idle with something unwrapped."""
        return cls(episodes, idle)

    @classmethod
    def each_run(cls) -> WrapPolicy:
        """Wrap at the end of every run: one more call of a model each time."""
        return cls(1, None)

    @classmethod
    def manual(cls) -> WrapPolicy:
        """Never wrap by itself; call `store.wrap` or `session.wrap(..., now=True)`."""
        return cls(None, None)

    def composed_by(self, model: AnyComposer) -> WrapPolicy:
        """Give the policy with a composer of its own."""
        return replace(self, model=model)


class Placement(StrEnum):
    """Where recalled text stands in a prompt.

    `DATA`: a user-role message of its own before the newest user message. `SYSTEM`: after the host's system text,
    for models that overlook early user messages; weaker against injected instructions.
    """

    DATA = "data"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How an adapter uses a memory.

    Attributes:
        tokens: Size of a briefing, in the store's token counter.
        briefing_timeout: Seconds after which a run goes on without its briefing.
        on_fault: `raise` lets a fault of the memory end the host's run: for debugging.
    """

    record: RecordPolicy = RecordPolicy()
    wrap: WrapPolicy = WrapPolicy()
    placement: Placement = Placement.DATA
    tokens: int = 1_200
    briefing_timeout: float = 2.0
    on_fault: Literal["continue", "raise"] = "continue"
