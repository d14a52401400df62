"""How an event becomes episodes: the text that is kept, its parts, and the key under which it is written once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.episodes.draft import Checked, Draft
from assay.episodes.recording import Written, prepare
from assay.model.constants import MAX_IDS_PER_CALL
from assay.model.episode import JsonValue
from assay.session.conversation import Conversation, RunState
from assay.session.engine import database_of, record_within
from assay.session.labels import digest, label
from assay.session.loop_guard import without_loops
from assay.session.policy import Event, Row
from assay.storage.session_rows import count
from assay.text import redact

if TYPE_CHECKING:
    from assay.storage.transaction import Transaction
    from assay.store import Store

__all__ = ["Occurrence", "as_text", "comes_from", "error_text", "record"]

_HEAD_SHARE = 0.6
_NOTE_CHARS = 120
_as_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One event, as a host told it.

    Attributes:
        identity: The host's id of the event; "" for none: then its place in the run and its text are its identity.
        derived: Refs of what it came from.
        by_model: A model said it: what the run has read from outside counts among its sources.
    """

    event: Event
    text: str = field(repr=False)
    source: str
    identity: str = ""
    tool: str = ""
    derived: tuple[str, ...] = ()
    by_model: bool = False


def record(store: Store, conversation: Conversation, run: RunState, what: Occurrence, row: Row) -> tuple[str, ...]:
    """Record an event and give the refs of its episodes: none when it was blank or came from our own briefing."""
    text, facts = _shortened(_clean(what.text), row)
    if not text.strip():
        return ()
    facts |= {"event": what.event.value} | ({"tool": what.tool} if what.tool else {})

    def tell(tx: Transaction, add: Callable[[Checked], Written]) -> list[str]:
        shown = conversation.home.shown
        shown.follow(tx)
        kept = without_loops(tx, shown, text, own_words=what.event is Event.USER_MESSAGE)
        if not kept.text.strip():
            return []
        run.ordinal += 1
        identity = what.identity or f"{run.ordinal}:{digest(text)}"
        outside = run.externals if what.by_model else []
        refs: list[str] = []
        for number, part in enumerate(_split(kept.text, row.limit)):
            derived = dict.fromkeys([*refs[-1:], *what.derived, *kept.quoted, *outside])
            draft = Draft(
                part, row.kind, row.origin, label(what.source), label(conversation.session), label(run.id), row.trust,
                success=False if row.failure else None, inferred=bool(outside),
                derived_from=tuple(derived)[:MAX_IDS_PER_CALL],
                metadata={**facts, "part": number + 1} if number else facts,
                idempotency_key=digest("\0".join((conversation.session, run.id, what.event, identity, str(number)))),
            )  # fmt: skip
            refs.append(add(prepare(draft)).row["id"])
        return refs

    refs = record_within(store, tell)
    if not refs:
        database_of(store).operational(lambda tx: count(tx, "loop_dropped"))
    run.recorded += refs
    return tuple(refs)


def as_text(value: object) -> str:
    """Give a text as it is, and anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return _as_json(value)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def error_text(error: BaseException | str) -> str:
    """Give type and message of an error, without its traceback."""
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}".rstrip(": ")


def comes_from(error: BaseException, cause: BaseException | str | None) -> bool:
    """Tell whether an error is another one, or was raised because of it."""
    seen: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in seen:
        if link is cause:
            return True
        seen.append(link)
        link = link.__cause__ or link.__context__
    return False


def _clean(text: str) -> str:
    """Replace what a store refuses: NUL characters and halves of surrogate pairs."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _shortened(text: str, row: Row) -> tuple[str, dict[str, JsonValue]]:
    """Scrub a text that will be cut, because half a secret is not recognised any more, and keep its two ends."""
    whole = text if len(text) <= row.limit else redact(text)[0]
    if row.splits or len(whole) <= row.limit:
        return whole, {}
    head = int((row.limit - _NOTE_CHARS) * _HEAD_SHARE)
    tail = row.limit - _NOTE_CHARS - head
    left, mark = len(whole) - head - tail, digest(whole)
    note = f"\n[... {left:,} of {len(whole):,} characters left out, sha256 {mark[:16]} ...]\n"
    return whole[:head] + note + whole[-tail:], {"size": len(whole), "sha256": mark}


def _split(text: str, limit: int) -> list[str]:
    """Split at the last paragraph, line, sentence or word of the second half that fits."""
    parts: list[str] = []
    while len(text) > limit:
        ends = (
            text.rfind(mark, limit // 2, limit - 1) + len(mark) for mark in ("\n\n", "\n", ". ", " ") if mark in text
        )
        cut = next((end for end in ends if end > limit // 2), limit)
        parts.append(text[:cut])
        text = text[cut:]
    return [part for part in (*parts, text) if part.strip()]
