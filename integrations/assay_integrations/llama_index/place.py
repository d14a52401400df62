"""Where a run of LlamaIndex stands: whose conversation it is in, who speaks, and what waits to be told of it."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from llama_index_instrumentation.dispatcher import active_instrument_tags

from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, guard
from assay.session import Sessions as Shared
from llama_index.core.llms import LLM

__all__ = ["Run", "Sessions", "run_id"]

_RUN = "llamaindex.run_id"
_UNNAMED = "sub-agent"


class Sessions(Shared[LLM]):
    """Finds the session that a run or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="llama-index")

    def of_run(self, key: SessionKey, run: str | None) -> Session:
        """Give the session of a run that begins: its caller's when a tool of another run starts it."""
        caller = self.caller(key.user)
        return self.of_key(key, run=run) if caller is None else caller.sub(key.agent or _UNNAMED)

    def of_tool(self, key: SessionKey) -> Session | None:
        """Give the session of the run that called a tool; outside of one, that of the key."""
        return self.guarded(lambda: self.caller(key.user) or self.of_key(key))


@dataclass(eq=False)
class Run:
    """One run of an agent, or one turn of a chat engine.

    The host tells of a run where nothing can wait. What it tells is handed to the worker of the store at once, in
    order, and waited for before the next call of the model.

    Attributes:
        owner: What asked for its session, and gives its block to the model.
        block: What it is briefed with.
        root: Id of its span.
        speaker: The agent whose turn it is; `said` is what it said last, `returned` what a tool gave last.
        over: Whether its end was told.
        calls: The calls of tools that are going on, by the ids of their spans.
    """

    sessions: Sessions
    session: Session
    owner: object
    block: str = ""
    root: str | None = None
    speaker: str | None = None
    said: str = ""
    returned: str = ""
    over: bool = False
    calls: dict[str, AbstractContextManager[None]] = field(default_factory=dict[str, AbstractContextManager[None]])
    loop: asyncio.AbstractEventLoop | None = None
    _events: deque[tuple[str, Callable[[], None]]] = field(default_factory=deque[tuple[str, Callable[[], None]]])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _tasks: set[asyncio.Future[None]] = field(default_factory=set[asyncio.Future[None]])

    def tell(self, code: str, event: Callable[[Session], None]) -> None:
        """Tell the session in the name of the agent whose turn it is, as soon as its worker can."""
        speaks = self.session.named(self.speaker) if self.speaker else self.session
        self._events.append((code, partial(event, speaks)))
        task = asyncio.ensure_future(self.settled())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def flush(self) -> None:
        """Tell now what waits to be told."""
        with self._lock:
            while self._events:
                code, event = self._events.popleft()
                with guard(self.session, code):
                    event()

    async def settled(self) -> None:
        """Wait until everything is told."""
        with guard(self.session, "record"):
            await self.session.aio.run(self.flush)


def run_id() -> str | None:
    """Give the id of the workflow's run that the code of this task is in."""
    found = active_instrument_tags.get().get(_RUN)
    return None if found is None else str(found)
