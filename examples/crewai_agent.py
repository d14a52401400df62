"""A CrewAI crew that remembers: two sessions with ada, then one with bob, who must see nothing of hers.

Offline it runs with a scripted model; with ANTHROPIC_API_KEY or OPENAI_API_KEY set, the same with a real one.
Usage: python crewai_agent.py [FOLDER]
"""

import os
import re
import sys
import tempfile
from typing import Any

from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.hooks import LLMCallHookContext, register_before_llm_call_hook, unregister_before_llm_call_hook
from crewai.hooks.dispatch import InterceptionPoint, register_scoped
from crewai.tools import tool

from assay import Store
from assay.session import SessionKey, StoreRouter, WrapResult
from assay_integrations.crewai import session
