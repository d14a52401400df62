"""`store.transfer`: taking a store elsewhere, and bringing it back."""

from __future__ import annotations

import os

from assay.episodes.draft import as_member
from assay.errors import ReadOnly
from assay.model.labels import Trust
from assay.storage.database import Database
from assay.transfer.backup import Backup, backup
from assay.transfer.exporting import export_lines
from assay.transfer.importing import Imported, Manner, import_file, import_records
from assay.transfer.markdown import markdown_lines
from assay.transfer.peers import peer_document, peer_lines
from assay.transfer.restore import Restored, restore
from assay.transfer.writing import Exported, write_lines

__all__ = ["Transfer"]

Path = str | os.PathLike[str]


class Transfer:
    """Backup and restore of the file, export and import of what it holds."""

    def __init__(
        self, database: Database, *, session: str, actor: str, default_trust: Trust, ceiling: Trust, heard: bool
    ) -> None:
        self._database = database
        self._session = session
        self._actor = actor
        self._default_trust = default_trust
        self._ceiling = ceiling
        self._heard = heard

    def backup(self, path: Path) -> Backup:
        """Copy the store into a new file while it is in use, verify the copy, and write its checkpoint beside it.

        Raises:
            Damaged: The copy does not verify, because the store does not.
            StorageFailure: Something is there already, or the folder cannot be written.
        """
        return backup(self._database, os.fspath(path))

    def restore(self, backup: Path, *, accept_rollback: bool = False, anchors: Path | None = None) -> Restored:
        """Let a backup of this store take its place; what was there is kept beside it, what was erased stays erased.

        Args:
            accept_rollback: Restore although the store or an anchor is newer than the backup.
            anchors: A file of checkpoints that were kept elsewhere.

        Raises:
            Conflict: The backup is older, or of another store.
            Damaged: The backup does not verify.
            ReadOnly: This store cannot be replaced.
        """
        if self._database.path == ":memory:" or self._database.read_only:
            raise ReadOnly("a store in memory, or one that was opened read-only, cannot be replaced")
        return restore(
            os.fspath(backup),
            self._database.path,
            actor=self._actor,
            wall=self._database.wall,
            principal=self._database.principal,
            timeout=self._database.timeout,
            accept_rollback=accept_rollback,
            anchors=None if anchors is None else os.fspath(anchors),
        )

    def export_jsonl(self, path: Path) -> Exported:
        """Write everything but secrets into a new file, a row a line: an import gives the same store again.

        Raises:
            StorageFailure: Something is there already, or the folder cannot be written.
        """
        with self._database.read() as reader:
            return write_lines(os.fspath(path), export_lines(reader))

    def export_markdown(self, path: Path) -> Exported:
        """Write a page to read into a new file: the document, the beliefs with their evidence, every episode.

        Raises:
            StorageFailure: Something is there already, or the folder cannot be written.
        """
        with self._database.read() as reader:
            return write_lines(os.fspath(path), (f"{line}\n".encode() for line in markdown_lines(reader)))

    def import_jsonl(self, path: Path, *, trust: Trust | str | None = None) -> Imported:
        """Bring in a file, all of it or nothing; what is held already is left alone.

        A whole export comes into an empty store as it was, but for claims above this store's ceiling. Anything else
        is recorded as new episodes of origin `import`: each line has the arguments of `Store.record`.

        Args:
            trust: Of lines that name none; the store's default when left out.

        Raises:
            InvalidInput: A line cannot be accepted; its number is named.
        """
        return import_file(self._database, os.fspath(path), **self._manner(trust))

    def import_from(self, program: str, path: Path, *, trust: Trust | str | None = None) -> Imported:
        """Record what another program's memory holds as new episodes; what is held already is left alone.

        The continuity of anneal-memory becomes the first one of a store that has none, if this session may wrap; what
        it believes enters at `import_level_cap` at most, 2x by default.

        Args:
            program: `anneal-memory` or `brainmem`.
            path: Its database, which is only read.
            trust: Of what names none; the store's default when left out.

        Raises:
            InvalidInput: No such program is known, or the file is not of it.
        """
        lines, document = peer_lines(program, os.fspath(path)), peer_document(program, os.fspath(path))
        return import_records(self._database, lines, document=document, session=self._session, **self._manner(trust))

    def _manner(self, trust: Trust | str | None) -> Manner:
        return {
            "trust": self._default_trust if trust is None else as_member("trust", trust, Trust),
            "ceiling": self._ceiling,
            "actor": self._actor,
            "heard": self._heard,
        }
