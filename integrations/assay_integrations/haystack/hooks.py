"""The hooks of a Haystack agent that record what happens in its runs and brief every call of its model."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from assay.session import SessionKey, SessionOptions, StoreRouter, Target, WrapResult, guard
from assay_integrations.haystack import events
from assay_integrations.haystack.composing import acompose, compose
from assay_integrations.haystack.place import Run, Sessions
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.core.serialization import component_to_dict, default_to_dict
from haystack.hooks import Hook, HookPoint
from haystack.utils.deserialization import deserialize_component_inplace

__all__ = ["AssayHook", "At", "session"]

# Takes the briefing away from the messages, before hooks of the user's see them.
_CLEAN = "clean"
_CLEANED: tuple[HookPoint, ...] = ("before_tool", "on_exit", "after_run")
_LAST: tuple[HookPoint, ...] = ("before_llm", "before_tool", "after_tool", "after_run")

# Memories that were loaded, by target and agent: the hooks of an agent are saved one by one.
_loaded: WeakValueDictionary[tuple[str, str | None], AssayHook] = WeakValueDictionary()


class AssayHook:
    """Gives an agent a memory that outlives its runs.

    One object serves any number of runs, conversations and users of one agent at once. User and session are `user_id`
    and `session_id` of a run's `hook_context`, or those of a `session(...)` around it.

    Args:
        target: A `Store`, a path, a path with `{user}` for a store per user, a function of the key, or a
            `StoreRouter` that others share.
        chat_generator: Composes, as the agent's own model; `attach` finds it.
        agent: Name under which the agent's own words are recorded: the host has none.
        options: What is recorded, when it is consolidated, where and how large a briefing is.

    Example:
        memory = AssayHook("memory/{user}.db", chat_generator=generator)
        agent = Agent(chat_generator=generator, tools=tools, hooks=memory.points())
        agent.run(messages, hook_context={"user_id": "ada", "session_id": "s1"})
    """

    def __init__(
        self,
        target: Target | StoreRouter,
        *,
        chat_generator: Any = None,
        agent: str | None = None,
        options: SessionOptions | None = None,
    ) -> None:
        self.target = target
        self.chat_generator = chat_generator
        self.agent = agent
        self.options = options
        self.sessions = Sessions(target, options, agent=agent)
        self._attached: list[Agent] = []

    # -- the agent -------------------------------------------------------------------------------------------------

    def points(self, hooks: Mapping[HookPoint, list[Hook]] | None = None) -> dict[HookPoint, list[Hook]]:
        """Give the hooks for `Agent(hooks=...)`, with those of the user's in their order.

        Args:
            hooks: The user's. They see neither the briefing nor a change of anything that they do.
        """
        theirs = hooks or {}
        ours: dict[HookPoint, list[Hook]] = {point: [At(self, _CLEAN)] for point in _CLEANED}
        ours["before_run"] = [At(self, "before_run")]
        return {
            point: [*ours.get(point, []), *theirs.get(point, []), *([At(self, point)] if point in _LAST else [])]
            for point in ("before_run", *_LAST, "on_exit")
        }

    def attach(self, agent: Agent) -> Agent:
        """Add the hooks to an agent, whose chat generator composes, and give the agent back.

        Raises:
            ValueError: A memory is attached to it already: each would hear the runs of the other.
        """
        if any(isinstance(hook, At) for hooks in agent.hooks.values() for hook in hooks):
            raise ValueError("a memory is attached to this agent: detach it first")
        self._attached.append(agent)
        self.chat_generator = self.chat_generator or agent.chat_generator
        agent.hooks = self.points(agent.hooks)
        return agent

    def detach(self) -> None:
        """Take its hooks off again, and no others; later runs are not remembered."""
        while self._attached:
            agent = self._attached.pop()
            for point, hooks in [*agent.hooks.items()]:
                hooks[:] = [hook for hook in hooks if not (isinstance(hook, At) and hook.memory is self)]
                if not hooks:
                    del agent.hooks[point]

    # -- the session -----------------------------------------------------------------------------------------------

    def end_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Close what a session has open, and consolidate with the model that its agent used last.

        Args:
            now: Consolidate even if the policy says that it is not time.

        Raises:
            AssayError: The store failed: nothing is swallowed here, where no run can be broken.
        """
        return self.sessions.end(key, compose, now=now)

    async def aend_session(self, key: SessionKey, *, now: bool = False) -> WrapResult:
        """Do the same from an event loop."""
        return await self.sessions.aend(key, acompose, now=now)

    def close(self) -> None:
        """Detach it, and close the stores that it opened; runs after this are not remembered."""
        self.detach()
        self.sessions.close()


