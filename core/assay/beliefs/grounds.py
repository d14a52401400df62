"""Evidence episodes as the rules see them: a class, a trust, and which of them are independent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assay.model.constants import COPY_COVER
from assay.model.episode import Episode
from assay.model.labels import Kind, Origin, Trust
from assay.text import content, content_set, covers, near
from assay.text.compare import NEAR_JACCARD

__all__ = ["Ground", "GroundClass", "ground_of", "groups", "independent", "pools", "suspected"]


class GroundClass(StrEnum):
    """What kind of evidence an episode is, read off the door it came through."""

    OUTCOME = "O"
    OPERATOR = "P"
    TOOL = "T"
    USER = "U"
    SELF = "S"


@dataclass(frozen=True, slots=True)
class Ground:
    """One episode that may carry a belief.

    Attributes:
        trust: Effective trust: the least of its own label and those of its sources.
        erased: Whether only its tombstone is left.
    """

    ref: str
    text: str = field(repr=False)
    kind: GroundClass = GroundClass.SELF
    trust: Trust = Trust.AGENT
    session: str = ""
    source: str = ""
    n: int = 0
    derived_from: tuple[str, ...] = ()
    erased: bool = False

    @property
    def blocked(self) -> bool:
        """Tell whether it counts for nothing: external, or no longer there."""
        return self.trust is Trust.EXTERNAL or self.erased


_BY_ORIGIN = {Origin.OPERATOR: GroundClass.OPERATOR, Origin.TOOL: GroundClass.TOOL, Origin.USER: GroundClass.USER}


def ground_of(episode: Episode) -> Ground:
    """Classify an episode: by its origin, and as a tool's word where it is trusted no further than one."""
    kind = _BY_ORIGIN.get(episode.origin, GroundClass.SELF)
    if episode.origin is Origin.HOST and episode.kind is Kind.OUTCOME:
        kind = GroundClass.OUTCOME
    elif episode.effective_trust is Trust.TOOL:
        kind = GroundClass.TOOL
    return Ground(
        episode.ref,
        episode.content,
        kind,
        episode.effective_trust,
        episode.session or "",
        episode.source,
        episode.n,
        episode.derived_from,
    )


def groups(grounds: Sequence[Ground], *, retold: bool = False) -> list[list[Ground]]:
    """Put together what is one piece of evidence: near-duplicates, and what derives from one another.

    Args:
        retold: Keep apart what two sources say with the same words, each in an order of its own.
    """
    place = {ground.ref: at for at, ground in enumerate(grounds)}
    derived = ((at, place[ref]) for at, one in enumerate(grounds) for ref in one.derived_from if ref in place)
    near_ones = _near([ground.text for ground in grounds])
    copies = (pair for pair in near_ones if not (retold and _retold(grounds[pair[0]], grounds[pair[1]])))
    return _joined(grounds, [*derived, *copies])


def independent(grounds: Sequence[Ground]) -> int:
    """Count the grounds that are independent: distinct evidence, from another session or another source."""
    firsts = [min(group, key=lambda one: one.n) for group in groups(grounds, retold=True)]
    return len({(ground.session, ground.source) for ground in firsts})


def suspected(episodes: Sequence[Episode]) -> tuple[dict[str, Ground], list[tuple[str, str]]]:
    """Give the episodes of a window as grounds; what an agent copied from an external one counts as external (B16).

    Returns:
        The grounds by full id, and the pairs of copy and original.
    """
    external = [one for one in episodes if one.trust is Trust.EXTERNAL]
    grounds = {episode.ref: ground_of(episode) for episode in episodes}
    copies: list[tuple[str, str]] = []
    for episode in episodes:
        pages = [one for one in external if one.session == episode.session and one.n < episode.n]
        if episode.origin is not Origin.AGENT or episode.derived_from or grounds[episode.ref].blocked:
            continue
        page = next((one for one in pages if covers(one.content, episode.content) >= COPY_COVER), None)
        if page is not None:
            grounds[episode.ref] = replace(grounds[episode.ref], trust=Trust.EXTERNAL)
            copies.append((episode.ref, page.ref))
    return grounds, copies


def pools(lines: Sequence[Sequence[Ground]]) -> list[tuple[set[int], int]]:
    """Put together the lines that share evidence: places of the lines, and how many distinct episodes carry them."""
    distinct = groups(list({ground.ref: ground for line in lines for ground in line}.values()))
    group_of = {ground.ref: place for place, group in enumerate(distinct) for ground in group}
    found: list[tuple[set[int], set[int]]] = []
    for place, line in enumerate(lines):
        members, carried = {place}, {group_of[ground.ref] for ground in line}
        for other in [one for one in found if one[1] & carried]:
            found.remove(other)
            members, carried = members | other[0], carried | other[1]
        found.append((members, carried))
    return [(members, len(carried)) for members, carried in found]


def _retold(one: Ground, other: Ground) -> bool:
    said, again = (f" {' '.join(content(ground.text))} " for ground in (one, other))
    # Two people may repeat a short fact with a remark of their own; elsewhere that is a copy.
    copied = said == again if one.kind is other.kind is GroundClass.USER else said in again or again in said
    return one.source != other.source and one.session != other.session and not copied


def _near(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of the near-duplicates; two such texts share one of the rarest fifth of their words."""
    listed = [content_set(text) for text in texts]
    frequency = Counter(word for words in listed for word in words)
    seen: dict[str, list[int]] = {}
    for at, words in enumerate(listed):
        rare = sorted(words, key=lambda word: (frequency[word], word))[
            : len(words) - int(NEAR_JACCARD * len(words)) + 1
        ]
        held = [seen.setdefault(word, []) for word in rare or ("",)]
        yield from (
            (at, other) for other in {one for places in held for one in places} if near(texts[at], texts[other])
        )
        for places in held:
            places.append(at)


def _joined(grounds: Sequence[Ground], alike: Iterable[tuple[int, int]]) -> list[list[Ground]]:
    """Put together the grounds at the places of each pair, and what is put together with them."""
    group_of = {at: [at] for at in range(len(grounds))}
    for one, other in alike:
        if group_of[one] is not group_of[other]:
            group_of[one] += group_of[other]
            group_of |= dict.fromkeys(group_of[one], group_of[one])
    distinct = {id(group): group for group in group_of.values()}
    return [[grounds[at] for at in group] for group in distinct.values()]
