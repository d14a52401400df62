"""What a scripted model says, independent of any host, and a log of what it was given to read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "Call",
    "Compose",
    "Fail",
    "HandOff",
    "Meet",
    "Message",
    "Prompt",
    "Say",
    "Script",
    "ScriptExhausted",
    "Step",
    "ToolBroke",
]

MEET_SECONDS = 10.0


class ScriptExhausted(AssertionError):
    """The host called the model more often than the script has answers."""


class ToolBroke(RuntimeError):
    """What the tool `boom` raises."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model received it.

    Attributes:
        role: One of system, user, assistant, tool, whatever the host calls them.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that one call of the model received.

    Attributes:
        agent: Which agent's model was called: `main` or `sub`.
        composed: Whether the script answered it as the call that writes a continuity.
    """

    messages: tuple[Message, ...]
    agent: str = "main"
    composed: bool = False

    @property
    def text(self) -> str:
        """Give all messages as one text."""
        return "\n".join(message.text for message in self.messages)

    def of(self, role: str) -> tuple[str, ...]:
        """Give the texts of one role, in order."""
        return tuple(message.text for message in self.messages if message.role == role)


@dataclass(frozen=True, slots=True)
class Say:
    """Reply with a text, or with what a function makes of the prompt."""

    text: str | Callable[[Prompt], str]


@dataclass(frozen=True, slots=True)
class Call:
    """Ask for one call of a tool."""

    name: str
    args: Mapping[str, object]
    id: str = "c0"


@dataclass(frozen=True, slots=True)
class Fail:
    """Let the model raise; the object must reach the caller of the host unchanged."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class HandOff:
    """Transfer to another agent of the host."""

    to: str = "sub"


@dataclass(frozen=True, slots=True)
class Meet:
    """Wait until the other runs have reached the same barrier, then go on with the next step."""

    barrier: threading.Barrier


@dataclass(frozen=True, slots=True)
class Compose:
    """Answer the call that writes a continuity with what the function makes of its prompt."""

    write: Callable[[str], str]


Step = Say | Call | Fail | HandOff | Meet | Compose
Reply = Say | Call | HandOff


class Script:
    """The answers of a model, one step a call, and the tools that its agent has.

    A harness gives its host a model that calls `reply` and turns the result into the host's types.

    Args:
        *steps: Answers of the agent, in order.
        sub: Answers of the agent named `sub`.
        lanes: Text of a user -> answers, for runs that are interleaved: a call goes to the lane whose text is
            the newest user message.
        documents: What the tool `look_up` finds, by name.
        signal: What the tool `signal` does; it may raise.
    """

    def __init__(
        self,
        *steps: Step,
        sub: Sequence[Step] = (),
        lanes: Mapping[str, Sequence[Step]] | None = None,
        documents: Mapping[str, str] | None = None,
        signal: Callable[[], object] | None = None,
    ) -> None:
        self._lanes: dict[str, list[Step]] = {"main": list(steps), "sub": list(sub)}
        self._lanes |= {text: list(lane) for text, lane in (lanes or {}).items()}
        self._lock = threading.Lock()
        self._signal = signal
        self.documents = dict(documents or {})
        self.prompts: list[Prompt] = []
        self.raised: list[BaseException] = []

    def extend(self, *steps: Step, agent: str = "main") -> None:
        """Add answers, for a further run of the same agent."""
        with self._lock:
            self._lanes[agent].extend(steps)

    def reply(self, messages: Iterable[tuple[str, str]], *, agent: str = "main") -> Reply:
        """Log what the model received and give its answer, as a text or a call.

        Raises:
            ScriptExhausted: No step is left.
            BaseException: What a `Fail` step holds.
        """
        received = tuple(Message(role, text) for role, text in messages)
        lane = self._lane(received, agent)
        step = self._pop(lane)
        prompt = Prompt(received, agent, composed=isinstance(step, Compose))
        self.prompts.append(prompt)
        while isinstance(step, Meet):
            step.barrier.wait(MEET_SECONDS)
            step = self._pop(lane)
        if isinstance(step, Fail):
            raise step.error
        if isinstance(step, Compose):
            return Say(step.write(prompt.text))
        if isinstance(step, Say) and callable(step.text):
            return Say(step.text(prompt))
        return step

    def _lane(self, received: tuple[Message, ...], agent: str) -> str:
        newest = next((message.text for message in reversed(received) if message.role == "user"), "")
        return newest if newest in self._lanes and agent == "main" else agent

    def _pop(self, lane: str) -> Step:
        with self._lock:
            if not self._lanes[lane]:
                raise ScriptExhausted(f"the model was called once more than the script of {lane!r} allows")
            return self._lanes[lane].pop(0)

    def tools(self) -> tuple[Callable[..., object], ...]:
        """Give the tools as annotated functions with docstrings: add, boom, look_up, signal."""

        def add(a: int, b: int) -> int:
            """Add two numbers."""
            return a + b

        def boom(x: str) -> str:
            """Break."""
            error = ToolBroke(f"boom-{x}")
            self.raised.append(error)
            raise error

        def look_up(name: str) -> str:
            """Look a document up by its name."""
            return self.documents[name]

        def signal() -> str:
            """Do what the host's own tools may do besides returning."""
            try:
                return str(self._signal() if self._signal else "")
            except BaseException as error:
                self.raised.append(error)
                raise

        return add, boom, look_up, signal
