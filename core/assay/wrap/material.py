"""Everything that judging one text needs, read from the store at one moment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.authority.watching import Held, Probe, probes_of, standing
from assay.beliefs.grounds import Ground, suspected
from assay.beliefs.history import History, histories
from assay.beliefs.loading import all_beliefs
from assay.episodes.loading import by_numbers, shorten
from assay.episodes.succession import objection
from assay.model.belief import Belief
from assay.model.episode import Episode
from assay.model.finding import Finding
from assay.model.labels import Residence
from assay.model.refs import is_ref, normal_ref
from assay.model.settings import Settings
from assay.recall.index import document_frequency
from assay.storage import episode_rows, wrap_rows
from assay.storage.document_rows import newest_body, newest_version
from assay.storage.reader import Reader
from assay.text import content_set, skeleton, weight
from assay.wrap.document import Document, Move, MoveVerb, Parsed, parse
from assay.wrap.findings import found
from assay.wrap.lifecycle import Open, pending
from assay.wrap.rules.case import IdState, Resolution, Window, spelled
from assay.wrap.rules.moves import Succession
from assay.wrap.rules.sizes import target_tokens
from assay.wrap.rules.sources import Origins

__all__ = ["Material", "load", "weights_of"]


@dataclass(frozen=True, slots=True)
class Material:
    """What one save is judged by.

    Attributes:
        before: The last version of the document, None before the first.
        origins: Where the lines of that version come from.
        histories: Beliefs of the document, and those that the text names, by key.
        successions: The `supersedes` markers of the text, resolved.
        pinned: The facts that hold, in order of section and place.
        probes: What the operator watches.
        watched: How the watched beliefs stand, by full id.
        findings: What reading the store already found.
    """

    wrap: Open
    settings: Settings
    project: str
    version: int
    before: Document | None
    origins: Origins
    histories: Mapping[str, History]
    window: Window
    episodes: tuple[Episode, ...]
    successions: tuple[Succession, ...]
    target: int
    remaining: int
    pinned: tuple[Belief, ...] = ()
    probes: tuple[Probe, ...] = ()
    watched: Mapping[str, Held] = field(default_factory=dict[str, Held])
    findings: tuple[Finding, ...] = ()


def load(reader: Reader, wrap: Open, parsed: Parsed) -> Material:
    """Read the window as it is now, the beliefs, the last version, and every id that the text cites."""
    episodes = by_numbers(reader, wrap.window)
    grounds, copies = suspected(episodes)
    short = shorten(reader, {ref for pair in copies for ref in pair})
    told = (f"{short[copy]} repeats the external {short[page]} and counts as external" for copy, page in copies)
    successions = tuple(_succession(reader, move, grounds) for move in parsed.moves if move.verb is MoveVerb.SUPERSEDES)
    replaced = {one.old for one in successions if not one.problem} | {one.ref for one in episodes if one.replaced_by}
    cited = [one for line in parsed.document.patterns for citation in line.citations for one in citation.ids]
    ids = {one: _resolve(reader, one, grounds, replaced) for one in dict.fromkeys(cited)}
    window = Window(
        date=wrap.date,
        grounds={ref: ground for ref, ground in grounds.items() if ref not in replaced},
        ids=ids,
        weights=_weights(reader, parsed),
        shown=shorten(reader, [*grounds][:1] + [one.ref for one in ids.values() if one.ref in grounds]),
        settings=reader.settings,
        first=not wrap_rows.cited_before(reader),
    )
    body = newest_body(reader)
    probes = tuple(probes_of(reader))
    return Material(
        wrap=wrap,
        settings=reader.settings,
        project=str(reader.setting("project_name") or ""),
        version=newest_version(reader),
        before=parse(body, wrap.schema).document if body else None,
        origins=_origins(reader),
        histories=histories(reader, _keys(parsed)),
        window=window,
        episodes=tuple(episodes),
        successions=successions,
        target=target_tokens(wrap.schema, reader.settings, wrap.max_tokens),
        remaining=max(0, pending(reader) - len(episodes)),
        probes=probes,
        watched=standing(reader, probes),
        pinned=tuple(all_beliefs(reader, Residence.PINNED)),
        findings=tuple(found("suspected-derived", message) for message in told),
    )


def _keys(parsed: Parsed) -> list[str]:
    named = [name for move in parsed.moves for name in (*move.subjects, move.target)]
    return [*(line.key for line in parsed.document.patterns), *map(skeleton, named)]


def _find(reader: Reader, written: str) -> tuple[str, IdState]:
    """Find what an id names: the full id and whether it is live, erased, ambiguous or unknown."""
    wanted = normal_ref(written)
    wanted = wanted if wanted.startswith("ep_") else f"ep_{wanted}"
    if not is_ref(wanted):
        return "", IdState.UNKNOWN
    known = episode_rows.matching_prefix(reader, wanted)
    if len(known) != 1:
        return "", IdState.AMBIGUOUS if known else IdState.UNKNOWN
    return known[0][0], IdState.ERASED if known[0][1] else IdState.STALE


def _resolve(reader: Reader, written: str, grounds: Mapping[str, Ground], replaced: set[str]) -> Resolution:
    ref, state = _find(reader, written)
    if state is IdState.STALE and ref in replaced:
        state = IdState.SUPERSEDED
    elif state is IdState.STALE and ref in grounds:
        state = IdState.WINDOW
    return Resolution(state, ref)


def _succession(reader: Reader, move: Move, grounds: Mapping[str, Ground]) -> Succession:
    old, old_state = _find(reader, move.subjects[0])
    new, new_state = _find(reader, move.target)
    problem = ""
    if old_state is not IdState.STALE or new_state is not IdState.STALE:
        problem = "it names an episode that does not exist"
    elif new not in grounds:
        problem = "the new episode is not in this wrap's window"
    else:
        rows = {row["id"]: row for row in episode_rows.by_ids(reader, [old, new])}
        problem = objection(reader, rows[old], rows[new])
    return Succession(move, old, new, problem)


def _weights(reader: Reader, parsed: Parsed) -> Callable[[str], float]:
    """Weigh the words of the text by how many episodes hold them."""
    texts = [line.text for section in parsed.document.sections for line in section.body]
    for line in parsed.document.patterns:
        texts += [spelled(line.name), *(citation.explanation for citation in line.citations)]
    weights = weights_of(reader, texts)
    return lambda word: weights.get(word, 1.0)


def weights_of(reader: Reader, texts: Iterable[str]) -> Mapping[str, float]:
    """Weigh the content words of some texts by how many episodes hold them."""
    listed = sorted(content_set("\n".join(texts)))
    frequency, documents = document_frequency(reader, listed)
    return {word: weight(word, df=frequency.get(word, 0), documents=documents) for word in listed}


def _origins(reader: Reader) -> Origins:
    rows = reader.find("document", order="version DESC", limit=1)
    detail: dict[str, Any] = json.loads(rows[0]["detail"]) if rows else {}
    stored: dict[str, list[str]] = detail.get("sources", {})
    sources = {key: tuple(refs) for key, refs in stored.items()}
    return Origins(sources, frozenset(detail.get("relayed", ())))
