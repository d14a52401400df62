"""The states of a wrap: open, then committed, cancelled or abandoned; at most one is open."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from assay.audit.folding import folded
from assay.errors import NotAuthorised
from assay.model.episode import JsonValue
from assay.model.schema import Schema
from assay.storage import wrap_rows
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction
from assay.wrap.schemas import read_schema

__all__ = ["Open", "as_open", "cancel", "close", "holds_token", "lease_end", "open_wrap", "pending", "token_of"]

_OPERATIONS = {"cancelled": "cancel", "abandoned": "abandon"}


@dataclass(frozen=True, slots=True)
class Open:
    """An open wrap.

    Attributes:
        window: Ranges of episode numbers, first and last.
        retries: How often findings went back to the composer.
        max_tokens: A smaller target for the document than the store's, or None.
        refused: Rules for which the last text was refused, with the lines that they held.
    """

    ref: str
    n: int
    session: str
    window: tuple[tuple[int, int], ...]
    schema: Schema
    date: date
    retries: int
    max_tokens: int | None
    refused: tuple[tuple[str, int], ...] = ()


def open_wrap(reader: Reader) -> dict[str, Any] | None:
    """Give the row of the open wrap, or None."""
    return wrap_rows.open_wrap(reader)


def pending(reader: Reader) -> int:
    """Count the episodes that no committed wrap has seen."""
    return wrap_rows.unwrapped_count(reader, wrap_rows.committed_ranges(reader))


def as_open(ref: str, row: dict[str, Any]) -> Open:
    """Turn the row of a wrap into its frozen form.

    Raises:
        InvalidInput: The schema stored with it cannot be read.
    """
    window = tuple((first, last) for first, last in json.loads(row["window"]))
    schema, day = read_schema(row["schema"]), date.fromisoformat(row["date"])
    detail: dict[str, Any] = json.loads(row["detail"])
    refused = tuple((rule, line) for rule, line in detail.get("refused", ()))
    return Open(ref, row["n"], row["session"], window, schema, day, row["retries"], detail.get("max_tokens"), refused)


def token_of(reader: Reader, ref: str) -> str:
    """Give the token of a wrap: 128 bits, derived from the store's secret, so that it can be handed out again."""
    return reader.derive(f"token:{ref}")[:16].hex()


def holds_token(row: dict[str, Any], token: str) -> bool:
    """Tell whether a token is that of a wrap; only its hash is stored."""
    hashed = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
    return hmac.compare_digest(hashed, row["token_hash"])


def lease_end(tx: Transaction) -> int:
    """Give until when a wrap is held for its session from now on, in microseconds since 1970."""
    return tx.now + tx.settings.lease_seconds * 1_000_000


def close(tx: Transaction, row: dict[str, Any], state: str, *, actor: str) -> None:
    """End a wrap without a document; its episodes are unwrapped again."""
    data: dict[str, JsonValue] = {"wrap": row["n"], "session": row["session"], **folded(tx, row["id"])}
    tx.entry(_OPERATIONS[state], actor=actor, data=data)
    tx.update("wrap", row["id"], {"state": state, "ended": tx.now})


def cancel(database: Database, token: str | None = None, *, session: str = "local", force: bool = False) -> bool:
    """Cancel the open wrap, by its token, its session, or `force`; False when none was open.

    Raises:
        NotAuthorised: Another session opened it.
    """

    def write(tx: Transaction) -> bool:
        row = open_wrap(tx)
        if row is None:
            return False
        mine = holds_token(row, token) if token is not None else row["session"] == session
        if not mine and not force:
            raise NotAuthorised(f"the wrap belongs to the session {row['session']!r}: pass its token, or force=True")
        close(tx, row, "cancelled", actor=session)
        return True

    return database.mutate(write)
