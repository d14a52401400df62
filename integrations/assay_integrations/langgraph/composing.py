"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

__all__ = ["acompose", "compose"]

# Without the callbacks of the run, the call shows in no stream, no event log and no usage count of the host's.
_UNSEEN: RunnableConfig = {"callbacks": [], "run_name": "assay-wrap"}


def compose(model: BaseChatModel, prompt: str) -> str:
    """Let a model answer a prompt of the wrap."""
    return str(model.invoke(prompt, _UNSEEN).text)


async def acompose(model: BaseChatModel, prompt: str) -> str:
    """Do the same from an event loop."""
    return str((await model.ainvoke(prompt, _UNSEEN)).text)
