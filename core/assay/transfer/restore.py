"""Putting a backup in the place of a store: checked first, never backwards unawares, and written into the log."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from assay.audit.merkle import append_leaf, leaf_hash, root_of
from assay.audit.proofs.checkpoints import origin, read_anchors
from assay.audit.proofs.verify_proof import Note
from assay.episodes.loading import exists
from assay.errors import Conflict, Damaged, ForeignDatabase, InvalidInput, StorageFailure
from assay.govern.erase import erase
from assay.model.episode import JsonValue
from assay.storage import audit_rows, export_rows, files
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.transfer.backup import copy_checked, examined
from assay.transfer.opening import Wall, open_file, wall_clock

__all__ = ["Restored", "restore"]

_BESIDE = ("", "-wal", "-shm", "-journal")
Open = Callable[..., Database]


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did.

    Attributes:
        entries: Number of entries of the log now, the one of the restore included.
        replaced: Number of entries of the store that was there; None when there was none, or it could not be read.
        kept: Where the store that was there is kept, or "".
        erased: Episodes of the backup that had been erased since it was made, and were erased again.
    """

    path: str
    entries: int
    replaced: int | None
    kept: str
    erased: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Standing:
    """The store that is there: the head of its log, and what it has erased."""

    store: str
    size: int
    root: str
    erased: frozenset[str] = field(repr=False)


def restore(
    backup: str,
    target: str,
    *,
    actor: str,
    principal: str,
    wall: Wall = wall_clock,
    timeout: float = 30.0,
    accept_rollback: bool = False,
    anchors: str | None = None,
) -> Restored:
    """Let a backup take the place of a store, or of one that is damaged or missing.

    A store that can be read is replaced in one transaction: other processes go on with the restored one. What it held
    is kept beside it.

    Args:
        timeout: Seconds that the change waits for its turn.
        anchors: A file of checkpoints kept elsewhere.

    Raises:
        Busy: Another writer held the store until the timeout.
        Conflict: The backup is older than the store or an anchor, or its log is another one.
        Damaged: The backup does not verify.
    """
    if os.path.realpath(backup) == os.path.realpath(target):
        raise InvalidInput("backup", "a store is not its own backup")
    there = _is_there(target)
    standing = _read(target) if there else None
    with examined(backup) as reader:
        head, store = reader.head(), reader.meta("store_id").decode()
        if standing is not None and standing.store != store:
            raise Conflict(f"{backup} is a backup of another store ({store}): choose another target")
        noted = read_anchors(anchors or ())
        kept_elsewhere = [note for note in noted if note.origin == origin(reader)]
        doubts = _doubts(reader, standing, kept_elsewhere)
        if noted and not kept_elsewhere:
            doubts.append(f"none of the anchors is of {origin(reader)}")
        if there and standing is None:
            doubts.append("what is there cannot be read, so nobody knows how far it went")
        if doubts and not accept_rollback:
            raise Conflict(f"{'; '.join(doubts)}: accept_rollback (--accept-rollback) restores it all the same")
        again = [ref for ref in sorted(standing.erased if standing else ()) if exists(reader, ref) == "live"]
    data: dict[str, JsonValue] = {"backup": {"size": head.size, "root": root_of(head.frontier).hex()}}
    if standing is not None:
        data["replaced"] = {"size": standing.size, "root": standing.root}
    staged = f"{target}.restoring-{os.urandom(4).hex()}"  # of this call alone: another may be restoring as well
    open_store = partial(open_file, principal=principal, wall=wall, timeout=timeout)
    try:
        entries = _stage(backup, staged, data, again, open_store, actor)
        kept = _swap(staged, target, standing, open_store) if there else _place(staged, target)
    finally:
        for left in Path(staged).absolute().parent.iterdir():
            if left.name.startswith(Path(staged).name):
                files.discard(str(left))
    return Restored(target, entries, standing.size if standing else None, kept, tuple(again))


def _is_there(target: str) -> bool:
    """Tell whether a store is there, or what SQLite would write from its log into any file that takes its place."""
    path = Path(target)
    try:
        if path.is_symlink():
            raise StorageFailure(f"{target} is a symbolic link: give the real path of the store")
        logs = [log for log in map(Path, (f"{target}-wal", f"{target}-journal")) if log.exists()]
        return path.exists() or any(log.stat().st_size for log in logs)
    except OSError as error:
        raise StorageFailure(f"{target} cannot be reached ({error.strerror}): check its name and folder") from error


