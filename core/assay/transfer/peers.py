"""Memories of other programs, read from their databases as lines that an import records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from assay.errors import InvalidInput
from assay.model.labels import Kind, Trust
from assay.model.times import from_us
from assay.storage.files import is_file
from assay.storage.foreign_rows import foreign_rows, foreign_tables

__all__ = ["PEERS", "peer_document", "peer_lines"]

Lines = Iterator[tuple[int, Mapping[str, Any]]]


def peer_lines(peer: str, path: str) -> Lines:
    """Give what another program's memory holds as numbered lines.

    Args:
        peer: One of `PEERS`.

    Raises:
        InvalidInput: No such program is known, or the file is not of it.
        StorageFailure: The file cannot be read.
    """
    if peer not in PEERS:
        raise InvalidInput("source", f"one of {', '.join(PEERS)}")
    marks, read = PEERS[peer]
    if not is_file(path) or not marks <= foreign_tables(path):
        raise InvalidInput("file", f"{path} is no memory of {peer}")
    return enumerate(_checked(read(path), peer, path), 1)


def peer_document(peer: str, path: str) -> str:
    """Give the continuity that lies beside a store of anneal-memory, or "".

    Raises:
        InvalidInput: It is not UTF-8.
    """
    beside = Path(path).with_name(f"{Path(path).stem}.continuity.md")
    try:
        return beside.read_text("utf-8") if peer == "anneal-memory" and is_file(str(beside)) else ""
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"{beside} is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise InvalidInput("file", f"{beside} cannot be read ({error.strerror})") from error


def _checked(lines: Iterator[dict[str, Any]], peer: str, path: str) -> Iterator[dict[str, Any]]:
    try:
        yield from lines
    except (LookupError, ValueError, TypeError, OverflowError) as error:
        raise InvalidInput("file", f"{path} has a row that this version of {peer} does not write") from error


def _anneal(path: str) -> Iterator[dict[str, Any]]:
    """Read a store of anneal-memory 1.0: its episodes with trust, state keys and links; levels are earned anew."""
    trust = {row["episode_id"]: row["trust"] for row in foreign_rows(path, "episode_trust")}
    keys = {row["episode_id"]: row["key"] for row in foreign_rows(path, "state_keys")}
    for row in foreign_rows(path, "episodes"):
        yield {
            "ref": _ref("anneal", row["id"]),
            "content": row["content"],
            "kind": _kind(row["type"]),
            "happened_at": row["timestamp"],
            "source": _label(row["source"]),
            "session": _label(row["session_id"]) or None,
            "trust": trust.get(row["id"], Trust.AGENT.value),
            "state_key": keys.get(row["id"]),
            "metadata": _metadata(row["metadata"]),
        }
    yield from _edges("derived", foreign_rows(path, "episode_derived"), "episode_id", "source_id")
    keyless = (row for row in foreign_rows(path, "supersessions") if row["old_id"] not in keys)
    yield from _edges("supersedes", keyless, "new_id", "old_id")
    for row in foreign_rows(path, "pattern_history"):
        yield {"type": "pattern", "name": row["pattern_name"]}


def _edges(kind: str, rows: Iterator[dict[str, Any]], source: str, target: str) -> Iterator[dict[str, Any]]:
    for row in rows:
        ends = {"source": _ref("anneal", row[source]), "target": _ref("anneal", row[target])}
        yield {"type": "edge", "kind": kind, **ends}


def _brainmem(path: str) -> Iterator[dict[str, Any]]:
    """Read a database of brainmem 0.3: what was encoded, and what was distilled of it as so many statements."""
    for row in foreign_rows(path, "episodes"):
        worked = None if row["outcome"] is None else bool(row["outcome"])
        yield {
            "ref": _ref("brainmem-episode", row["id"]),
            "content": row["content"],
            "kind": _kind(row["kind"]) if worked is None else Kind.OUTCOME.value,
            "success": worked,
            "happened_at": _moment(row["ts"]),
            "source": _label(row["actor"]),
            "session": _label(row["session"]) or None,
        }
    for row in foreign_rows(path, "facts"):
        if row["superseded_by"] is None and row["retired_reason"] is None:
            yield _statement("fact", row["id"], row["proposition"], _moment(row["created_at"]))
    for row in foreign_rows(path, "skills"):
        yield _statement("skill", row["id"], f"{row['trigger']}: {row['procedure']}", None)
    for row in foreign_rows(path, "core"):
        yield _statement("core", row["id"], row["content"], None)


def _statement(table: str, number: int, text: str, moment: str | None) -> dict[str, Any]:
    return {
        "ref": _ref(f"brainmem-{table}", number),
        "content": text,
        "kind": Kind.CONTEXT.value,
        "happened_at": moment,
        "source": "brainmem",
        "tags": [f"brainmem:{table}"],
    }


def _ref(program: str, identity: object) -> str:
    return f"{program}:{identity}"


def _kind(name: object) -> str:
    return str(name) if name in {kind.value for kind in Kind} else Kind.OBSERVATION.value


def _label(value: object) -> str:
    """Reduce a label of any form to one that can be stored."""
    text = " ".join(str(value or "").split())[:200]
    return "".join(char for char in text if char.isprintable())


def _metadata(stored: str | None) -> dict[str, Any]:
    found: Any = json.loads(stored) if stored else {}
    return found if isinstance(found, dict) else {"value": found}  # pyright: ignore[reportUnknownVariableType]


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else from_us(int(seconds * 1_000_000)).isoformat()


# The tables by which a file is recognised, and what reads it.
PEERS: Final[Mapping[str, tuple[frozenset[str], Callable[[str], Iterator[dict[str, Any]]]]]] = {
    "anneal-memory": (frozenset({"episodes", "episode_trust", "episode_derived", "supersessions"}), _anneal),
    "brainmem": (frozenset({"episodes", "facts", "skills", "core"}), _brainmem),
}
