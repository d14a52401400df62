"""The binding of the plain host: the example to follow for a host of one's own.

Each hook looks the session up, hands the event to the port inside `guard`, and does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from assay.session import Session, SessionOptions, StoreRouter, Target, guard
from assay.testing.plain.host import Hooks, Message, PlainAgent, Run
from assay.testing.script import Call, Say

__all__ = ["PlainMemory"]

T = TypeVar("T")


class PlainMemory(Hooks):
    """Memory for agents of the plain host.

    Args:
        target: A store, a path, a path with `{user}`, or a router.
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self.router = StoreRouter.of(target)
        self._options = options or SessionOptions()
        self._agent: PlainAgent | None = None

    def attach(self, agent: PlainAgent) -> None:
        """Give an agent this memory."""
        self._agent = agent
        agent.hooks.append(self)

    def session(self, run: Run) -> Session | None:
        """Find the session of a run, or None when it has no user of its own."""
        key, options = run.key, self._options
        found = guard.value(
            self.router,
            lambda: self.router.session(key, run=_root(run), options=options, host="plain"),
            None,
            "session",
        )
        if found is None or run.agent == "main":
            return found
        return found.sub(run.agent) if run.nested else found.named(run.agent)

    def on_start(self, run: Run, text: str) -> None:
        """Open the run and record what the user said."""
        if session := self.session(run):
            with guard(session, "user_message"):
                session.run_started()
                session.user_message(text)

    def before_model(self, run: Run, messages: list[Message]) -> list[Message]:
        """Place the briefing before the user's newest message."""
        if session := self.session(run):
            with guard(session, "briefing"):
                return self.placed(messages, session.briefing().text, session.asked)
        return messages

    def after_model(self, run: Run, text: str) -> None:
        """Record what the agent said."""
        self._tell(run, "agent_message", lambda session: session.agent_message(text))

    def on_tool(self, run: Run, call: Call) -> None:
        """Record the call."""
        self._tell(run, "tool_call", lambda session: session.tool_call(call.name, call.args, call_id=call.id))

    def on_tool_end(self, run: Run, call: Call, result: object) -> None:
        """Record what the tool gave."""
        self._tell(run, "tool_result", lambda session: session.tool_result(call.name, result, call_id=call.id))

    def on_tool_error(self, run: Run, call: Call, error: BaseException) -> None:
        """Record that the tool failed."""
        self._tell(run, "tool_error", lambda session: session.tool_error(call.name, error, call_id=call.id))

    def on_handoff(self, run: Run, target: str) -> None:
        """Record who took over."""
        self._tell(run, "handoff", lambda session: session.handoff(run.agent, target))

    def on_end(self, run: Run, output: str) -> None:
        """Close the run, and let the agent's own model consolidate when it is time."""
        self._tell(run, "run_ended", lambda session: session.run_ended(output))
        self._tell(run, "wrap", lambda session: session.wrap(self.compose))

    def on_error(self, run: Run, error: BaseException) -> None:
        """Record that the run failed."""
        self._tell(run, "run_failed", lambda session: session.run_failed(error))

    async def aon(self, hook: str, *arguments: object) -> object:
        """Do what the hook does, with the disk on the store's own thread."""
        run = arguments[0]
        assert isinstance(run, Run)
        session = self.session(run)
        result = arguments[-1]
        if session is None:
            return result
        with guard(session, hook):
            # One translation serves both kinds of hook; only the wrap awaits the model, so it is told apart.
            if hook == "on_end":
                await session.aio.run_ended(result)
                await session.aio.wrap(self.compose)
            else:
                result = await session.aio.run(lambda: getattr(self, hook)(*arguments))
        return result

    def placed(self, messages: list[Message], block: str, asked: str) -> list[Message]:
        """Put the block, as a message of its own, before the newest message of the user."""
        if not block:
            return messages
        places = [place for place, (role, text) in enumerate(messages) if role == "user" and text == asked]
        place = places[-1] if places else len(messages)
        return [*messages[:place], ("user", block), *messages[place:]]

    def compose(self, prompt: str) -> str:
        """Let the agent's own model write a continuity."""
        assert self._agent is not None
        reply = self._agent.script.reply([("user", prompt)])
        assert isinstance(reply, Say)
        return str(reply.text)

    def _tell(self, run: Run, code: str, verb: Callable[[Session], T]) -> None:
        if session := self.session(run):
            with guard(session, code):
                verb(session)


def _root(run: Run) -> str:
    return run.id.removesuffix("-sub")
