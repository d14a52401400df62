"""The call of an agent's own model that writes its continuity."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
from __future__ import annotations

from assay_integrations.smolagents.items import text_of
from smolagents.models import ChatMessage, MessageRole, Model

__all__ = ["compose"]


def compose(model: Model, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, beside every run: no step, no log and no token count shows it."""
    return text_of(model.generate([ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": prompt}])]))
