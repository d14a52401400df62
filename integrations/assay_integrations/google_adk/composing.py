"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.genai.types import Content, GenerateContentConfig, Part

from assay_integrations.google_adk.items import words

__all__ = ["acompose"]


async def acompose(model: BaseLlm, prompt: str) -> str:
    """Let a model answer a prompt of the wrap, beside every run: no plugin, callback, event or session sees it."""
    asked = Content(role="user", parts=[Part(text=prompt)])
    request = LlmRequest(model=model.model, contents=[asked], config=GenerateContentConfig())
    return "".join([words(response.content) async for response in model.generate_content_async(request)])
