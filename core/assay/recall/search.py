"""Answering a query: rank, filter, collapse echoes, and serve what replaced a fact in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.episodes import loading
from assay.episodes.lineage import effective_trust
from assay.episodes.recording import key_digest
from assay.model.labels import Trust, Verdict
from assay.model.recall import Hit, Recall
from assay.recall.index import TailCache
from assay.recall.patterns import matching_beliefs
from assay.recall.query import Mode, Query
from assay.recall.ranking import Ranked, rank
from assay.recall.relevance import BAR, coverage
from assay.recall.scoring import Deadline, Scorer
from assay.recall.views import heads
from assay.storage import episode_rows
from assay.storage.reader import Reader

__all__ = ["search"]

_WIDTHS = (48, 512, 4_096)  # episodes that are ranked, until there are enough answers
_LARGE = 10_000
_JUDGED = 5  # hits among which the one that covers most of the question is looked for


def search(reader: Reader, query: Query, cache: TailCache, *, now_us: int, deadline: Deadline | None = None) -> Recall:
    """Answer a query from one snapshot; nothing is written.

    Raises:
        TimeoutError: The deadline passed.
    """
    deadline = deadline or Deadline(None)
    wanted, asked = query.after + query.limit, query.text.strip()
    scorer = _scorer(reader, query, cache, deadline) if asked else None
    if scorer is None:
        found, relevance = ([], 0.0) if asked else (_listed(reader, query, now_us), 1.0)
    else:
        found = _ranked(reader, query, scorer, cache, wanted, now_us)
        judged = episode_rows.by_ids(reader, [row["id"] for row, _, _ in found[:_JUDGED]])
        relevance = coverage(scorer.frequency, scorer.documents, [row["content"] for row in judged])
    patterns = matching_beliefs(reader, query.text) if asked and not query.narrowed else ()
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
            text=episodes[row["id"]].content,
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


def _scorer(reader: Reader, query: Query, cache: TailCache, deadline: Deadline) -> Scorer | None:
    from assay.text import query_terms

    deadline.check()
    terms = query_terms(query.text)
    if not terms:
        return None
    among, without = _scope(reader, query), episode_rows.in_quarantine(reader)
    return Scorer(reader, terms, cache, deadline, among=among, without=without, source=query.source or "")


def _ranked(reader: Reader, query: Query, scorer: Scorer, cache: TailCache, wanted: int, now_us: int) -> list[Found]:
    """Rank ever more episodes, until enough of them are answers, or no others share a word, or too many do.

    What a wider look finds stands behind what a narrower one found, so that every page is cut from the same list.
    """
    rows = _Rows(reader, query, now_us)
    admitted = rows.admitted if query.narrowed else list
    found: dict[str, Found] = {}
    for width in _WIDTHS:
        ranked, whole = rank(reader, query.text, scorer, width, admitted=admitted, likeness=cache.likeness)
        for answer in _answers(reader, query, rows, ranked, now_us):
            found.setdefault(answer[0]["id"], answer)
        if whole or len(found) > wanted:
            break
    return list(found.values())


def _scope(reader: Reader, query: Query) -> list[int] | None:
    """Give the numbers of the only episodes that can be answers, where an index of the store knows them."""
    if query.refs is not None:
        return [row["n"] for row in episode_rows.by_ids(reader, list(query.refs))]
    if query.state_key is not None:
        return [row["n"] for row in episode_rows.keyed(reader, key_digest(reader, query.state_key))]
    if query.session is None:
        return None
    numbers = episode_rows.of_session(reader, query.session, _LARGE + 1)
    return numbers if len(numbers) <= _LARGE else None  # so large a session is found by looking


class _Rows:
    """The rows of candidates, each read once; without contents, which a filter hardly ever asks for."""

    def __init__(self, reader: Reader, query: Query, now_us: int) -> None:
        self._reader, self._query, self._now = reader, query, now_us
        self._known: dict[int, dict[str, Any]] = {}

    def get(self, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Give the rows of the live ones among some episodes."""
        wanted = list(numbers)
        unread = [number for number in wanted if number not in self._known]
        self._known |= {
            row["n"]: row for row in episode_rows.by_numbers(self._reader, unread, content=bool(self._query.phrase))
        }
        return {number: self._known[number] for number in wanted if number in self._known}

    def admitted(self, numbers: Iterable[int]) -> list[int]:
        """Give those of some episodes that pass the filters, as far as their own rows tell."""
        query = self._query
        least = 0 if query.trust is None else query.trust.rank
        return [
            number
            for number, row in self.get(numbers).items()
            if query.admits(row, self._now) and Trust(row["trust"]).rank >= least
        ]


def _answers(reader: Reader, query: Query, rows: _Rows, ranked: Sequence[Ranked], now_us: int) -> list[Found]:
    known = rows.get(item.number for item in ranked)
    kept = [(known[item.number], item) for item in ranked if item.number in known]
    if not query.history:
        return _trusted(reader, query, _current(reader, query, kept, now_us))
    return _trusted(reader, query, [(row, item.signals, ()) for row, item in kept if query.admits(row, now_us)])


def _current(reader: Reader, query: Query, rows: list[tuple[dict[str, Any], Ranked]], now_us: int) -> list[Found]:
    """Put, in the place of what was replaced or repeated, what holds now."""
    known = {row["id"]: row for row, _ in rows}
    place = heads(reader, list(known), query.view)
    unread = [ref for ref in dict.fromkeys(place.values()) if ref not in known]
    known |= {row["id"]: row for row in episode_rows.by_ids(reader, unread, content=bool(query.phrase))}
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
    if query.state_key is not None:
        rows = sorted(episode_rows.keyed(reader, key_digest(reader, query.state_key)), key=lambda row: -row["n"])
        return _standing(reader, query, rows, now_us)
    found: list[Found] = []
    before, wanted = episode_rows.last_number(reader) + 1, query.after + query.limit + 1
    while len(found) < wanted:
        rows = episode_rows.page(
            reader, after=before, limit=500, session=query.session, source=query.source, newest_first=True
        )
        if not rows:
            break
        before = rows[-1]["n"]
        found += _standing(reader, query, rows, now_us)
    return found


def _standing(reader: Reader, query: Query, rows: Sequence[dict[str, Any]], now_us: int) -> list[Found]:
    """Give those of some episodes that pass the filters, and that nothing stands in the place of."""
    gone = {} if query.history else heads(reader, [row["id"] for row in rows], query.view)
    admitted = [row for row in rows if query.admits(row, now_us) and row["id"] not in gone]
    return _trusted(reader, query, [(row, {}, ()) for row in admitted])


def _trusted(reader: Reader, query: Query, found: list[Found]) -> list[Found]:
    if query.trust is None:
        return found
    trust = effective_trust(reader, [row["id"] for row, _, _ in found])
    return [item for item in found if trust[item[0]["id"]].rank >= query.trust.rank]
