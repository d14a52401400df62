"""Answering a query: rank, filter, collapse echoes, and serve what replaced a fact in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.episodes import loading
from assay.episodes.lineage import effective_trust
from assay.model.labels import Verdict
from assay.model.recall import Hit, Recall
from assay.recall.index import TailCache
from assay.recall.patterns import matching_beliefs
from assay.recall.query import Mode, Query
from assay.recall.ranking import Deadline, Ranked, rank
from assay.recall.relevance import BAR, coverage
from assay.recall.views import heads
from assay.storage import episode_rows
from assay.storage.reader import Reader

__all__ = ["search"]

_WIDTH = 64
_WIDE = 4_000
_JUDGED = 5  # hits among which the one that covers most of the question is looked for


def search(reader: Reader, query: Query, cache: TailCache, *, now_us: int, deadline: Deadline | None = None) -> Recall:
    """Answer a query from one snapshot; nothing is written.

    Raises:
        TimeoutError: The deadline passed.
    """
    deadline = deadline or Deadline(None)
    wanted, asked = query.after + query.limit, query.text.strip()
    found = _ranked(reader, query, cache, wanted, now_us, deadline) if asked else _listed(reader, query, now_us)
    patterns = matching_beliefs(reader, query.text) if asked and not query.narrowed else ()
    relevance = coverage(reader, asked, [row["content"] for row, _, _ in found[:_JUDGED]]) if asked else 1.0
    missed = not patterns and (not found or relevance < BAR)
    if query.mode is Mode.PRECISE and asked:
        found = [] if relevance < BAR else _close(found)
    page = found[query.after : wanted]
    episodes = {episode.ref: episode for episode in loading.load(reader, [row["id"] for row, _, _ in page])}
    short = loading.shorten(reader, {*episodes, *(ref for _, _, olds in page for ref in olds)})
    hits = [
        Hit(
            ref=short[row["id"]],
            id=row["id"],
            text=row["content"],
            score=sum(why.values()),
            why=why,
            trust=episodes[row["id"]].effective_trust,
            replaces=tuple(short[ref] for ref in olds),
            episode=episodes[row["id"]],
        )
        for row, why, olds in page
    ]
    more = str(wanted) if len(found) > wanted else None
    return Recall(hits, patterns=patterns, nothing_relevant=missed, next=more, relevance=relevance)


Found = tuple[dict[str, Any], Mapping[str, float], tuple[str, ...]]


def _close(found: list[Found]) -> list[Found]:
    """Keep what scores at least half of the best."""
    scores = [sum(why.values()) for _, why, _ in found]
    return [item for item, score in zip(found, scores, strict=True) if score >= max(scores) / 2]


def _ranked(
    reader: Reader, query: Query, cache: TailCache, wanted: int, now_us: int, deadline: Deadline
) -> list[Found]:
    enough = 4 * wanted + len(query.exclude)
    width = _WIDE if query.narrowed else max(_WIDTH, enough)
    ranked = rank(reader, query.text, cache, width=width, deadline=deadline)
    deadline.check()
    if not query.narrowed and query.trust is None and not query.history:
        ranked = ranked[:enough]
    by_number = {row["n"]: row for row in episode_rows.by_numbers(reader, [item.number for item in ranked])}
    if query.narrowed:
        by_number = {number: row for number, row in by_number.items() if query.history or query.admits(row, now_us)}
    rows = [(by_number[item.number], item) for item in ranked if item.number in by_number]
    if query.history:
        kept: list[Found] = [(row, item.signals, ()) for row, item in rows if query.admits(row, now_us)]
    else:
        kept = _current(reader, query, rows, now_us)
    return _trusted(reader, query, kept)


def _current(reader: Reader, query: Query, rows: list[tuple[dict[str, Any], Ranked]], now_us: int) -> list[Found]:
    """Put, in the place of what was replaced or repeated, what holds now."""
    known = {row["id"]: row for row, _ in rows}
    place = heads(reader, list(known), query.view)
    unread = [ref for ref in dict.fromkeys(place.values()) if ref not in known]
    known |= {row["id"]: row for row in episode_rows.by_ids(reader, unread)}
    found: dict[str, Found] = {}
    for row, item in rows:
        ref: str = row["id"]
        head = place.get(ref, ref)
        if head not in known or not query.admits(known[head], now_us):
            continue
        old = (ref,) if head != ref and row["verdict"] != Verdict.ECHO.value else ()
        if head in found:
            before = found[head]
            found[head] = (before[0], before[1], (*before[2], *old))
        else:
            found[head] = (known[head], item.signals, old)
    return list(found.values())


def _listed(reader: Reader, query: Query, now_us: int) -> list[Found]:
    """Without words: the newest first, or the refs asked for in their order."""
    if query.refs is not None:
        order = {ref: at for at, ref in enumerate(query.refs)}
        rows = sorted(episode_rows.by_ids(reader, list(query.refs)), key=lambda row: order[row["id"]])
        return _trusted(reader, query, [(row, {}, ()) for row in rows if query.admits(row, now_us)])
    found: list[Found] = []
    before, wanted = episode_rows.last_number(reader) + 1, query.after + query.limit + 1
    while len(found) < wanted:
        rows = episode_rows.page(
            reader, after=before, limit=500, session=query.session, source=query.source, newest_first=True
        )
        if not rows:
            break
        before = rows[-1]["n"]
        gone = {} if query.history else heads(reader, [row["id"] for row in rows], query.view)
        admitted = [row for row in rows if query.admits(row, now_us) and row["id"] not in gone]
        found += _trusted(reader, query, [(row, {}, ()) for row in admitted])
    return found


def _trusted(reader: Reader, query: Query, found: list[Found]) -> list[Found]:
    if query.trust is None:
        return found
    trust = effective_trust(reader, [row["id"] for row, _, _ in found])
    return [item for item in found if trust[item[0]["id"]].rank >= query.trust.rank]
