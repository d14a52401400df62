"""The place where a prompt is formed: an adapter of DSPy like another one, whose messages hold the briefing as well."""

# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import dspy

__all__ = ["Messages", "briefing"]

Messages = list[dict[str, Any]]
_FALLBACK = "_make_json_adapter_fallback"


def briefing(inner: dspy.Adapter, brief: Callable[[Messages], Messages]) -> dspy.Adapter:
    """Give an adapter that formats as `inner` does, and then briefs the model.

    It is a copy with a method replaced, not a subclass: the host counts the callbacks of a subclass twice, and stream
    listeners know adapters by the name of their class. Signatures, demos and inputs stay as they are.
    """
    outer = copy(inner)

    def formatted(signature: Any, demos: Any, inputs: Any) -> Messages:
        return brief(inner.format(signature, demos, inputs))

    setattr(outer, "format", formatted)  # noqa: B010  # a method is not assigned to in the eyes of a type checker
    fallback: Callable[[], dspy.Adapter] | None = getattr(inner, _FALLBACK, None)
    if fallback is not None:  # what an answer that cannot be read is asked for again with
        setattr(outer, _FALLBACK, lambda: briefing(fallback(), brief))
    return outer
