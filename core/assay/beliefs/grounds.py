"""Evidence episodes as the rules see them: a class, a trust, and which of them are independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assay.model.constants import COPY_COVER
from assay.model.episode import Episode
from assay.model.labels import Kind, Origin, Trust
from assay.text import covers, near

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


_Alike = Callable[[Ground, Ground], bool]
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


def groups(grounds: Sequence[Ground]) -> list[list[Ground]]:
    """Put together what is one piece of evidence: near-duplicates, and what derives from one another."""
    return _merged(grounds, lambda a, b: a.ref in b.derived_from or b.ref in a.derived_from or near(a.text, b.text))


def independent(grounds: Sequence[Ground]) -> int:
    """Count the grounds that are independent: distinct evidence, from another session or another source."""
    firsts = [min(group, key=lambda one: one.n) for group in groups(grounds)]
    return len(_merged(firsts, lambda a, b: (a.session, a.source) == (b.session, b.source)))


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


def _merged(grounds: Sequence[Ground], alike: _Alike) -> list[list[Ground]]:
    result: list[list[Ground]] = []
    for ground in sorted(grounds, key=lambda one: one.n):
        joined = [group for group in result if any(alike(ground, other) for other in group)]
        rest = [group for group in result if group not in joined]
        result = [*rest, [ground, *(other for group in joined for other in group)]]
    return result
