"""The engine stays small: a cap on the code lines of each room, of each file and of each function."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from .sources import ADAPTERS, CORE, code_lines, modules, relative, tree

# Rooms that share a cap stand on one line. A rule that goes in when the cap is reached replaces another.
CAPS: dict[tuple[str, ...], int] = {
    ("errors", "model"): 700,
    ("text",): 1020,
    ("storage",): 1890,
    ("audit",): 465,
    ("audit/proofs",): 620,
    ("episodes",): 600,
    ("recall",): 1265,
    ("recall/dense",): 220,
    ("beliefs",): 650,
    ("wrap",): 3190,
    ("authority",): 200,
    ("store", "compat"): 1080,
    ("compat",): 200,
    ("session",): 1570,
    ("govern", "intentions", "track_record"): 1050,
    ("transfer",): 1300,
    ("cli", "mcp", "install"): 3000,
    ("testing",): 1800,
}
KERNEL = (
    *("errors", "model", "text", "storage", "audit", "audit/proofs", "episodes", "recall", "beliefs", "authority"),
    *("wrap", "store", "compat", "session"),
)
KERNEL_CAP = 13_105
ADAPTERS_CAP = 6100
FILE_CAP = 400
ADAPTER_FILE_CAP = 250
FUNCTION_CAP = 60


@cache
def lines_by_room() -> dict[str, int]:
    """Count the code lines of every room; a part with a cap of its own counts there, not in the room around it."""
    named = sorted({room for rooms in CAPS for room in rooms}, key=len, reverse=True)
    counted = dict.fromkeys(named, 0)
    for path in modules(CORE):
        name = path.relative_to(CORE).with_suffix("").as_posix()
        if name != "__init__":
            room = next((room for room in named if name == room or name.startswith(f"{room}/")), name)
            counted[room] = counted.get(room, 0) + code_lines(path)
    return counted


@pytest.mark.parametrize(("rooms", "cap"), CAPS.items(), ids=str)
def test_a_room_keeps_to_its_cap(rooms: tuple[str, ...], cap: int) -> None:
    counted = {room: lines for room, lines in lines_by_room().items() if room in rooms}
    assert sum(counted.values()) <= cap, f"at the cap, a line that goes in replaces one: {counted}"


def test_every_room_has_a_cap() -> None:
    assert set(lines_by_room()) == {room for rooms in CAPS for room in rooms}


def test_the_kernel_keeps_to_its_cap() -> None:
    counted = lines_by_room()
    assert sum(counted[room] for room in KERNEL) <= KERNEL_CAP


def test_the_adapters_keep_to_their_cap() -> None:
    assert sum(code_lines(path) for path in modules(ADAPTERS)) <= ADAPTERS_CAP


def test_no_file_has_grown_past_one_reason_to_change() -> None:
    caps = {path: ADAPTER_FILE_CAP if path.is_relative_to(ADAPTERS) else FILE_CAP for path in modules()}
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in caps}
    assert [f"{relative(path)}: {lengths[path]} lines" for path in caps if lengths[path] > caps[path]] == []


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= FUNCTION_CAP
    ]
    assert long == []


def test_a_file_is_named_for_what_it_does() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
    named = {*modules(), *(path.parent for path in modules())}
    assert [relative(path) for path in sorted(named) if path.stem in vague] == []
