"""A store as a page to read: the document, what is believed on which evidence, and what happened day by day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.audit.merkle import root_of
from assay.beliefs.loading import all_beliefs, evidence_of
from assay.episodes import loading
from assay.model.belief import Belief
from assay.model.episode import Episode
from assay.model.labels import Residence
from assay.recall.rendering import label, quoted_line
from assay.storage import document_rows, episode_rows
from assay.storage.reader import Reader

__all__ = ["markdown_lines"]

_AT_ONCE: Final = 500
_MARKUP: Final = str.maketrans({char: f"\\{char}" for char in r"\`*_[]#!|~"} | {"<": "&lt;", "&": "&amp;"})


def markdown_lines(reader: Reader) -> Iterator[str]:
    """Give the page line by line; stored text stays text, whatever it looks like."""
    head = reader.head()
    root = root_of(head.frontier).hex()
    yield f"# {_plain(str(reader.setting('project_name')))}: memory"
    yield ""
    yield f"Store `{reader.meta('store_id').decode()}`; the log has {head.size} entries, root `{root}`."
    yield from _document(reader)
    yield from _beliefs(reader)
    yield from _episodes(reader)


def _document(reader: Reader) -> Iterator[str]:
    if version := document_rows.newest_version(reader):
        yield from ("", f"## Continuity, version {version}", "")
        yield from map(quoted_line, document_rows.newest_body(reader).splitlines())


def _beliefs(reader: Reader) -> Iterator[str]:
    beliefs = [belief for belief in all_beliefs(reader) if belief.name or belief.residence is not Residence.REST]
    if beliefs:
        yield from ("", "## Beliefs", "")
    for belief in sorted(beliefs, key=lambda one: (-one.level, one.name, one.ref)):
        yield _belief_line(reader, belief)


def _belief_line(reader: Reader, belief: Belief) -> str:
    grounds = dict.fromkeys(item.episode for item in evidence_of(reader, belief.ref))
    refs = ", ".join(f"`{ref}`" for ref in grounds) or "none"
    said = f"{_plain(belief.name)}: {_plain(belief.text)}" if belief.name else _plain(belief.text)
    return f"- **{belief.level}x** {said} ({belief.kind.value}, {belief.residence.value}; evidence: {refs})"


def _episodes(reader: Reader) -> Iterator[str]:
    day, number = "", 0
    yield from ("", "## Episodes")
    while episodes := loading.build(reader, episode_rows.between(reader, number + 1, _LAST, _AT_ONCE)):
        for episode in episodes:
            number = episode.n
            if (recorded := episode.recorded_at.date().isoformat()) != day:
                day = recorded
                yield from ("", f"### {day}")
            yield from _episode_lines(episode)


_LAST: Final = 2**62


def _episode_lines(episode: Episode) -> Iterator[str]:
    facts = [episode.kind.value, label(episode.source) if episode.source else episode.origin.value]
    if episode.happened_at.date() != episode.recorded_at.date():
        facts.append(f"happened {episode.happened_at.date().isoformat()}")
    if episode.success is not None:
        facts.append("worked" if episode.success else "failed")
    if episode.effective_trust is not episode.trust or episode.trust.value != "agent":
        facts.append(f"trust {episode.effective_trust.value}")
    if episode.replaced_by:
        facts.append(f"replaced by `{episode.replaced_by}`")
    yield from ("", f"`{episode.ref}` {', '.join(facts)}", "")
    for line in episode.content.splitlines() or [""]:
        yield quoted_line(line.translate(_MARKUP))


def _plain(text: str) -> str:
    return quoted_line(" ".join(text.split()).translate(_MARKUP))[2:]
