"""The package of a wrap: what a composer needs, as text for a model and as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from assay.beliefs.contradictions import contradictions
from assay.beliefs.loading import all_beliefs, evidence_of
from assay.beliefs.pairs import compared
from assay.episodes.loading import load, shorten
from assay.model.belief import Belief
from assay.model.constants import LIST_MAX
from assay.model.episode import Episode
from assay.model.labels import Kind, Mark, Residence, Trust, Verdict
from assay.model.wrap import WrapPackage
from assay.recall.rendering import closing, item_line, label, opening
from assay.storage.document_rows import newest_body
from assay.storage.reader import Reader
from assay.wrap.findings import MEANINGS
from assay.wrap.instructions import instructions
from assay.wrap.lifecycle import Open, token_of
from assay.wrap.material import weights_of
from assay.wrap.rules.case import spelled
from assay.wrap.rules.durable import pending
from assay.wrap.rules.sizes import target_tokens

__all__ = ["KINDS", "Packer"]

KINDS = (Kind.OUTCOME, Kind.DECISION, Kind.TENSION, Kind.QUESTION, Kind.OBSERVATION, Kind.CONTEXT)
_REF = "ep_k3v9q2ma"  # as long as most refs are shown
_QUIET = (Mark.CARRIED_FORWARD, Mark.OVERLAP, Mark.SHARED_EVIDENCE, Mark.RELAYED, Mark.CANDIDATE, Mark.NEEDS_EVIDENCE)


class Packer:
    """Assembles the package of one open wrap; equal stores give equal packages."""

    def __init__(self, reader: Reader, wrap: Open, counter: Callable[[str], int]) -> None:
        self._reader = reader
        self._wrap = wrap
        self._counter = counter
        self._fence = reader.fence(wrap.ref)
        self._body = newest_body(reader)
        self._beliefs = all_beliefs(reader, Residence.WORKING, Residence.PINNED, Residence.CRYSTAL)
        same, against = compared(self._beliefs)
        self._same = [_both(*pair, "says the same as") for pair in same]
        self._against = [
            _both(one.one, one.other, "is said to contradict" if one.stated else "speaks against")
            for one in contradictions(reader, self._beliefs, against)
        ]
        self._target = target_tokens(wrap.schema, reader.settings, wrap.max_tokens)

    def fixed_tokens(self) -> int:
        """Measure the package without its episodes."""
        return self._counter(self._prompt([], {}, 0))

    def cost(self, episode: Episode) -> int:
        """Measure what one episode takes in the package."""
        return 1 + self._counter(self._line([episode], _REF))

    def package(self, episodes: Sequence[Episode], remaining: int) -> WrapPackage:
        """Build the package for a window."""
        reader, wrap, beliefs = self._reader, self._wrap, self._beliefs
        refs = shorten(reader, [episode.ref for episode in episodes])
        evidence = tuple(evidence_of(reader, *(belief.ref for belief in beliefs)))
        return WrapPackage(
            prompt=self._prompt(episodes, refs, remaining),
            token=token_of(reader, wrap.ref),
            wrap=wrap.n,
            date=wrap.date,
            episodes=tuple(episodes),
            refs=refs,
            continuity=self._body,
            schema=wrap.schema,
            beliefs=tuple(beliefs),
            target_tokens=self._target,
            remaining=remaining,
            evidence=evidence,
            witnesses=tuple(load(reader, list(dict.fromkeys(link.episode for link in evidence)))),
            weights=weights_of(reader, [f"{spelled(belief.name)} {belief.text}" for belief in beliefs]),
            settings=reader.settings,
        )

    def _prompt(self, episodes: Sequence[Episode], refs: dict[str, str], remaining: int) -> str:
        wrap, crystal = self._wrap, Residence.CRYSTAL
        project = label(str(self._reader.setting("project_name") or ""))
        groups = _collapsed(episodes)
        trusted = [group for group in groups if group[0].effective_trust.rank >= Trust.AGENT.rank]
        untrusted = [group for group in groups if group not in trusted]
        meanings = [_named(one, one.text[:120]) for one in self._beliefs if one.residence is crystal]
        doubts = [
            _named(one, doubt) for one in self._beliefs if one.residence is not crystal and (doubt := self._doubt(one))
        ]
        pinned = (one.text for one in self._beliefs if one.residence is Residence.PINNED)
        waiting = [item_line("pinned", text[:200]) for text in pinned if pending(text)]
        parts = [
            instructions(project, wrap.schema, next(iter(refs.values()), _REF), self._target),
            f"Today is {wrap.date.isoformat()}. This is wrap {wrap.n}.",
            self._block("the present document", self._body.splitlines()) or "There is no document yet.",
            self._block("long-term memory, not in the document", _listed(meanings)),
            self._block("lines to check again", _listed(doubts)),
            self._block("lines to merge, if they are one", _listed(self._same)),
            self._block("pinned facts that wait for a day: once it is over, drop them", _listed(waiting)),
            self._block("lines that contradict each other: retire the one that fails", _listed(self._against)),
            self._block("episodes", self._lines(trusted, refs)),
            self._block("untrusted episodes, from tools and strangers", self._lines(untrusted, refs)),
            f"{remaining} later episodes wait for the next wrap." if remaining else "",
            self._refused(),
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _lines(self, groups: Iterable[Sequence[Episode]], refs: dict[str, str]) -> list[str]:
        ordered = sorted(groups, key=lambda group: (KINDS.index(group[0].kind), group[0].n))
        return [self._line(group, refs[group[0].ref]) for group in ordered]

    def _line(self, group: Sequence[Episode], ref: str) -> str:
        """Print an episode and its repetitions on one line, cut to its budget."""
        episode = group[0]
        outcome = {None: "", True: " success", False: " failure"}[episode.success]
        source = f" by {label(episode.source)}" if episode.source else ""
        times = f" said {len(group)} times" if len(group) > 1 else ""
        facts = f"{episode.kind.value}{outcome} {episode.happened_at.date().isoformat()}{source}{times}"
        return item_line(ref, self._cut(episode.content, ref), facts=facts, trust=episode.effective_trust)

    def _cut(self, text: str, ref: str) -> str:
        """Keep head and tail of a long text."""
        size, limit = self._counter(text), self._reader.settings.episode_tokens
        keep = max(40, len(text) * limit // max(1, size))
        if size <= limit or keep >= len(text):
            return text
        head, tail = keep * 2 // 3, keep // 3
        return f"{text[:head]} (+{len(text) - head - tail} characters, read {ref}) {text[-tail:]}"

    def _refused(self) -> str:
        """Say why the last text was refused, to whoever takes the wrap up again."""
        lines: dict[str, list[str]] = {}
        for rule, line in self._wrap.refused:
            lines.setdefault(rule, []).append(str(line))
        said = [f"[{rule}] {MEANINGS[rule]} (lines {', '.join(places)})" for rule, places in lines.items()]
        return "\n".join(["The last answer was not saved:", *said]) if said else ""

    def _doubt(self, belief: Belief) -> str:
        """Say why a line should be checked again, or ""."""
        reasons = [mark.value for mark in belief.marks if mark not in _QUIET]
        if belief.level > 1 and belief.verified_at is not None:
            days = (self._wrap.date - belief.verified_at.date()).days
            reasons += [f"last verified {days} days ago"] if days >= self._reader.settings.stale_days else []
        return ", ".join(reasons)

    def _block(self, title: str, lines: Sequence[str]) -> str:
        return "\n".join([opening(self._fence, title), *lines, closing(self._fence)]) if lines else ""


def _collapsed(episodes: Sequence[Episode]) -> list[list[Episode]]:
    """Put the repetitions of one text behind the first of them in the window."""
    grouped: dict[str, list[Episode]] = {}
    for episode in episodes:
        said = episode.verdict_target if episode.verdict is Verdict.ECHO else None
        grouped.setdefault(said or episode.ref, []).append(episode)
    return list(grouped.values())


def _listed(lines: list[str]) -> list[str]:
    rest = len(lines) - LIST_MAX
    return [*lines[:LIST_MAX], f"({rest} more are not listed)"] if rest > 0 else lines


def _both(one: Belief, other: Belief, how: str) -> str:
    said = f"{one.text[:120] or one.name[:80]} {how} {other.text[:120] or other.name[:80]}"
    return item_line(f"{one.name[:60] or 'pinned'} / {other.name[:60] or 'pinned'}", said)


def _named(belief: Belief, text: str) -> str:
    return item_line(belief.name[:80], text, facts=f"({belief.level}x)")
