"""How an item of LangGraph's store is kept as an episode, and found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langgraph.store.base import Item, MatchCondition, PutOp, SearchItem, get_text_at_path, tokenize_path

from assay import Episode

__all__ = ["INDEXED", "as_item", "as_search_item", "below", "is_below", "matches", "namespace_of", "passes", "state_key", "text_of"]
