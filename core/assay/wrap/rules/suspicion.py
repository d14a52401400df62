"""B16: an agent that repeats a page without saying so does not vouch for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from assay.beliefs.grounds import Ground, ground_of
from assay.model.constants import COPY_COVER
from assay.model.episode import Episode
from assay.model.finding import Finding
from assay.model.labels import Origin, Trust
from assay.text import covers
from assay.wrap.findings import found

__all__ = ["suspected"]


def suspected(episodes: Iterable[Episode]) -> tuple[dict[str, Ground], list[Finding]]:
    """Give the episodes of a window as grounds; what an agent copied from an external one counts as external."""
    listed = list(episodes)
    external = [one for one in listed if one.trust is Trust.EXTERNAL]
    grounds = {episode.ref: ground_of(episode) for episode in listed}
    findings: list[Finding] = []
    for episode in listed:
        if episode.origin is not Origin.AGENT or episode.derived_from or grounds[episode.ref].blocked:
            continue
        page = next((one for one in external if one.session == episode.session and _repeats(one, episode)), None)
        if page is not None:
            grounds[episode.ref] = replace(grounds[episode.ref], trust=Trust.EXTERNAL)
            message = f"{episode.ref[:11]} repeats the external {page.ref[:11]} and counts as external"
            findings.append(found("suspected-derived", message))
    return grounds, findings


def _repeats(page: Episode, episode: Episode) -> bool:
    return page.n < episode.n and covers(page.content, episode.content) >= COPY_COVER
