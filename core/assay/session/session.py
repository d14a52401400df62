"""What a host tells its memory, and what it asks of it: the verbs that every adapter translates its hooks into."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from assay.model.constants import MAX_IDS_PER_CALL
from assay.model.labels import Trust
from assay.model.recall import Briefing
from assay.model.wrap import Composer, WrapResult
from assay.session.aio import AsyncSession
from assay.session.conversation import CallState, Conversation, RunState
from assay.session.engine import database_of
from assay.session.faults import FaultLog
from assay.session.guarding import guard
from assay.session.keys import SessionKey
from assay.session.labels import digest
from assay.session.policy import Event, SessionOptions
from assay.session.recording import Occurrence, as_text, comes_from, error_text, record
from assay.session.shown import fingerprints
from assay.session.wrapping import NO_COMPOSER, drive, rounds
from assay.storage.session_rows import add_receipt

if TYPE_CHECKING:
    from assay.store import Store

__all__ = ["Session"]

_NOTHING = Briefing("")
_UNNAMED = "sub-agent"


class Session:
    """A conversation with an agent, seen from one of its agents; made by `StoreRouter.session`.

    A verb returns after its transaction is durable, and raises when the store fails: adapters put `guard` around it.
    Verbs with an `id` write once per id. All of them may be called from any thread.

    Attributes:
        options: How the adapter that asked for it uses the memory.
        root: False for the session as a sub-agent sees it.
    """

    def __init__(
        self, conversation: Conversation, options: SessionOptions, agent: str | None, *, host: str, root: bool = True
    ) -> None:
        self.conversation = conversation
        self.options = options
        self.root = root
        self._agent = agent
        self._host = host

    # -- who -------------------------------------------------------------------------------------------------------

    @property
    def key(self) -> SessionKey:
        """Give user, session (the minted one where the host has none) and agent."""
        return SessionKey(self.conversation.key.user, self.conversation.session, self._agent)

    @property
    def label(self) -> str:
        """Name the session in the log."""
        return self.conversation.session

    @property
    def faults(self) -> FaultLog:
        """Give where its faults are counted."""
        return self.conversation.home.faults

    @property
    def raises(self) -> bool:
        """Tell whether faults end the host's run."""
        return self.options.on_fault == "raise"

    @property
    def asked(self) -> str:
        """Give the newest user message, or a sub-agent's task: recalled text is placed before it."""
        asked = self.conversation.asked
        return asked.get(None, "") if self.root else asked.get(self._agent, asked.get(None, ""))

    @property
    def composing(self) -> bool:
        """Tell whether the caller is this session's own wrap: its model call is neither recorded nor briefed."""
        return self.conversation.composing

    @property
    def aio(self) -> AsyncSession:
        """Give the same verbs as coroutines, run on the one worker thread of the store."""
        return AsyncSession(self)

    def store(self) -> AbstractContextManager[Store]:
        """Give the store behind the session for a call of its own verbs, as a host's native memory interface makes.

        Raises:
            AssayError: It cannot be opened, or is left alone after several failures.
        """
        return self.conversation.home.store()

    def named(self, agent: str | None) -> Session:
        """Give the same session as another agent of the run speaks in it."""
        return Session(self.conversation, self.options, agent, host=self._host, root=self.root)

    def sub(self, agent: str | None) -> Session:
        """Give the session as a sub-agent of the run sees it; one without a name is `sub-agent`.

        What the sub-agent says and does is recorded under its name. Its task is not the user's words and stands in
        the call that gave it, so `user_message` only sets what it is briefed for; its start, end and failure are
        not the run's; and it never wraps.
        """
        return Session(self.conversation, self.options, agent or _UNNAMED, host=self._host, root=False)

    def __repr__(self) -> str:
        """Show ids, never content."""
        return f"Session({self.conversation.session!r}, agent={self._agent!r})"

    # -- runs ------------------------------------------------------------------------------------------------------

    def run_started(self, *, id: str | None = None) -> None:
        """Open a run; with an id that is open already, in this process or another, go on with it."""
        with self.conversation.lock:
            # Not `composing`: a run that begins beside a wrap in another thread is a run.
            if self.root and not self.conversation.within_wrap:
                with self.conversation.home.store() as store:
                    self.conversation.begin(store, id)

    def run_ended(self, output: object) -> None:
        """Close the run; its output is recorded unless it is what the agent said last. It is not yet a success."""
        text = "" if output is None else as_text(output)
        with self.conversation.lock, self.conversation.home.store() as store:
            if self.composing or self.conversation.adopted(store) is None:
                return
            if text not in (self.conversation.said.get(self._agent), self.conversation.heard if self.root else None):
                self.agent_message(text)
            if self.root:
                self.conversation.finish(store, "ended")

    def run_failed(self, error: BaseException) -> None:
        """Record that the run failed and close it.

        Cancellation, interrupts and exits are no failures: the run stays open, and a resume goes on with it.
        """
        if not isinstance(error, Exception) or not self.root:
            return
        with self.conversation.lock, self.conversation.home.store() as store:
            if self.composing or self.conversation.failed:
                return
            run = self.conversation.run
            if run is None or not comes_from(error, run.error):
                source = f"host:{self._host}"
                self._record(store, Occurrence(Event.RUN_FAILED, f"run failed: {error_text(error)}", source))
            self.conversation.finish(store, "failed")

    # -- what is said ----------------------------------------------------------------------------------------------

    def user_message(self, text: str, *, id: str | None = None) -> None:
        """Record what the person said, in their own words."""
        user = self.conversation.key.user
        with self.conversation.lock:
            if self.composing:
                return
            self.conversation.asked[None if self.root else self._agent] = text
            if self.root:
                self._tell(Occurrence(Event.USER_MESSAGE, text, f"user:{user}" if user else "user", id or ""))

    def agent_message(self, text: str, *, id: str | None = None, agent: str | None = None) -> None:
        """Record what the agent said."""
        speaker = agent or self._agent
        with self.conversation.lock:
            self._tell(Occurrence(Event.AGENT_MESSAGE, text, _agent(speaker), id or "", by_model=True))
            self.conversation.said[speaker] = self.conversation.heard = text

    def remember(self, text: str) -> tuple[str, ...]:
        """Record what the agent wants kept, and give the refs: none when memory holds it already."""
        return self._tell(Occurrence(Event.REMEMBER, text, _agent(self._agent), by_model=True))

    def handoff(self, source: str, target: str, *, id: str | None = None) -> None:
        """Record that one agent handed the conversation to another."""
        self._tell(Occurrence(Event.HANDOFF, f"{source} -> {target}", _agent(source), id or ""))

    # -- tools -----------------------------------------------------------------------------------------------------

    def tool_call(self, name: str, arguments: object, *, call_id: str | None) -> None:
        """Record that a tool is called; the same id with the same arguments, as on a resume, is the same call."""
        text = f"{name} {as_text(arguments)}"
        identity = digest(text)
        with self.conversation.lock, self.conversation.home.store() as store:
            run = self._run(store, name)
            if run is None:
                return
            call = run.calls.get((name, call_id))
            if call is not None and call_id is not None and call.identity == identity:
                call.settled = False
                return
            call = run.calls[name, call_id] = CallState(identity)
            told = f"{call_id}:{identity}" if call_id is not None else ""
            what = Occurrence(Event.TOOL_CALL, text, _agent(self._agent), told, name, by_model=True)
            call.ref = next(iter(self._record(store, what)), None)

    def tool_result(self, name: str, result: object, *, call_id: str | None) -> None:
        """Record what a tool gave; a call whose end was seen already has no second one."""
        self._settle(Event.TOOL_RESULT, name, as_text(result), call_id)

    def tool_error(self, name: str, error: BaseException | str, *, call_id: str | None) -> None:
        """Record that a tool failed; cancellation and other signals that are no errors of a tool are not recorded."""
        if isinstance(error, (str, Exception)):
            self._settle(Event.TOOL_ERROR, name, f"{name} failed: {error_text(error)}", call_id, error)

    def _settle(
        self, event: Event, name: str, text: str, call_id: str | None, error: Exception | str | None = None
    ) -> None:
        with self.conversation.lock, self.conversation.home.store() as store:
            run = self._run(store, name)
            if run is None:
                return
            # When its call was not seen, nothing but the text tells two ends of one id apart.
            call = run.calls.get((name, call_id), CallState(""))
            if call.settled:
                return
            told = f"{call_id}:{call.identity}:{digest(text)}" if call_id is not None else ""
            derived = (call.ref,) if call.ref else ()
            refs = self._record(store, Occurrence(event, text, f"tool:{name}", told, name, derived))
            call.settled, run.error = True, error
            if self.options.record.tool_trust.get(name) is Trust.EXTERNAL:
                run.note_external(refs)

    # -- what is shown ---------------------------------------------------------------------------------------------

    def briefing(
        self,
        query: str | None = None,
        *,
        tokens: int | None = None,
        exclude: Sequence[str] = (),
        continuity: bool = True,
    ) -> Briefing:
        """Give what memory holds for a query: the same text in every call of a run, so that prompts keep their prefix.

        Args:
            query: None for the newest user message.
            tokens: None for `SessionOptions.tokens`.
            exclude: Full refs that a host which keeps what it was given still has in the conversation.
            continuity: False when it still has the continuity.

        Raises:
            TimeoutError: It took longer than `SessionOptions.briefing_timeout`; later calls of the run go without.
        """
        query = self.asked if query is None else query
        budget = self.options.tokens if tokens is None else tokens
        with self.conversation.lock:
            known = self.briefed(query, tokens=budget)
            if known is not None:
                return known
            with self.conversation.home.store() as store:
                run = self.conversation.current(store)
                run.briefings[query, budget] = _NOTHING  # should it fail, the later prompts of the run are alike
                briefing = self._fresh(store, run, query, budget, exclude, continuity)
                run.briefings[query, budget] = briefing
                with guard(self, "receipt"):
                    self._keep_receipt(store, run, briefing)
                return briefing

    def briefed(self, query: str | None = None, *, tokens: int | None = None) -> Briefing | None:
        """Give the briefing that the open run has already, without the disk and at once.

        Returns:
            None when there is none yet, or while another thread tells the session something.
        """
        conversation = self.conversation
        if not conversation.lock.acquire(blocking=False):
            return None
        try:
            if self.composing:
                return _NOTHING
            asked = self.asked if query is None else query
            budget = self.options.tokens if tokens is None else tokens
            return None if conversation.run is None else conversation.run.briefings.get((asked, budget))
        finally:
            conversation.lock.release()

    def found(self, text: str) -> str:
        """Give what memory holds for a text, beside every run: no receipt is kept, and later calls ask anew."""
        with self.store() as store:
            return store.briefing(text, tokens=self.options.tokens).text

    def _fresh(
        self, store: Store, run: RunState, query: str, budget: int, exclude: Sequence[str], continuity: bool
    ) -> Briefing:
        limit, began = self.options.briefing_timeout, time.monotonic()
        briefing = store.briefing(
            query,
            tokens=budget,
            session=self.conversation.session,
            run=run.id,
            exclude=(*exclude, *run.recorded)[-MAX_IDS_PER_CALL:],
            continuity=continuity,
            deadline=limit,
        )
        if time.monotonic() - began > limit:
            raise TimeoutError(f"a briefing took longer than {limit} s")
        return briefing

    def _keep_receipt(self, store: Store, run: RunState, briefing: Briefing) -> None:
        if briefing:
            session = self.conversation.session
            database_of(store).operational(
                lambda tx: add_receipt(tx, session, run.id, briefing.refs, fingerprints(tx, briefing))
            )

    # -- consolidation ---------------------------------------------------------------------------------------------

    def wrap(self, compose: Composer, *, now: bool = False) -> WrapResult:
        """Consolidate what is unwrapped, if the policy says that it is time.

        Args:
            compose: The agent's own model; `WrapPolicy.model` comes before it.
            now: Wrap whatever the policy says.

        Returns:
            A result whose status is `not_due` when it is not time.
        """
        return drive(rounds(self, now=now), self, compose)

    def end(self, compose: Composer | None = None) -> WrapResult:
        """Close the open run, and wrap if the policy says that it is time; a second call does nothing more."""
        self.close_run()
        return NO_COMPOSER if compose is None else self.wrap(compose)

    def close_run(self) -> None:
        """Close the open run, if there is one."""
        with self.conversation.lock:
            if self.root and self.conversation.run is not None:
                with self.conversation.home.store() as store:
                    self.conversation.finish(store, "ended")

    @contextmanager
    def paused(self) -> Generator[None]:
        """Keep what happens inside the block off the record."""
        with self.conversation.lock:
            self.conversation.paused += 1
        try:
            yield
        finally:
            with self.conversation.lock:
                self.conversation.paused -= 1

    # -- inside ----------------------------------------------------------------------------------------------------

    def _run(self, store: Store, tool: str, *, adopt: bool = True) -> RunState | None:
        """Give the open run, or None when nothing is to be recorded."""
        if self.composing or self.conversation.paused or self.options.record.ignores(tool):
            return None
        return self.conversation.current(store, adopt=adopt)

    def _tell(self, what: Occurrence) -> tuple[str, ...]:
        with self.conversation.lock, self.conversation.home.store() as store:
            return self._record(store, what)

    def _record(self, store: Store, what: Occurrence) -> tuple[str, ...]:
        row = self.options.record.row(what.event, what.tool)
        run = self._run(store, what.tool, adopt=what.event is not Event.USER_MESSAGE)
        return () if row is None or run is None else record(store, self.conversation, run, what, row)


def _agent(name: str | None) -> str:
    return f"agent:{name}" if name else "agent"
