"""The steps and callbacks of smolagents, as far as a memory takes part in them."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from smolagents.agents import MultiStepAgent
from smolagents.memory import CallbackRegistry, MemoryStep, SystemPromptStep, TaskStep
from smolagents.models import ChatMessage, MessageRole

__all__ = ["BriefedPrompt", "Callbacks", "with_briefing"]


class BriefedPrompt(SystemPromptStep):
    """A system prompt that says when a prompt is made: the host renders it first.

    Args:
        brief: Gives the system prompt as the model is to receive it.
    """

    def __init__(self, system_prompt: str, brief: Callable[[str], str]) -> None:
        super().__init__(system_prompt)
        self._brief = brief

    def to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        """Render it, as the host does."""
        shown = self._brief(self.system_prompt)
        return SystemPromptStep(shown).to_messages(summary_mode)


class Callbacks(CallbackRegistry):
    """The user's callbacks, which are called as before, and then the memory's, even if one of theirs has raised."""

    def __init__(self, theirs: CallbackRegistry, heard: Callable[[MemoryStep, MultiStepAgent], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._theirs = theirs
        self._heard = heard

    def register(self, step_cls: type[MemoryStep], callback: Callable[..., Any]) -> None:
        """Register a callback of the user's; it stays when the memory is taken off."""
        self._theirs.register(step_cls, callback)

    def callback(self, memory_step: MemoryStep, **kwargs: Any) -> None:
        """Call all callbacks for a step."""
        try:
            self._theirs.callback(memory_step, **kwargs)  # type: ignore[no-untyped-call]
        finally:
            self._heard(memory_step, kwargs["agent"])


def with_briefing(steps: Sequence[MemoryStep], block: str) -> None:
    """Put a text before the newest task in the prompt that is being made, and nowhere else where steps are read."""
    task = next((step for step in reversed(steps) if isinstance(step, TaskStep)), None)
    if task is not None:

        def once(summary_mode: bool = False) -> list[ChatMessage]:
            del vars(task)["to_messages"]
            ours = ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": block}])
            return [ours, *task.to_messages(summary_mode)]

        vars(task)["to_messages"] = once
