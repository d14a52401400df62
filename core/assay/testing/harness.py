"""What a binding's tests provide so that the contract can drive the real host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from assay.session import SessionKey, SessionOptions, StoreRouter
from assay.testing.script import Script

__all__ = ["Capability", "ControlFlow", "Entry", "Harness", "Outcome"]

A = TypeVar("A")


class Entry(StrEnum):
    """A way in which a host runs an agent."""

    SYNC = "sync"
    ASYNC = "async"
    STREAM = "stream"
    ASTREAM = "astream"

    @property
    def streams(self) -> bool:
        """Tell whether the host gives the answer in pieces."""
        return self in (Entry.STREAM, Entry.ASTREAM)

    @property
    def awaits(self) -> bool:
        """Tell whether the host runs on an event loop."""
        return self in (Entry.ASYNC, Entry.ASTREAM)


class Capability(StrEnum):
    """What a host may be unable to show; a missing one is named in `lacks`, with its reason."""

    INJECT_EVERY_CALL = "inject-every-call"
    DATA_PLACEMENT = "data-placement"
    UNPERSISTED = "unpersisted"
    TOOL_EVENTS = "tool-events"
    TOOL_ERROR_FLAG = "tool-error-flag"
    CALL_IDS = "call-ids"
    HANDOFF = "handoff"
    SUBAGENT = "subagent"
    RUN_FAILURE = "run-failure"
    RESUME = "resume"
    INTERLEAVE_ONE_AGENT = "interleave-one-agent"
    SAVE = "save"
    CONTROL_FLOW = "control-flow"
    ASYNC_HOOKS = "async-hooks"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """A signal of the host that travels as an exception.

    Attributes:
        act: Sends it, from inside a tool: the tool `signal` of the script calls this.
    """

    name: str
    act: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a caller of the host got.

    Attributes:
        result: The final text, or None when the run failed, was interrupted or was abandoned.
        error: The object that the host raised.
        chunks: The pieces of a stream, in order.
        seen: Everything else that the host showed a consumer (events, callbacks, usage), as text.
        interrupted: Whether the run waits for `resume`.
    """

    result: str | None = None
    error: BaseException | None = None
    chunks: tuple[str, ...] = ()
    seen: str = field(default="", repr=False)
    interrupted: bool = False

    def same_as(self, other: Outcome) -> bool:
        """Tell whether a caller could not distinguish the two."""
        alike = type(self.error) is type(other.error) and str(self.error) == str(other.error)
        return alike and (self.result, self.chunks, self.interrupted) == (other.result, other.chunks, other.interrupted)


class Harness(Protocol[A]):
    """Builds and runs agents of one host; `A` is whatever stands for one of them.

    An agent has the script's model and `script.tools()` in the host's own types, and keeps the conversation of
    a session as the host does. With memory it is attached as a user would attach it.

    Attributes:
        entries: The ways in which this host runs an agent.
        control_flow: The host's own signals; cancellation and interrupts of Python are tried besides.
        package: The folder under test, such as `assay_integrations.langgraph`; "" when there is none.
        extra: The pip extra that brings the host.
        framework: Top-level modules of the host.
    """

    @property
    def entries(self) -> frozenset[Entry]: ...  # noqa: D102
    @property
    def control_flow(self) -> tuple[ControlFlow, ...]: ...  # noqa: D102
    @property
    def package(self) -> str: ...  # noqa: D102
    @property
    def extra(self) -> str: ...  # noqa: D102
    @property
    def framework(self) -> tuple[str, ...]: ...  # noqa: D102

    def build(
        self,
        script: Script,
        *,
        memory: StoreRouter | None,
        options: SessionOptions = ...,
        sub_agent: bool = False,
        user_hooks: bool = False,
    ) -> A:
        """Make an agent.

        Args:
            memory: What to attach, or None for an agent without memory.
            sub_agent: Give it an agent named `sub` (model: `script.reply(..., agent="sub")`), reached by the tool
                `ask_sub(question)` and, where the host has transfers, by `HandOff`.
            user_hooks: Install hooks of the user's own in every place where ours are; they write to `user_log`.
        """
        ...

    def run(self, agent: A, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        """Run to the end; whatever the host raises is `Outcome.error`."""
        ...

    def abandon(self, agent: A, text: str, *, key: SessionKey, entry: Entry) -> Outcome:
        """Run one of the streaming entries, take the first piece, and close the stream as a user would."""
        ...

    def resume(self, agent: A, value: object, *, key: SessionKey) -> Outcome:
        """Go on after the tool `approve(question)` interrupted the run; `value` is what the tool returns."""
        ...

    def history(self, agent: A, key: SessionKey) -> str:
        """Read the session's conversation back from the host's own store, as text."""
        ...

    def user_log(self, agent: A) -> tuple[str, ...]:
        """Give what the user's hooks wrote: which hook, with which arguments, in order."""
        ...

    def save_and_load(self, agent: A) -> A:
        """Put the agent through the host's own way to save, clone or serialise it."""
        ...

    def detach(self, agent: A) -> None:
        """Take the memory off, as a user would."""
        ...

    def snapshot(self) -> object:
        """Give what the host keeps globally (hook tables, dispatchers), in a form that can be compared."""
        ...
