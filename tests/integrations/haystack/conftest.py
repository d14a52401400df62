"""These tests need Haystack: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
from importlib.util import find_spec

# Read when Haystack is imported.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

if find_spec("haystack") is None and "haystack" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]
