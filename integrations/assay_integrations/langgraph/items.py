"""How an item of LangGraph's store is kept as an episode, and how it is asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from assay import Episode
from langgraph.store.base import MatchCondition, PutOp, get_text_at_path, tokenize_path

__all__ = [
    "INDEXED",
    "key_of",
    "matches",
    "metadata_of",
    "namespace_of",
    "passes",
    "tag_of",
    "tags_of",
    "text_of",
    "value_of",
]

Namespace = tuple[str, ...]

# Items that a query may find; those put with `index=False` lack it.
INDEXED = "langgraph:indexed"


def key_of(namespace: Namespace, key: str) -> str:
    """Name the state key of an item: a digest, because state keys ignore case and have a length."""
    return f"langgraph:{_digest([*namespace, key])}"


def tag_of(prefix: Namespace) -> str:
    """Name the tag that every item below a namespace has."""
    return f"langgraph:{_digest([*prefix, None])}"


def tags_of(op: PutOp) -> list[str]:
    """List the tags of an item: one for each namespace it lies below."""
    below = [tag_of(op.namespace[:length]) for length in range(len(op.namespace) + 1)]
    return below if op.index is False else [*below, INDEXED]


def text_of(op: PutOp) -> str:
    """Give the words by which an item is found and read: its indexed fields, or the whole value."""
    value = dict(op.value or {})
    if op.index:
        found = [text for field in op.index for text in get_text_at_path(value, tokenize_path(field))]
    else:
        words = {name: field if isinstance(field, str) else _json(field) for name, field in value.items()}
        found = list(words.values()) if len(words) == 1 else [f"{name}: {field}" for name, field in words.items()]
    # A NUL character is a value, but no text; the metadata keeps it.
    return "\n".join(text for text in found if text.strip()).replace("\0", "\ufffd") or op.key


def metadata_of(op: PutOp) -> dict[str, Any]:
    """Give what an item is rebuilt from."""
    return {"namespace": [*op.namespace], "key": op.key, "value": dict(op.value or {})}


def namespace_of(episode: Episode) -> Namespace:
    """Give the namespace of an item."""
    return tuple(cast("Sequence[str]", episode.metadata["namespace"]))


def value_of(episode: Episode) -> dict[str, Any]:
    """Give the value of an item."""
    return dict(cast("Mapping[str, Any]", episode.metadata["value"]))


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    """Tell whether a namespace begins or ends as a condition says; `*` stands for any label."""
    path = condition.path
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(labels) == len(path) and all(want in ("*", label) for want, label in zip(path, labels, strict=True))


def passes(value: Any, wanted: Any) -> bool:
    """Tell whether a value is the wanted one, or stands in the wanted relation to others (`{"$gt": 3}`).

    Raises:
        ValueError: An operator that LangGraph does not have.
    """
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    parts = cast("dict[str, Any]", wanted)
    if any(name.startswith("$") for name in parts):
        return all(_holds(value, operator, operand) for operator, operand in parts.items())
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return all(passes(fields.get(name), part) for name, part in parts.items())


def _holds(value: Any, operator: str, operand: Any) -> bool:
    match operator:
        case "$eq":
            return bool(value == operand)
        case "$ne":
            return bool(value != operand)
        case "$gt":
            return float(value) > float(operand)
        case "$gte":
            return float(value) >= float(operand)
        case "$lt":
            return float(value) < float(operand)
        case "$lte":
            return float(value) <= float(operand)
        case _:
            raise ValueError(f"unknown operator {operator!r}: use $eq, $ne, $gt, $gte, $lt or $lte")


def _digest(labels: Sequence[str | None]) -> str:
    return hashlib.sha256(_json(labels).encode()).hexdigest()[:32]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
