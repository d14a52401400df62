"""The package of a wrap: what a composer needs, as text for a model and as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from assay.beliefs.loading import all_beliefs, evidence_of
from assay.episodes.loading import load, shorten
from assay.model.belief import Belief
from assay.model.constants import LIST_MAX
from assay.model.episode import Episode
from assay.model.labels import Kind, Mark, Residence, Trust, Verdict
from assay.model.settings import Settings
from assay.model.wrap import WrapPackage
from assay.recall.rendering import closing, item_line, label, opening
from assay.storage.document_rows import newest_body
from assay.storage.reader import Reader
from assay.wrap.instructions import instructions
from assay.wrap.lifecycle import Open, token_of
from assay.wrap.material import weights_of
from assay.wrap.rules.sizes import target_tokens

__all__ = ["KINDS", "Shown", "build", "fixed_tokens", "shown"]

KINDS = (Kind.OUTCOME, Kind.DECISION, Kind.TENSION, Kind.QUESTION, Kind.OBSERVATION, Kind.CONTEXT)
_DOUBTS = {
    Mark.CONTESTED,
    Mark.REVOKED,
    Mark.UNCORROBORATED,
    Mark.USER_ONLY,
    Mark.SELF_GROUNDED,
    Mark.LEVEL_CAPPED,
    Mark.UNGROUNDED,
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One episode as the package prints it, with the further times that it was said."""

    episode: Episode
    line: str
    echoes: tuple[Episode, ...] = ()


def shown(grouped: tuple[Episode, tuple[Episode, ...]], ref: str, limit: int, counter: Callable[[str], int]) -> Shown:
    """Print one episode on one line, cut to its budget."""
    episode, echoes = grouped
    facts = [episode.kind.value]
    if episode.success is not None:
        facts.append("success" if episode.success else "failure")
    facts.append(episode.happened_at.date().isoformat())
    if episode.source:
        facts.append(f"by {label(episode.source)}")
    if echoes:
        facts.append(f"said {len(echoes) + 1} times")
    text = _cut(episode.content, ref, limit, counter)
    return Shown(episode, item_line(ref, text, facts=" ".join(facts), trust=episode.effective_trust), echoes)


def fixed_tokens(reader: Reader, wrap: Open, project: str, counter: Callable[[str], int]) -> int:
    """Measure the package without its episodes."""
    return counter(_prompt(reader, wrap, project, [], 0, all_beliefs(reader), "ep_k3v9q2ma"))


def build(
    reader: Reader, wrap: Open, project: str, episodes: Sequence[Episode], remaining: int, counter: Callable[[str], int]
) -> WrapPackage:
    """Assemble the package of an open wrap; equal stores give equal packages."""
    refs = shorten(reader, [episode.ref for episode in episodes])
    limit = reader.settings.episode_tokens
    printed = [shown(group, refs[group[0].ref], limit, counter) for group in _collapsed(episodes)]
    beliefs = all_beliefs(reader, Residence.WORKING, Residence.PINNED, Residence.CRYSTAL)
    example = next(iter(refs.values()), "ep_k3v9q2ma")
    evidence = tuple(link for belief in beliefs for link in evidence_of(reader, belief.ref))
    return WrapPackage(
        prompt=_prompt(reader, wrap, project, printed, remaining, beliefs, example),
        token=token_of(reader, wrap.ref),
        wrap=wrap.n,
        date=wrap.date,
        episodes=tuple(episodes),
        refs=refs,
        continuity=newest_body(reader),
        schema=wrap.schema,
        beliefs=tuple(beliefs),
        target_tokens=target_tokens(wrap.schema, reader.settings, wrap.max_tokens),
        remaining=remaining,
        evidence=evidence,
        witnesses=tuple(load(reader, list(dict.fromkeys(link.episode for link in evidence)))),
        weights=weights_of(reader, [f"{belief.name.replace('_', ' ')} {belief.text}" for belief in beliefs]),
        settings=reader.settings,
    )


def _prompt(
    reader: Reader, wrap: Open, project: str, printed: list[Shown], remaining: int, beliefs: list[Belief], example: str
) -> str:
    settings = reader.settings
    fence = reader.fence(wrap.ref)
    target = target_tokens(wrap.schema, settings, wrap.max_tokens)
    body = newest_body(reader)
    parts = [
        instructions(label(project), wrap.schema, example, target),
        f"Today is {wrap.date.isoformat()}. This is wrap {wrap.n}.",
    ]
    parts.append(_block(fence, "the present document", body.splitlines()) if body else "There is no document yet.")
    crystals = [belief for belief in beliefs if belief.residence is Residence.CRYSTAL]
    if crystals:
        parts.append(_block(fence, "long-term memory, not in the document", _listed(_meaning(one) for one in crystals)))
    doubts = [
        line for belief in beliefs if belief.residence is Residence.WORKING and (line := _doubt(belief, wrap, settings))
    ]
    if doubts:
        parts.append(_block(fence, "lines to check again", _listed(doubts)))
    trusted = [one for one in printed if one.episode.effective_trust.rank >= Trust.AGENT.rank]
    untrusted = [one for one in printed if one.episode.effective_trust.rank < Trust.AGENT.rank]
    if trusted or not untrusted:
        parts.append(_block(fence, "episodes", _by_kind(trusted)))
    if untrusted:
        parts.append(_block(fence, "untrusted episodes, from tools and strangers", _by_kind(untrusted)))
    if remaining:
        parts.append(f"{remaining} later episodes wait for the next wrap.")
    return "\n\n".join(parts) + "\n"


def _collapsed(episodes: Sequence[Episode]) -> list[tuple[Episode, tuple[Episode, ...]]]:
    """Put the repetitions of one text behind the first of them in the window."""
    heads: dict[str, str] = {}
    grouped: dict[str, list[Episode]] = {}
    for episode in episodes:
        said = episode.verdict_target if episode.verdict is Verdict.ECHO and episode.verdict_target else episode.ref
        head = heads.setdefault(said, episode.ref)
        grouped.setdefault(head, []).append(episode)
    return [(members[0], tuple(members[1:])) for members in grouped.values()]


def _by_kind(printed: list[Shown]) -> list[str]:
    return [one.line for kind in KINDS for one in printed if one.episode.kind is kind]


def _block(fence: str, title: str, lines: Iterable[str]) -> str:
    return "\n".join([opening(fence, title), *lines, closing(fence)])


def _listed(lines: Iterable[str]) -> list[str]:
    whole = list(lines)
    rest = len(whole) - LIST_MAX
    return [*whole[:LIST_MAX], f"({rest} more are not listed)"] if rest > 0 else whole


def _meaning(belief: Belief) -> str:
    return item_line(belief.name[:80], belief.text[:120], facts=f"({belief.level}x)")


def _doubt(belief: Belief, wrap: Open, settings: Settings) -> str:
    reasons = [mark.value for mark in belief.marks if mark in _DOUBTS]
    if belief.level > 1 and belief.verified_at is not None:
        days = (wrap.date - belief.verified_at.date()).days
        reasons += [f"last verified {days} days ago"] if days >= settings.stale_days else []
    return item_line(belief.name[:80], ", ".join(reasons), facts=f"({belief.level}x)") if reasons else ""


def _cut(text: str, ref: str, limit: int, counter: Callable[[str], int]) -> str:
    """Keep head and tail of a long text."""
    size = counter(text)
    if size <= limit:
        return text
    keep = max(40, len(text) * limit // size)
    head, tail = keep * 2 // 3, keep // 3
    left = len(text) - head - tail
    return f"{text[:head]} (+{left} characters, read {ref}) {text[-tail:]}" if left > 0 else text
