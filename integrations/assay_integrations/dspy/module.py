"""A memory for the runs inside a block, and for a program that carries its memory along."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from typing import Any

import dspy
from assay.session import SessionOptions, StoreRouter, Target
from assay_integrations.dspy.callback import AssayCallback
from assay_integrations.dspy.place import SESSION, USER, key_of

__all__ = ["AssayModule", "Block", "session"]


class Block(AbstractContextManager[AssayCallback], AbstractAsyncContextManager[AssayCallback]):
    """Lets programs that run inside it be remembered, in whichever threads and tasks the host runs them.

    Args:
        whose: Settings that say whose the runs are; what is not in it is as it was.
        owned: Whether the memory ends with the block.
    """

    def __init__(self, memory: AssayCallback, whose: dict[str, str], *, owned: bool) -> None:
        self._memory = memory
        self._whose = whose
        self._owned = owned
        self._settings: AbstractContextManager[Any] | None = None

    def __enter__(self) -> AssayCallback:
        callbacks = dspy.settings.callbacks
        if self._memory not in callbacks:
            callbacks = [*callbacks, self._memory]
        adapter = self._memory.attach(dspy.settings.adapter)
        self._settings = dspy.context(callbacks=callbacks, adapter=adapter, **self._whose)
        self._settings.__enter__()
        return self._memory

    def __exit__(self, *error: object) -> None:
        if self._settings is not None:
            self._settings.__exit__(None, None, None)
        if self._owned:
            self._memory.close()

    async def __aenter__(self) -> AssayCallback:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> None:
        try:
            await self._memory.catch_up()
        finally:
            self.__exit__()


def session(
    target: Target | StoreRouter | AssayCallback,
    *,
    user: str | None = None,
    session: str | None = None,
    options: SessionOptions | None = None,
) -> Block:
    """Give the programs that run inside a block a memory.

    Use `async with` for programs that are awaited: consolidation then waits for the model without holding the loop.

    Args:
        target: What `AssayCallback` takes; or such a callback, which is told whose the runs are.
        user: None for the `memory_user` of the host's settings.
        session: Name of the conversation; None for the `memory_session` of the settings, and where there is none
            each run is a session of its own.

    Raises:
        MissingUser: The target holds a store per user and no user is named.

    Example:
        with session("memory/{user}.db", user="ada", session="s1"):
            program(question="When do deploys go out?")
    """
    memory = target if isinstance(target, AssayCallback) else AssayCallback(target, options=options)
    whose = {name: value for name, value in ((USER, user), (SESSION, session)) if value is not None}
    memory.sessions.of_key(replace(key_of(), user=user) if user is not None else key_of())
    return Block(memory, whose, owned=memory is not target)


class AssayModule(dspy.Module):  # type: ignore[misc]  # the host has no types
    """A program with a memory, to be called, awaited or streamed like the program itself.

    Whose a run is, the host's settings say: `with dspy.context(memory_user="ada", memory_session="s1")`. The memory is
    installed while the module runs: what evaluates or optimises it stands outside, and belongs into a
    `session(module.memory)`, or gets the `program`.

    Args:
        program: What is remembered.
        target: What `AssayCallback` takes, or such a callback.

    Example:
        assistant = AssayModule(dspy.ReAct("question -> answer", tools), "memory.db")
        await assistant.acall(question="When do deploys go out?")
    """

    def __init__(
        self,
        program: dspy.Module,
        target: Target | StoreRouter | AssayCallback,
        *,
        options: SessionOptions | None = None,
    ) -> None:
        super().__init__()
        self.program = program
        self.memory = target if isinstance(target, AssayCallback) else AssayCallback(target, options=options)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program."""
        with Block(self.memory, {}, owned=False):
            return self.program(*args, **kwargs)

    async def aforward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program on an event loop."""
        async with Block(self.memory, {}, owned=False):
            return await self.program.acall(*args, **kwargs)
