"""Results: an append-only log that may reorder what is recalled, and never promotes."""

from __future__ import annotations

from assay.beliefs.loading import find_belief
from assay.episodes import loading
from assay.errors import InvalidInput
from assay.storage.transaction import Transaction

__all__ = ["add_result"]

_MAX_NOTE = 2_000


def add_result(tx: Transaction, ref: str, worked: bool, note: str, *, actor: str) -> None:
    """Add how acting on an episode or a belief went.

    Raises:
        InvalidInput: `worked` is no bool, or the note is longer than 2,000 characters.
        NotFound: The ref names nothing.
    """
    if not isinstance(worked, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("worked", "True or False")
    if len(note) > _MAX_NOTE:
        raise InvalidInput("note", f"longer than {_MAX_NOTE} characters")
    subject = loading.resolve(tx, ref) if ref.startswith("ep_") else find_belief(tx, ref).ref
    tx.entry("result", actor=actor)
    tx.insert(
        "result",
        tx.new_id("re"),
        {"subject": subject, "worked": int(worked), "note": note, "episode": None, "made": tx.now},
    )
