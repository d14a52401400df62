"""A Pydantic AI agent that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python pydantic_ai_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.wrapper import WrapperModel

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.pydantic_ai import AssayCapability

MODELS = {"ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5", "OPENAI_API_KEY": "openai:gpt-5-mini"}
FACT = "Deploys go out on Tuesday. Check the build and page the captain."
QUESTION = "When do deploys go out?"


@dataclass
class Deps:
    user_id: str


def build_status() -> str:
    """Say how the build is."""
    return "The build is green."


def page(person: str) -> str:
    """Page a person."""
    raise ModelRetry(f"no answer from {person}")
