"""What a row of an export must be before it is written; a column's type has been checked already."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from assay.episodes.draft import Draft, as_label, as_member, checked
from assay.errors import InvalidInput
from assay.model.labels import BeliefKind, Kind, Mark, Origin, Residence, Trust, Verdict
from assay.model.refs import is_ref
from assay.model.settings import Settings
from assay.transfer.exporting import is_portable
from assay.wrap.schemas import read_schema

__all__ = ["check"]

_PREFIXES: Final = {
    "episode": "ep", "tombstone": "ep", "edge": "ed", "belief": "be", "evidence": "ev", "wrap": "wr",
    "document": "dc", "draft": "dr", "result": "re",
}  # fmt: skip
_EDGES: Final = frozenset(
    ("derived", "echo", "refines", "conflicts", "supersedes", "suspended", "contradicts", "dismissed")
)
_ENDED: Final = frozenset(("committed", "cancelled", "abandoned", "empty"))
_SHAPES: Final[Mapping[str, type]] = {
    "tags": list, "marks": list, "cues": list, "window": list, "metadata": dict, "detail": dict,
}  # fmt: skip
_TEXTS: Final = frozenset(("tags", "marks", "cues"))


def check(table: str, row: Mapping[str, Any]) -> None:
    """Check a row.

    Raises:
        InvalidInput: It is none that this code would have written.
    """
    prefix = _PREFIXES.get(table)
    if prefix and not (is_ref(row["id"], whole=True) and row["id"].startswith(f"{prefix}_")):
        raise InvalidInput("ref", f"{row['id'][:40]!r} is not the ref of one {table}")
    for name, shape in _SHAPES.items():
        if name in row:
            found: Any = _json(name, row[name])
            if not isinstance(found, shape) or (name in _TEXTS and not _are_texts(found)):
                raise InvalidInput(name, "another form is needed")
    if table in _CHECKS:
        _CHECKS[table](row)


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _json(name: str, stored: str) -> Any:
    try:
        return json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(name, "it cannot be read as JSON") from error


def _episode(row: Mapping[str, Any]) -> None:
    success = None if row["success"] is None else bool(row["success"])
    draft = Draft(
        row["content"], as_member("kind", row["kind"], Kind), as_member("origin", row["origin"], Origin),
        row["source"], row["session"], row["run"], as_member("trust", row["trust"], Trust), success, row["state_key"],
        tags=json.loads(row["tags"]), metadata=json.loads(row["metadata"]), idempotency_key=row["idem"],
    )  # fmt: skip
    as_member("verdict", row["verdict"], Verdict)
    if checked(draft, scrub=_as_it_is).state_key != row["state_key"]:
        raise InvalidInput("state_key", "lower case, without spaces around it")


def _as_it_is(text: str) -> str:
    return text


def _edge(row: Mapping[str, Any]) -> None:
    if row["kind"] not in _EDGES:
        raise InvalidInput("kind", f"one of {', '.join(sorted(_EDGES))}")


def _belief(row: Mapping[str, Any]) -> None:
    as_member("kind", row["kind"], BeliefKind)
    as_member("residence", row["residence"], Residence)
    for mark in json.loads(row["marks"]):
        as_member("marks", mark, Mark)
    if not 1 <= row["level"] <= row["highest"]:
        raise InvalidInput("level", "1 to the highest level ever held")


def _wrap(row: Mapping[str, Any]) -> None:
    if row["state"] not in _ENDED:
        raise InvalidInput("state", f"one of {', '.join(sorted(_ENDED))}")
    for numbers in json.loads(row["window"]):
        if not (isinstance(numbers, list) and [type(number) for number in numbers] == [int, int]):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            raise InvalidInput("window", "pairs of episode numbers, first and last")


def _setting(row: Mapping[str, Any]) -> None:
    name, value = row["id"], _json("value", row["value"])
    if not is_portable(name):
        raise InvalidInput("ref", f"{name[:40]!r} is no setting that can be imported")
    if name == "schema":
        read_schema(row["value"])
    elif name == "project_name":
        as_label(name, value)
    elif name in Settings.__dataclass_fields__:
        Settings().changed(**{name: value})


_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any]], None]]] = {
    "episode": _episode, "edge": _edge, "belief": _belief, "wrap": _wrap, "setting": _setting,
}  # fmt: skip
