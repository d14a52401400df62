"""These tests need Google ADK: without it they are not collected, unless ASSAY_REQUIRE_EXTRAS promises it."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec


def _installed() -> bool:
    # `google` is a namespace that other distributions share.
    return find_spec("google") is not None and find_spec("google.adk") is not None


if _installed():
    # Some releases warn of their own deprecated classes as soon as they are imported.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import google.adk.runners
elif "google-adk" not in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
    collect_ignore_glob = ["test_*.py"]
