"""These tests need AutoGen: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
from importlib.util import find_spec

if find_spec("autogen_agentchat") is None and "autogen" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]
