"""The call of a program's own model that writes its continuity."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import dspy

__all__ = ["acompose", "compose", "unobserved"]


@contextmanager
def unobserved() -> Generator[None]:
    """Keep the calls inside the block out of what the host records and shows: they belong to no run.

    Without it a module that composes would look like a run of its own. What a block sets follows the host into its
    threads. No other callback is told either, for a callback cannot know that a call is not the program's.
    """
    with dspy.context(
        callbacks=[],
        adapter=None,
        send_stream=None,
        stream_listeners=[],
        trace=[],
        usage_tracker=None,
        disable_history=True,
    ):
        yield


def compose(model: dspy.BaseLM, prompt: str) -> str:
    """Let a model answer a prompt of the wrap; the host's cache, which nothing erases from, does not keep it."""
    return _text(model(prompt, **_uncached(model)))


async def acompose(model: dspy.BaseLM, prompt: str) -> str:
    """Do the same from an event loop."""
    return _text(await model.acall(prompt, **_uncached(model)))


def _uncached(model: dspy.BaseLM) -> dict[str, bool]:
    # A model of the user's own has no cache, and may hand what it does not know on to its provider.
    return {"cache": False} if isinstance(model, dspy.LM) else {}


def _text(outputs: list[str | dict[str, Any]]) -> str:
    output = outputs[0]
    return output if isinstance(output, str) else str(output["text"])
