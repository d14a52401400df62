"""Open a wrap: freeze the window, or say why none opens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

from assay.authority.baton import authorised
from assay.episodes.loading import build as episodes_of
from assay.episodes.loading import by_numbers
from assay.model.episode import Episode
from assay.model.labels import Verdict
from assay.model.times import from_us
from assay.model.wrap import WrapPackage, WrapResult, WrapStatus
from assay.storage import document_rows, episode_rows, wrap_rows
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction
from assay.wrap.findings import found
from assay.wrap.lifecycle import as_open, close, lease_end, pending, token_of
from assay.wrap.package import KINDS, Packer

__all__ = ["no_authority", "prepare_wrap"]

_AT_ONCE = 200
_MOST = 2_000  # episodes that `take="important"` chooses among
_Counter = Callable[[str], int]


def prepare_wrap(
    database: Database,
    *,
    session: str,
    take: Literal["oldest", "important"] = "oldest",
    max_tokens: int | None = None,
    counter: Callable[[str], int],
) -> WrapPackage | WrapResult:
    """Freeze the unwrapped episodes that fit and give the package, or a result that says why nothing opened.

    The session that has a wrap open gets the same package again; another one gets `busy` until the lease ends,
    then takes over.
    """

    def write(tx: Transaction) -> WrapPackage | WrapResult:
        refused = no_authority(tx, session)
        row = wrap_rows.open_wrap(tx)
        if refused is not None:
            return refused
        if row is not None and row["session"] == session:
            tx.entry("prepare", actor=session, data={"wrap": row["n"], "resumed": True})
            tx.update("wrap", row["id"], {"lease_until": lease_end(tx)})
            return _package(tx, row["id"], row, counter)
        if row is not None and row["lease_until"] > tx.now:
            until = from_us(row["lease_until"]).isoformat(timespec="seconds")
            return WrapResult(WrapStatus.BUSY, message=f"the session {row['session']!r} has a wrap open until {until}")
        if row is not None:
            close(tx, row, "abandoned", actor=session)
        return _open(tx, session, take, max_tokens, counter)

    return database.mutate(write)


def no_authority(reader: Reader, session: str) -> WrapResult | None:
    """Give the result for a session that may not wrap, or None."""
    refusal = authorised(reader, session)
    if refusal is None:
        return None
    finding = found("authority", refusal.message, refusal.fix, data={"reason": refusal.reason})
    return WrapResult(WrapStatus.NO_AUTHORITY, (finding,), message=f"{refusal.message}; {refusal.fix}")


def _open(
    tx: Transaction, session: str, take: str, max_tokens: int | None, counter: _Counter
) -> WrapPackage | WrapResult:
    if not pending(tx):
        return WrapResult(WrapStatus.EMPTY, message="nothing was recorded since the last wrap")
    schema = tx.get("setting", "schema")
    ref = tx.new_id("wr")
    row: dict[str, Any] = {
        "n": wrap_rows.last_number(tx) + 1,
        "state": "open",
        "token_hash": hashlib.sha256(token_of(tx, ref).encode()).hexdigest(),
        "session": session,
        "window": "[]",
        "schema": schema["value"] if schema else "null",
        "date": from_us(tx.now).date().isoformat(),
        "base_version": document_rows.newest_version(tx),
        "lease_until": lease_end(tx),
        "prepared": tx.now,
        "ended": None,
        "retries": 0,
        "detail": json.dumps({"max_tokens": max_tokens}),
    }
    numbers = _window(tx, Packer(tx, as_open(ref, row), counter), take)
    row["window"] = json.dumps(_ranges(numbers))
    tx.entry("prepare", actor=session, data={"wrap": row["n"], "episodes": len(numbers)})
    tx.insert("wrap", ref, row)
    return _package(tx, ref, row, counter)


def _package(tx: Transaction, ref: str, row: dict[str, Any], counter: _Counter) -> WrapPackage:
    wrap = as_open(ref, row)
    episodes = by_numbers(tx, wrap.window)
    return Packer(tx, wrap, counter).package(episodes, max(0, pending(tx) - len(episodes)))


def _window(reader: Reader, packer: Packer, take: str) -> list[int]:
    """Choose the longest run of episodes that fits into the package; at least one."""
    budget = reader.settings.package_tokens - packer.fixed_tokens()
    chosen: dict[str, int] = {}
    for episode in _candidates(reader, take):
        repeats = episode.verdict is Verdict.ECHO and episode.verdict_target in chosen
        cost = 1 if repeats else packer.cost(episode)
        if chosen and cost > budget:
            break
        budget -= cost
        chosen[episode.ref] = episode.n
    return sorted(chosen.values())


def _candidates(reader: Reader, take: str) -> Iterator[Episode]:
    numbers = iter(wrap_rows.unwrapped(reader, wrap_rows.committed_ranges(reader)))
    if take == "important":
        rows = episode_rows.by_numbers(reader, list(islice(numbers, _MOST)))
        yield from sorted(episodes_of(reader, rows), key=lambda one: (KINDS.index(one.kind), one.n))
        return
    while chunk := list(islice(numbers, _AT_ONCE)):
        yield from episodes_of(reader, episode_rows.by_numbers(reader, chunk))


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Write ascending numbers as ranges of first and last."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges
