"""The store's namespace for its log: following it, anchoring it elsewhere, proving it to others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.audit.merkle import root_of
from assay.errors import InvalidInput
from assay.model.episode import Episode, JsonValue
from assay.storage import audit_rows
from assay.storage.database import Database

if TYPE_CHECKING:
    from assay.audit.proofs.checkpoints import Target
    from assay.audit.proofs.signing import Signer
    from assay.audit.proofs.verify_proof import Note
    from assay.model.recall import Hit
    from assay.model.status import Checkpoint

    Ref = str | Episode | Hit

__all__ = ["Audit"]


class Audit:
    """The log of every change."""

    def __init__(self, database: Database, signer: Signer | None) -> None:
        self._database = database
        self._signer = signer

    def entries(self, after: int = -1, *, limit: int = 1000) -> Sequence[Mapping[str, JsonValue]]:
        """Give the entries behind a seq, in order; the caller keeps the cursor."""
        with self._database.read() as reader:
            return [json.loads(entry) for _, entry in audit_rows.entries(reader, after, limit)]

    def head(self) -> tuple[int, str]:
        """Give the number of entries and the Merkle root, hex."""
        with self._database.read() as reader:
            head = reader.head()
        return head.size, root_of(head.frontier).hex()

    def checkpoint(self) -> Checkpoint:
        """Make a checkpoint, signed if the store has a signer; all that it covers is durable.

        Raises:
            NotAuthorised: Another key than the signer's is in force.
        """
        from assay.audit.proofs.checkpoints import make

        return _public(make(self._database, self._signer))

    def anchor(self, target: Target) -> Checkpoint:
        """Make a checkpoint and export it, to where whoever writes the store cannot write.

        Args:
            target: A file, to which it is appended durably; or a function that takes its text.

        Raises:
            InvalidInput: The file holds something else than checkpoints.
            NotAuthorised: Another key than the signer's is in force.
            StorageFailure: The file cannot be written.
        """
        from assay.audit.proofs.checkpoints import export, make

        note = make(self._database, self._signer)
        export(note, target)
        return _public(note)

    def prove(self, item: Ref | int, *, content: bool = False) -> Mapping[str, JsonValue]:
        """Prove that entries are in the log: a bundle for the stand-alone verifier.

        Args:
            item: What the entries are about, or the seq of one. The full id of an erased episode proves that it was
                erased, and when.
            content: Show what the entries wrote, as far as it is still there. Whoever has the bundle can confirm
                that text, also after it was erased here.

        Raises:
            InvalidInput: No such entry, or no signed checkpoint covers it yet.
            NotFound: The ref names no episode.
        """
        from assay.audit.proofs.bundle import prove
        from assay.episodes import loading
        from assay.store.namespaces import as_ref

        with self._database.read() as reader:
            if isinstance(item, int):
                return prove(reader, [item])
            ref = as_ref(item)
            erased = loading.exists(reader, ref) == "erased"
            full = loading.resolve(reader, ref) if ref.startswith("ep_") and not erased else ref
            seqs = [seq for seq, _ in audit_rows.mentioning(reader, f'"{full}"', -1)]
            if not seqs:
                raise InvalidInput("item", f"no entry speaks of {ref}")
            return prove(reader, seqs, content=[full] if content else ())

    def consistency(self, old: int | str | Checkpoint) -> Mapping[str, JsonValue]:
        """Prove that nothing in the log was changed since a checkpoint, or since it had some size.

        Raises:
            InvalidInput: The log was never of that size, or is not the one of that checkpoint.
        """
        from assay.audit.proofs.bundle import prove_growth
        from assay.audit.proofs.checkpoints import read_anchors

        text = old if isinstance(old, int | str) else old.note
        with self._database.read() as reader:
            return prove_growth(reader, text if isinstance(text, int) else read_anchors([text])[-1])

    def sign_with(self, signer: Signer) -> str:
        """Sign checkpoints with this key from here on; the one before signs the change. Give its public form.

        Raises:
            NotAuthorised: A key is in force, and the store was not opened with its signer.
        """
        from assay.audit.proofs.checkpoints import sign_with

        key = sign_with(self._database, signer, self._signer)
        self._signer = signer
        return key

    def key(self) -> str | None:
        """Give the public form of the key in force, for whoever checks a signature; None when there is none."""
        from assay.audit.proofs.checkpoints import KEY

        with self._database.read() as reader:
            found: str | None = reader.setting(KEY)
        return found


def _public(note: Note) -> Checkpoint:
    from assay.model.status import Checkpoint

    return Checkpoint(note.origin, note.size, note.root.hex(), note.note)
