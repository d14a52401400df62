"""The same verbs as coroutines, run on one worker thread so that order is kept and the loop never waits for a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["AsyncProxy", "make_worker"]


def make_worker() -> ThreadPoolExecutor:
    """Make the one thread of a store."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="assay")


class AsyncProxy:
    """Stands for an object; each of its methods becomes a coroutine function, each namespace a proxy.

    A call that is cancelled may still commit, because its thread runs on: an idempotency key tells.
    """

    def __init__(self, target: object, worker: Callable[[], ThreadPoolExecutor]) -> None:
        self._target = target
        self._worker = worker

    def __getattr__(self, name: str) -> Any:
        """Give the coroutine form of a verb, or the proxy of a namespace."""
        if name.startswith("_"):
            raise AttributeError(name)
        member: Any = getattr(self._target, name)
        if not callable(member):
            return AsyncProxy(member, self._worker)
        verb: Callable[..., Any] = member

        async def call(*args: Any, **kwargs: Any) -> Any:
            worker = None if name == "close" else self._worker()  # closing waits for the worker, so it cannot be on it
            return await asyncio.get_running_loop().run_in_executor(worker, lambda: verb(*args, **kwargs))

        return call
