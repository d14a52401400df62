"""Open a wrap: freeze the window, or say why none opens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Literal

from assay.authority.baton import authorised
from assay.episodes.loading import build as episodes_of
from assay.episodes.loading import by_numbers
from assay.model.episode import Episode
from assay.model.finding import Action, Finding
from assay.model.labels import Verdict
from assay.model.times import from_us
from assay.model.wrap import WrapPackage, WrapResult, WrapStatus
from assay.storage import episode_rows, wrap_rows
from assay.storage.database import Database
from assay.storage.document_rows import newest_version
from assay.storage.reader import Reader
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.wrap.lifecycle import Open, as_open, as_ranges, close, token_of
from assay.wrap.package import KINDS, build, fixed_tokens, shown
from assay.wrap.schemas import read_schema, schema_text

__all__ = ["lease_end", "no_authority", "prepare_wrap"]

_AT_ONCE = 200
_MOST = 2_000  # episodes that `take="important"` chooses among
_MICRO = 1_000_000
_REF = "ep_k3v9q2ma"  # as long as most refs are shown


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
        if refused is not None:
            return refused
        row = wrap_rows.open_wrap(tx)
        if row is not None:
            if row["session"] == session:
                tx.entry("prepare", actor=session, data={"wrap": row["n"], "resumed": True})
                tx.update("wrap", row["id"], {"lease_until": lease_end(tx)})
                return _package(tx, as_open(row), counter)
            if row["lease_until"] > tx.now:
                return _busy(row["session"], row["lease_until"])
            close(tx, row, "abandoned", actor=session)
        return _open(tx, session, take, max_tokens, counter)

    return database.mutate(write)


def no_authority(reader: Reader, session: str) -> WrapResult | None:
    """Give the result for a session that may not wrap, or None."""
    refusal = authorised(reader, session)
    if refusal is None:
        return None
    finding = Finding("authority", Action.REFUSE, refusal.message, refusal.fix, data={"reason": refusal.reason})
    return WrapResult(WrapStatus.NO_AUTHORITY, (finding,), message=f"{refusal.message}; {refusal.fix}")


def _open(
    tx: Transaction, session: str, take: str, max_tokens: int | None, counter: Callable[[str], int]
) -> WrapPackage | WrapResult:
    ranges = wrap_rows.committed_ranges(tx)
    if next(iter(wrap_rows.unwrapped(tx, ranges)), None) is None:
        return WrapResult(WrapStatus.EMPTY, message="nothing was recorded since the last wrap")
    stored = tx.get("setting", "schema")
    ref = tx.new_id("wr")
    number = wrap_rows.last_number(tx) + 1
    row: dict[str, Value] = {
        "n": number,
        "state": "open",
        "token_hash": hashlib.sha256(token_of(tx, ref).encode()).hexdigest(),
        "session": session,
        "window": "[]",
        "schema": schema_text(read_schema(stored["value"] if stored else "null")),
        "date": from_us(tx.now).date().isoformat(),
        "base_version": newest_version(tx),
        "lease_until": lease_end(tx),
        "prepared": tx.now,
        "ended": None,
        "retries": 0,
        "detail": json.dumps({"max_tokens": max_tokens}),
    }
    wrap = as_open({"id": ref, **row})
    budget = tx.settings.package_tokens - fixed_tokens(tx, wrap, str(tx.setting("project_name") or ""), counter)
    window = _window(tx, ranges, budget, take, counter)
    row["window"] = json.dumps(as_ranges(sorted(episode.n for episode in window)))
    tx.entry("prepare", actor=session, data={"wrap": number, "episodes": len(window)})
    tx.insert("wrap", ref, row)
    return _package(tx, as_open({"id": ref, **row}), counter)


def _package(tx: Transaction, wrap: Open, counter: Callable[[str], int]) -> WrapPackage:
    episodes = by_numbers(tx, wrap.window)
    left = wrap_rows.unwrapped_count(tx, wrap_rows.committed_ranges(tx)) - len(episodes)
    return build(tx, wrap, str(tx.setting("project_name") or ""), episodes, max(0, left), counter)


def _window(
    reader: Reader, ranges: Sequence[tuple[int, int]], budget: int, take: str, counter: Callable[[str], int]
) -> list[Episode]:
    """Choose the longest run of episodes that fits into a budget of tokens; at least one."""
    chosen: dict[str, Episode] = {}
    for episode in _candidates(reader, ranges, take):
        repeats = episode.verdict is Verdict.ECHO and episode.verdict_target in chosen
        cost = 1 if repeats else 1 + counter(shown((episode, ()), _REF, reader.settings.episode_tokens, counter).line)
        if chosen and cost > budget:
            break
        budget -= cost
        chosen[episode.ref] = episode
    return sorted(chosen.values(), key=lambda one: one.n)


def _candidates(reader: Reader, ranges: Sequence[tuple[int, int]], take: str) -> Iterator[Episode]:
    numbers = iter(wrap_rows.unwrapped(reader, ranges))
    if take == "important":
        rows = episode_rows.by_numbers(reader, list(islice(numbers, _MOST)))
        yield from sorted(episodes_of(reader, rows), key=lambda one: (KINDS.index(one.kind), one.n))
        return
    while chunk := list(islice(numbers, _AT_ONCE)):
        yield from episodes_of(reader, episode_rows.by_numbers(reader, chunk))


def _busy(holder: str, until: int) -> WrapResult:
    message = f"the session {holder!r} has a wrap open until {from_us(until).isoformat(timespec='seconds')}"
    return WrapResult(WrapStatus.BUSY, message=message)


def lease_end(tx: Transaction) -> int:
    """Give until when a wrap is held for its session from now on."""
    return tx.now + tx.settings.lease_seconds * _MICRO
