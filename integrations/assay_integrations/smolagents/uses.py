"""How the tools of an agent, and the agents it manages, tell what they were called with and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

__all__ = ["Calling", "Use", "taken", "unwatch", "watch"]

_HOSTS_OWN = "sanitize_inputs_outputs"


@dataclass(slots=True)
class Use:
    """One call of a tool.

    Attributes:
        done: Whether it has given a result; a call that a signal such as an interrupt has ended has neither result
            nor error.
    """

    name: str
    given: object
    result: object = None
    error: Exception | None = None
    done: bool = False


Calling = Callable[[Use], AbstractContextManager[None]]


class Watched:
    """Stands for a tool among the tools of one agent, and is like it in everything else.

    Args:
        tool: A tool, or an agent that is called like one.
        calling: Notes the use, and marks the block in which the tool runs.
    """

    def __init__(self, name: str, tool: Any, calling: Calling) -> None:
        self.assay_watches = tool
        self.assay_name = name
        self.assay_calling = calling

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Be an instance of what the tool is one of: the host reads a tool's code there when it saves an agent."""
        return self.assay_watches.__class__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.assay_watches, name)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Call the tool, as the host does."""
        tool = self.assay_watches
        given = {name: value for name, value in named.items() if name != _HOSTS_OWN}
        use = Use(self.assay_name, dict(zip(tool.inputs, values, strict=False)) | given)
        with self.assay_calling(use):
            try:
                use.result = tool(*values, **named)
            except Exception as error:
                use.error = error
                raise
            use.done = True
        return use.result


def watch(tools: dict[str, Any], calling: Calling) -> None:
    """Put a watched one in the place of each tool; one that was put there by the user since a run before as well."""
    tools.update({name: Watched(name, tool, calling) for name, tool in tools.items() if type(tool) is not Watched})


def unwatch(tools: dict[str, Any]) -> None:
    """Put the tools back."""
    tools.update({name: tool.assay_watches for name, tool in tools.items() if type(tool) is Watched})


def taken(uses: list[Use], name: str, given: object) -> Use:
    """Take the use that a call led to from the list: that with its arguments, for calls may run side by side.

    The host may have replaced an argument that names a value of its state: then the first of that name is it.
    """
    found = [use for use in uses if use.name == name]
    use = next((use for use in found if use.given == given), next(iter(found), None))
    if use is None:
        return Use(name, given)
    uses.remove(use)
    return use
