"""Where a run of LlamaIndex stands: whose conversation it is in, who speaks, and what waits to be told of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from llama_index_instrumentation.dispatcher import active_instrument_tags

from assay.session import Relay, Session, SessionKey, SessionOptions, StoreRouter, Target
from assay.session import Sessions as Shared
from llama_index.core.llms import LLM

__all__ = ["Run", "Sessions", "run_id"]

_RUN = "llamaindex.run_id"


class Sessions(Shared[LLM]):
    """Finds the session that a run or a tool belongs to."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="llama-index")

    def of_run(self, key: SessionKey, run: str | None) -> Session:
        """Give the session of a run that begins: its caller's when a tool of another run starts it."""
        caller = self.caller(key.user)
        return self.of_key(key, run=run) if caller is None else caller.sub(key.agent)

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
    relay: Relay = field(init=False)

    def __post_init__(self) -> None:
        """Be ready to tell."""
        self.relay = Relay(self.session)

    def tell(self, code: str, event: Callable[[Session], None]) -> None:
        """Tell the session in the name of the agent whose turn it is, as soon as its worker can."""
        speaks = self.session.named(self.speaker) if self.speaker else self.session
        self.relay.tell(code, partial(event, speaks))


def run_id() -> str | None:
    """Give the id of the workflow's run that the code of this task is in."""
    found = active_instrument_tags.get().get(_RUN)
    return None if found is None else str(found)