class At:
    """One hook of a memory, at one point of an agent's runs.

    Args:
        own: The generator that was loaded with it: agents that were loaded on one store share a memory.
    """

    def __init__(self, memory: AssayHook, point: str, own: Any = None) -> None:
        self.memory = memory
        self.point = point
        self._own = own

    @property
    def chat_generator(self) -> Any:
        """Give what composes."""
        return self._own or self.memory.chat_generator

    def run(self, state: State) -> None:
        """Record what is new, or brief the model; at the end of a run, consolidate if it is time."""
        run = self._enter(state)
        if run is None:
            return
        with guard(run.session, self.point):
            events.AT[self.point](run, state)
        if self.point == "after_run":
            self.memory.sessions.wrap(run.session, compose)

    async def run_async(self, state: State) -> None:
        """Do the same from an event loop."""
        run = self._enter(state)
        if run is None:
            return
        with guard(run.session, self.point):
            if self.point == "before_llm":
                await events.abriefed(run, state)
            else:
                await run.session.aio.run(partial(events.AT[self.point], run, state))
        if self.point == "after_run":
            await self.memory.sessions.awrap(run.session, acompose)

    def close(self) -> None:
        """Close the stores that the memory opened; the host calls it when an agent is closed."""
        self.memory.sessions.close()

    def to_dict(self) -> dict[str, Any]:
        """Give what the hook is made of; the host refuses a target that is no text, and options."""
        memory, generator = self.memory, self.chat_generator
        # Eight hooks of one memory need one generator.
        saved = component_to_dict(generator, "chat_generator") if generator and self.point == "after_run" else None
        given = {"target": memory.target, "agent": memory.agent, "options": memory.options, "chat_generator": saved}
        return default_to_dict(self, point=self.point, **given)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> At:
        """Make the hook anew, of the memory that the others of its agent are of."""
        given = data["init_parameters"]
        target, agent = given["target"], given["agent"]
        memory = _loaded[target, agent] = _loaded.get((target, agent)) or AssayHook(target, agent=agent)
        if given["chat_generator"] is not None:
            deserialize_component_inplace(given, "chat_generator")
            memory.chat_generator = memory.chat_generator or given["chat_generator"]
        return cls(memory, given["point"], given["chat_generator"])

    def _enter(self, state: State) -> Run | None:
        sessions = self.memory.sessions
        events.clean(state)
        if self.point == _CLEAN:
            return None
        run = sessions.begin(state) if self.point == "before_run" else sessions.run(state)
        if run is not None:
            if self.point == "before_llm" and not run.told:
                run.told = {id(message): message for message in state.data["messages"]}
            sessions.waits(run, state, self.point == "before_tool")
            if self.chat_generator is not None:
                sessions.keep_model(run.session, self.chat_generator)
        return run


@contextmanager
def session(
    target: Target | StoreRouter | AssayHook,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> Generator[AssayHook]:
    """Say whose the runs inside a block are, and record how they fail, which no hook of the host is told.

    Args:
        target: An `AssayHook`; or what that takes, for a memory to attach to an agent inside, until the block ends.
        session: Name of the conversation; without one, each run is a session of its own.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory/{user}.db", user="ada", session="s1") as memory:
            memory.attach(agent).run(messages)
    """
    memory = target if isinstance(target, AssayHook) else AssayHook(target, options=options)
    try:
        with memory.sessions.at(SessionKey(user, session)):
            yield memory
    finally:
        if memory is not target:
            memory.close()
