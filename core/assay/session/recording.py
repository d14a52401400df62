"""How an event becomes episodes: the text that is kept, its parts, and the key under which it is written once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from assay.model.constants import MAX_IDS_PER_CALL
from assay.model.episode import JsonValue
from assay.session.conversation import Conversation, RunState
from assay.session.labels import digest, label
from assay.session.loop_guard import without_loops
from assay.session.policy import Event, Row
from assay.storage import session_rows
from assay.store import Store
from assay.text import redact

__all__ = ["Occurrence", "as_text", "comes_from", "error_text", "record"]

LOOP_DROPPED = "loop_dropped"
_HEAD_SHARE = 0.6
_NOTE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One event, ready to be recorded.

    Attributes:
        identity: The host's id of the event; "" for none: then its place in the run and its text are its identity.
        derived: Refs of what it came from.
        inferred: What the run has read from outside counts among its sources.
    """

    event: Event
    row: Row
    text: str = field(repr=False)
    source: str = ""
    identity: str = ""
    derived: tuple[str, ...] = ()
    inferred: bool = False
    facts: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


def record(store: Store, conversation: Conversation, run: RunState, what: Occurrence) -> tuple[str, ...]:
    """Record an event and give the refs of its episodes: none when it was blank or came from our own briefing."""
    text, facts = _shortened(_clean(what.text), what.row)
    if not text.strip():
        return ()
    shown = conversation.home.shown
    with store._database.read() as reader:
        shown.follow(reader)
        kept = without_loops(reader, shown, text, own_words=what.event is Event.USER_MESSAGE)
    if not kept.text.strip():
        store._database.operational(lambda tx: session_rows.count(tx, LOOP_DROPPED))
        return ()
    run.ordinal += 1
    identity = what.identity or f"{run.ordinal}:{digest(text)}"
    sources = [*what.derived, *kept.quoted]
    if what.inferred:
        sources += run.externals
    refs: list[str] = []
    parts = _split(kept.text, what.row.limit)
    for number, part in enumerate(parts):
        episode = store.record(
            part,
            what.row.kind,
            origin=what.row.origin,
            trust=what.row.trust,
            source=what.source,
            session=label(conversation.session),
            run=label(run.id),
            success=False if what.row.failure else None,
            derived_from=tuple(dict.fromkeys([*refs[-1:], *sources]))[:MAX_IDS_PER_CALL],
            inferred=what.inferred and bool(run.externals),
            metadata={
                "event": what.event.value,
                **what.facts,
                **facts,
                **({"part": number + 1} if len(parts) > 1 else {}),
            },
            idempotency_key=digest(f"{conversation.session}\0{run.id}\0{what.event.value}\0{identity}\0{number}"),
        )
        refs.append(episode.ref)
    run.recorded += refs
    return tuple(refs)


def as_text(value: object) -> str:
    """Give a text as it is, and anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseException):
        return error_text(value)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def error_text(error: BaseException | str) -> str:
    """Give type and message of an error, without its traceback."""
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}".rstrip(": ")


def comes_from(error: BaseException, cause: BaseException | str | None) -> bool:
    """Tell whether an error is another one, or was raised because of it."""
    seen: set[int] = set()
    link: BaseException | None = error
    while cause is not None and link is not None and id(link) not in seen:
        if link is cause:
            return True
        seen.add(id(link))
        link = link.__cause__ or link.__context__
    return False


def _clean(text: str) -> str:
    """Replace what a store refuses: NUL characters and halves of surrogate pairs."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _shortened(text: str, row: Row) -> tuple[str, dict[str, JsonValue]]:
    """Scrub a text that will be cut, because half a secret is not recognised any more, and keep its two ends."""
    if len(text) <= row.limit:
        return text, {}
    whole = redact(text)[0]
    if row.splits or len(whole) <= row.limit:
        return whole, {}
    head = int((row.limit - _NOTE_CHARS) * _HEAD_SHARE)
    tail = row.limit - _NOTE_CHARS - head
    note = (
        f"\n[... {len(whole) - head - tail:,} of {len(whole):,} characters left out, sha256 {digest(whole)[:16]} ...]\n"
    )
    return whole[:head] + note + whole[-tail:], {"size": len(whole), "sha256": digest(whole)}


def _split(text: str, limit: int) -> list[str]:
    """Split at the last paragraph, line, sentence or word of the second half that fits."""
    parts: list[str] = []
    while len(text) > limit:
        cut = (
            next(
                (place for mark in ("\n\n", "\n", ". ", " ") if (place := text.rfind(mark, limit // 2, limit)) > 0),
                limit - 1,
            )
            + 1
        )
        parts.append(text[:cut])
        text = text[cut:]
    return [part for part in (*parts, text) if part.strip()]
