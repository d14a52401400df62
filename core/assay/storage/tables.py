"""The audited tables and their columns, in the order in which a row is committed to the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["AUDITED", "OPERATIONAL", "Row", "Value"]

Value = str | int | bytes | None
Row = Mapping[str, Value]

AUDITED: Final[dict[str, tuple[str, ...]]] = {
    "episode": (
        "n", "kind", "content", "happened", "recorded", "origin", "source", "session", "run", "trust", "success",
        "state_key", "tags", "metadata", "idem", "verdict", "text_hash",
        "key_hash", "quarantined",
    ),
    "tombstone": ("n", "erased", "reason", "idem"),
    "edge": ("kind", "source", "target", "reason", "made_by", "inferred", "effective_from", "made"),
    "belief": (
        "name", "name_key", "text", "kind", "level", "highest", "residence", "section", "position", "marks", "cues",
        "created", "verified", "wraps_verified",
    ),
    "evidence": ("belief", "episode", "wrap", "explanation", "earned", "detail"),
    "wrap": (
        "n", "state", "token_hash", "session", "window", "schema", "date", "base_version", "lease_until", "prepared",
        "ended", "retries", "detail",
    ),
    "document": ("version", "body", "wrap", "digest", "made", "detail"),
    "draft": ("body", "wrap", "made"),
    "result": ("subject", "worked", "note", "episode", "made"),
    "setting": ("value",),
}  # fmt: skip

# The only tables that the operational door may write; an authorizer enforces it.
OPERATIONAL: Final = frozenset(
    {"run", "receipt", "fault", "counter", "pending_erase", "checkpoint", "vector", "embedder"}
)
