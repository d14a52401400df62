"""These tests need the Claude Agent SDK: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
from importlib.util import find_spec

promised = os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(",")
if find_spec("claude_agent_sdk") is None and "anthropic-agents" not in promised:
    collect_ignore_glob = ["test_*.py"]