def _read(path: str) -> _Standing | None:
    """Read the head of the store that is there; None when it is damaged or gone, which is why it is restored."""
    if not Path(path).exists() or Path(path).stat().st_size == 0:
        return None
    try:
        with closing(open_file(path, read_only=True)) as database, database.read() as reader:
            head, store = reader.head(), reader.meta("store_id").decode()
            erased = frozenset(row["id"] for row in export_rows.rows(reader, "tombstone"))
    except (Damaged, ForeignDatabase, LookupError):
        return None
    return _Standing(store, head.size, root_of(head.frontier).hex(), erased)


def _doubts(reader: Reader, standing: _Standing | None, anchors: Sequence[Note]) -> list[str]:
    """Say which states that are known to have been are not the beginning of the backup."""
    known = [(note.size, note.root.hex(), f"the anchor of {note.size} entries") for note in anchors]
    if standing is not None:
        known.append((standing.size, standing.root, f"the store of {standing.size} entries"))
    size = reader.head().size
    doubts = [f"the backup has {size} entries, it is older than {name}" for at, _, name in known if at > size]
    within = sorted(item for item in known if item[0] <= size)
    roots = _roots(reader, [at for at, _, _ in within])
    return doubts + [f"the backup is no continuation of {name}" for at, root, name in within if roots[at] != root]


def _roots(reader: Reader, sizes: Sequence[int]) -> dict[int, str]:
    """Compute the Merkle root that the log had at some sizes."""
    frontier = b""
    wanted, roots = set(sizes), {0: ""}
    for seq, stored in audit_rows.entries(reader, limit=max(wanted, default=0)):
        frontier = append_leaf(frontier, seq, leaf_hash(stored))
        if seq + 1 in wanted:
            roots[seq + 1] = root_of(frontier).hex()
    return roots


def _stage(
    backup: str, staged: str, data: dict[str, JsonValue], again: Sequence[str], open_store: Open, actor: str
) -> int:
    """Prepare beside the target what will take its place, so that it does so in one step."""
    copy_checked(backup, staged)
    with closing(open_store(staged)) as database:
        database.mutate(lambda tx: tx.entry("restore", actor=actor, data=data))
        if again:
            erase(database, again, reason="erased before the restore", actor=actor)
        with database.read() as reader:
            entries = reader.head().size
    return entries


def _swap(staged: str, target: str, standing: _Standing | None, open_store: Open) -> str:
    if standing is None:
        aside = _aside(target)
        _place(staged, target)
        return aside
    kept = next(filter(files.claim, _unused(f"{target}.before-restore-{standing.size}")))
    replaced = False
    try:
        with closing(open_store(target, keep_older=True)) as database:
            with database.read() as reader:
                size = reader.head().size
                since = [json.loads(stored)["op"] for _, stored in audit_rows.entries(reader, standing.size - 1)]
                if any(op != "migrate" for op in since):  # which opening it to write may have done just now
                    raise Conflict(f"{target} was written to meanwhile: nothing was replaced; try again")
                reader.copy_to(kept)
            database.replace(staged, size)
            replaced = True
            database.truncate_log()
    finally:
        if not replaced:
            files.discard(kept)
    return kept


def _place(staged: str, target: str) -> str:
    files.place(staged, target)
    return ""


def _aside(target: str) -> str:
    """Move what cannot be read out of the way, its log with it: a new file must not meet an old log."""
    aside = next(_unused(f"{target}.damaged"))
    for ending in reversed(_BESIDE):
        if os.path.lexists(target + ending):
            files.move(target + ending, aside + ending)
    return next(aside + ending for ending in _BESIDE if os.path.lexists(aside + ending))


def _unused(name: str) -> Iterator[str]:
    """Give names of files that are not there yet."""
    numbered = (f"{name}-{number}" for number in range(2, 10_000))
    return (path for path in (name, *numbered) if not any(os.path.lexists(path + ending) for ending in _BESIDE))
