"""The only place where a fault of the memory is swallowed, so that it never ends a host's run."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from assay.session.router import StoreRouter
    from assay.session.session import Session

__all__ = ["guard"]

T = TypeVar("T")


class guard:
    """Keep exceptions of the memory's own lines away from the host.

    Put it around lines of an adapter, never around the host's handler, model or tool: hosts send control flow as
    exceptions. Cancellation, interrupts and exits of Python always pass.

    Example:
        with guard(session, "tool_result"):
            session.tool_result(name, result, call_id=call_id)
    """

    def __init__(self, owner: Session | StoreRouter, code: str) -> None:
        self._owner = owner
        self._code = code

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        self._owner.faults.note(self._owner.label, self._code, error)
        return not self._owner.raises

    @staticmethod
    def value(owner: Session | StoreRouter, fn: Callable[[], T], default: T, code: str = "briefing") -> T:
        """Give what the function returns, or the default when it fails."""
        result = default
        with guard(owner, code):
            result = fn()
        return result
