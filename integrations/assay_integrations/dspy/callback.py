"""A memory for programs of DSPy: records what happens in their runs, briefs their models, and consolidates."""

# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import asyncio
from typing import Any

import dspy
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.dspy import events
from assay_integrations.dspy.adapter import Messages, briefing
from assay_integrations.dspy.composing import acompose, compose, unobserved
from assay_integrations.dspy.place import Place, Sessions
from dspy.utils.callback import BaseCallback

__all__ = ["AssayCallback"]

_OFF_THE_RECORD = Place(None)


class AssayCallback(BaseCallback):  # type: ignore[misc]  # the host has no types
    """Gives programs a memory that outlives their runs.

    `session(...)` installs it for a block. Configured for a whole program, it serves any number of users and runs at
    once, and `session(memory, user=, session=)` or the settings `memory_user` and `memory_session` say whose a run is.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Example:
        memory = AssayCallback("memory/{user}.db")
        dspy.configure(lm=lm, callbacks=[memory], adapter=memory.attach())
        with dspy.context(memory_user="ada", memory_session="s1"):
            program(question="When do deploys go out?")
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self.sessions = Sessions(target, options)

    def __deepcopy__(self, memo: object) -> AssayCallback:
        """Give itself: the copies of a program share its memory."""
        return self

    def attach(self, adapter: dspy.Adapter | None = None) -> dspy.Adapter:
        """Give an adapter that does what this one does (None for `ChatAdapter`), and briefs each prompt of a run."""
        return briefing(adapter or dspy.ChatAdapter(), self._briefed)

    # -- the run ---------------------------------------------------------------------------------------------------

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Open a run, or begin a part of one; a retriever, which the host tells of like a module, is a tool."""
        if not isinstance(instance, dspy.Module):
            return self.on_tool_start(call_id, instance, inputs)
        given = events.given(inputs)
        place = self.sessions.enter(call_id, self.sessions.of_module(call_id, instance, tuple(given.values())))
        if place is not None and place.session is not None and place.answers:
            with guard(place.session, "user_message"):
                place.session.run_started()
                place.session.user_message(events.text(given))

    def on_module_end(self, call_id: str, outputs: Any | None, exception: BaseException | None = None) -> None:
        """Close the run, and consolidate if it is time: on an event loop that waits for the end of the block."""
        place = self.sessions.leave(call_id)
        if place is None or place.session is None:
            return
        session = place.session
        if place.tool is not None:
            return self._returned(session, place.tool, call_id, outputs, exception)
        if not place.answers:
            return
        with guard(session, "run_ended"):
            if exception is None:
                session.run_ended(events.answer(outputs))
            else:
                session.run_failed(exception)
        if not session.root or exception is not None:
            return
        if _is_on_a_loop():
            self.sessions.set_aside(session)
        else:
            with unobserved():
                self.sessions.wrap(session, compose)

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Leave what an evaluation tries off the record, and unbriefed: nobody has asked it."""
        self.sessions.enter(call_id, _OFF_THE_RECORD)

    def on_evaluate_end(self, call_id: str, outputs: Any | None, exception: BaseException | None = None) -> None:
        """Be back on the record."""
        self.sessions.leave(call_id)

    # An optimiser tries a program as an evaluation does.
    on_compile_start = on_evaluate_start
    on_compile_end = on_evaluate_end

    # -- the model -------------------------------------------------------------------------------------------------

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Keep the model: what the run's own modules used last composes its wrap."""
        here = self.sessions.here
        if here is not None and here.session is not None and here.tool is None and isinstance(instance, dspy.BaseLM):
            self.sessions.keep_model(here.session, instance)

    # -- the tools -------------------------------------------------------------------------------------------------

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Record the call of a tool."""
        here = self.sessions.here
        if here is None or here.session is None or events.is_the_hosts(instance):
            return
        if self.sessions.enter(call_id, Place(here.session, tool=instance.name)) is not None:
            arguments = inputs["kwargs"] or list(inputs.get("args", ()))
            with guard(here.session, "tool_call"):
                here.session.tool_call(instance.name, arguments, call_id=call_id)

    def on_tool_end(self, call_id: str, outputs: Any | None, exception: BaseException | None = None) -> None:
        """Record what a tool gives, or how it fails."""
        place = self.sessions.leave(call_id)
        if place is not None and place.session is not None and place.tool is not None:
            self._returned(place.session, place.tool, call_id, outputs, exception)

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its programs used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        with unobserved():
            return self.sessions.end(key, compose, now=now)

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        with unobserved():
            return await self.sessions.aend(key, acompose, now=now)

    async def catch_up(self) -> None:
        """Consolidate, if it is time, what the runs of this task's block could not on their event loop."""
        session = self.sessions.set_aside_here()
        if session is not None:
            with unobserved():
                await self.sessions.awrap(session, acompose)

    def close(self) -> None:
        """Close the stores that it opened."""
        self.sessions.close()

    def _briefed(self, messages: Messages) -> Messages:
        here = self.sessions.here
        if here is not None and here.session is not None:
            with guard(here.session, "briefing"):
                return events.briefed(here.session, here.asked, messages)
        return messages

    def _returned(
        self, session: Session, tool: str, call_id: str, outputs: object, exception: BaseException | None
    ) -> None:
        with guard(session, "tool_result"):
            if exception is None:
                result = events.answer(outputs) if isinstance(outputs, dspy.Prediction) else outputs
                session.tool_result(tool, result, call_id=call_id)
            else:
                session.tool_error(tool, exception, call_id=call_id)


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
