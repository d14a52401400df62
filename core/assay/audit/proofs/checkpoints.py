"""Checkpoints: the state of the log at a moment, kept in the store and exported to where its owner cannot write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.audit.merkle import root_of
from assay.audit.proofs.signing import Signer, check_signer, hand_over, sign
from assay.audit.proofs.verify_proof import CUT, Key, Note, Refused, read_key, read_note, read_notes, write_text
from assay.audit.receipts import seal_receipts
from assay.errors import InvalidInput, StorageFailure
from assay.storage import audit_rows
from assay.storage.database import Database
from assay.storage.operational import OperationalWriter
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = [
    "KEY", "Source", "Target", "covering", "export", "make", "of_head", "origin", "read_anchors", "read_vkey",
    "sign_with",
]  # fmt: skip

KEY = "checkpoint_key"  # the setting that names the key in force
_ORIGIN = "assay/"
Source = str | os.PathLike[str]
Target = Source | Callable[[str], object]


def origin(reader: Reader) -> str:
    """Give the name of the store's log."""
    return f"{_ORIGIN}{reader.meta('store_id').decode()}"


def of_head(reader: Reader) -> Note:
    """Give the state of the log as a checkpoint, not signed."""
    head, name = reader.head(), origin(reader)
    root = root_of(head.frontier)
    return Note(name, head.size, root, write_text(name, head.size, root))


def make(database: Database, signer: Signer | None) -> Note:
    """Make a checkpoint and keep it; all that it covers is durable when this returns.

    Raises:
        NotAuthorised: The signer is not that of the key in force.
    """

    def begin(tx: Transaction) -> None:
        check_signer(origin(tx), tx.setting(KEY), signer)
        if signer is not None and tx.setting(KEY) is None:
            _put_key(tx, signer, None)
        # An entry of its own: its time is that of the checkpoint, and an idle log has a newest one as well.
        tx.entry("checkpoint", actor="host", data=seal_receipts(tx))

    def keep(tx: OperationalWriter) -> None:
        check_signer(origin(tx), tx.setting(KEY), signer)
        audit_rows.add_checkpoint(tx, note.size, made, note.note)

    database.mutate(begin)
    with database.read() as reader:
        note, made = of_head(reader), reader.head().ts
    if signer is not None:
        note = sign(note, signer)  # outside of any transaction: the signer may be far away
    database.operational(keep, durable=True)
    return note


def sign_with(database: Database, new: Signer, previous: Signer | None) -> str:
    """Bring a key into force, in the place of the one before; give its public form.

    Raises:
        NotAuthorised: The signer before is not that of the key in force.
    """
    return database.mutate(lambda tx: _put_key(tx, new, previous))


def _put_key(tx: Transaction, new: Signer, previous: Signer | None) -> str:
    data = hand_over(origin(tx), tx.setting(KEY), new, previous)
    tx.entry("key", actor="host", data=data)
    tx.put_setting(KEY, data["key"])
    return str(data["key"])


def covering(reader: Reader, size: int) -> Note:
    """Give a checkpoint of at least so many entries: the newest that is kept, else one of the head, not signed.

    Raises:
        InvalidInput: Only a signed one will do, and none is kept.
    """
    newest = audit_rows.newest_checkpoint(reader)
    note = read_note(newest[1]) if newest else None
    if note is not None and note.size >= size:
        return note
    if reader.setting(KEY) is not None:
        raise InvalidInput("checkpoint", "none that is signed covers this yet: call store.audit.checkpoint() first")
    return of_head(reader)


def export(note: Note, target: Target) -> None:
    """Hand a checkpoint to a function, or append it to a file; it is durable there when this returns.

    A checkpoint that an earlier call could not write to its end, for want of space or power, is marked as cut short.
    Nothing is taken away: the file may take additions only, and others may be writing to it.

    Raises:
        InvalidInput: The file holds something else than checkpoints.
        StorageFailure: It cannot be written.
    """
    if callable(target):
        target(note.note)
        return
    path = Path(target).expanduser()
    try:
        if path.is_symlink():
            raise StorageFailure(f"{path} is a symbolic link: give the real path")
        new = not path.exists()
        cut = not new and _read(path)[1]
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        text = f"\n{CUT}\n{note.note}" if cut else note.note
        _written(os.open(path, flags, 0o600), text.encode())
        if new and os.name == "posix":  # a folder cannot be opened elsewhere, and NTFS journals the creation
            _written(os.open(path.absolute().parent, os.O_RDONLY), b"")
    except OSError as error:
        raise StorageFailure(f"{path} cannot be written ({error.strerror}): the checkpoint is in the store") from error


def read_anchors(sources: Source | Sequence[Source], report: Callable[[str], object] = str) -> list[Note]:
    """Read checkpoints that were kept: of files, or as texts.

    Args:
        report: Takes what does not speak against the anchors, and should be known.

    Raises:
        InvalidInput: A file cannot be read, or holds no checkpoint.
    """
    notes: list[Note] = []
    for source in [sources] if isinstance(sources, str | os.PathLike) else sources:
        is_text = isinstance(source, str) and "\n" in source
        found, cut = _parsed(str(source)) if is_text else _read(Path(source).expanduser())
        if not found:
            raise InvalidInput("anchors", f"{source} holds no checkpoint")
        if cut:
            report(f"the last checkpoint of {source} is cut short, and left out: anchor again")
        notes += found
    return notes


def read_vkey(text: str | None) -> Key | None:
    """Read a verifier key, if there is one.

    Raises:
        InvalidInput: It is none.
    """
    try:
        return None if text is None else read_key(text)
    except Refused as error:
        raise InvalidInput("key", str(error)) from error


def _read(path: Path) -> tuple[list[Note], bool]:
    try:
        return _parsed(path.read_bytes().decode("utf-8", "replace"), f"{path}: ")
    except OSError as error:
        raise InvalidInput("anchors", f"{path} cannot be read ({error.strerror})") from error


def _parsed(text: str, name: str = "") -> tuple[list[Note], bool]:
    try:
        notes, cut = read_notes(text)
        if cut and not (notes or _ORIGIN.startswith(text[: len(_ORIGIN)])):
            raise Refused("it does not begin with one")
    except Refused as error:
        raise InvalidInput("anchors", f"{name}no file of checkpoints: name another ({error})") from error
    return notes, cut


def _written(descriptor: int, data: bytes) -> None:
    """Write to the end, let it reach the disk, and close."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
