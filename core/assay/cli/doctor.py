"""`assay doctor`: examine a store and the place it lies in; it repairs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from assay.cli.call import Call
from assay.cli.checking import hours
from assay.cli.grammar import Grammar
from assay.cli.reply import Reply
from assay.cli.surroundings import disk, file_system, kept, leftovers, modes, synced
from assay.errors import Damaged, ForeignDatabase, StorageFailure
from assay.model.status import Breach
from assay.storage.condition import SAFE_VERSION, Condition, examine
from assay.storage.schema import SCHEMA_VERSION
from assay.store import Store

__all__ = ["add"]

_LARGE_LOG = 64 * 1024 * 1024


class State(IntEnum):
    """How bad a finding is; the worst one is the exit code."""

    OK = 0
    WARNING = 1
    TAMPERED = 2
    DAMAGED = 3


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found."""

    name: str
    state: State
    message: str


def add(grammar: Grammar) -> None:
    """Add the command."""
    doctor = grammar.command("doctor", _doctor, "examine the store and where it lies; repairs nothing")
    doctor.add_argument("--anchors", action="append", default=[], metavar="FILE", help="checkpoints kept elsewhere")
    doctor.add_argument("--anchor-max-age", type=hours, metavar="HOURS", help="how old the newest anchor may be")


def _doctor(call: Call) -> Reply:
    path = call.path
    if not Path(path).exists():
        raise StorageFailure(f"{path} does not exist: create it with `assay init`, or name another with --db")
    checks = [*_content(call, path), *_place(path)]
    worst = max(check.state for check in checks)
    lines = [f"{check.state.name.lower():9}{check.name}: {check.message}" for check in checks]
    return Reply(
        {
            "path": path,
            "state": worst.name.lower(),
            "checks": [
                {"name": check.name, "state": check.state.name.lower(), "message": check.message} for check in checks
            ],
        },
        "\n".join(lines),
        worst.value,
    )


def _content(call: Call, path: str) -> Iterator[Check]:
    try:
        condition = examine(path)
    except (Damaged, ForeignDatabase) as error:
        yield Check("pages", State.DAMAGED, str(error))
        return
    yield from _condition(condition)
    if condition.pages:
        return
    try:
        with call.reading() as store:
            yield _audit(call, store)
            yield _erasures(store)
    except ForeignDatabase as error:
        yield Check("schema", State.TAMPERED, str(error))


def _condition(condition: Condition) -> Iterator[Check]:
    yield _found("pages", condition.pages, State.DAMAGED, "every page is sound")
    if not condition.pages:
        yield _found("links", condition.dangling, State.WARNING, "every link leads to something")
    if condition.schema < SCHEMA_VERSION:
        message = (
            f"{condition.schema}: the next change brings it to {SCHEMA_VERSION}; `assay migrate --dry-run` tries it"
        )
        yield Check("schema version", State.WARNING, message)
    else:
        yield Check("schema version", State.OK, str(condition.schema))
    version = ".".join(map(str, condition.sqlite))
    if condition.sqlite >= SAFE_VERSION:
        yield Check("sqlite", State.OK, version)
    else:
        safe = ".".join(map(str, SAFE_VERSION))
        message = f"{version} is below {safe}: let no program but Assay open this file, or use a newer Python"
        yield Check("sqlite", State.WARNING, message)
    size = f"{condition.log_bytes:,} bytes"
    if condition.log_bytes > _LARGE_LOG:
        yield Check("write-ahead log", State.WARNING, f"{size}: a reader is holding it open; close idle ones")
    else:
        yield Check("write-ahead log", State.OK, size)


def _audit(call: Call, store: Store) -> Check:
    found = store.verify(anchors=call.options.anchors, anchor_max_age=call.options.anchor_max_age)
    state = State.WARNING if found.breaches == frozenset((Breach.STALE,)) else State.TAMPERED
    return _found("audit", found.problems, state, f"{found.entries} entries account for every row")


def _erasures(store: Store) -> Check:
    if pending := store.status().erase_pending:
        return Check("erasures", State.WARNING, f"{pending} pending: a reader still holds the old bytes")
    return Check("erasures", State.OK, "none is pending")


def _found(name: str, problems: tuple[str, ...], state: State, sound: str) -> Check:
    return Check(name, state, "; ".join(problems)) if problems else Check(name, State.OK, sound)


def _place(path: str) -> Iterator[Check]:
    checks: tuple[tuple[str, Callable[[Path], str], str], ...] = (
        ("permissions", modes, "only you can read the files"),
        ("file system", file_system, "local, as far as can be told"),
        ("synced folder", synced, "none that is known"),
        ("free space", disk, "enough"),
        ("leftovers", leftovers, "none"),
    )
    for name, check, sound in checks:
        problem = check(Path(path).absolute())
        yield Check(name, State.WARNING if problem else State.OK, problem or sound)
    if copies := kept(Path(path).absolute()):
        yield Check("kept copies", State.OK, f"{', '.join(copies)}; an erase does not reach them")
