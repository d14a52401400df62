"""What a probe of the operator sees in a document: what it watches still stands, or how it drifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from assay.authority.watching import Held, Probe
from assay.beliefs.grounding import has_value
from assay.model.labels import Residence
from assay.text import agrees, content_set, values

__all__ = ["ProbeState", "Sighting", "sight"]


class ProbeState(StrEnum):
    """How what is watched stands; all but `held` is a drift."""

    HELD = "held"
    WEAKENED = "weakened"
    CRYSTALLIZED = "crystallized"
    RETIRED = "retired"
    CHANGED = "changed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a probe found.

    Attributes:
        detail: For people: levels, missing words, or the line that says otherwise.
    """

    probe: Probe
    state: ProbeState
    detail: str = field(default="", repr=False)


def sight(probe: Probe, held: Mapping[str, Held], lines: Sequence[tuple[str, str]]) -> Sighting:
    """Look for what a probe watches.

    Args:
        held: Full id of a belief -> how it stands.
        lines: Heading and text of every line of the document.
    """
    if probe.belief:
        return _belief(probe, held.get(probe.belief))
    return _statement(probe, [text for heading, text in lines if probe.section in ("", heading)])


def _belief(probe: Probe, held: Held | None) -> Sighting:
    if held is None or (held.residence is Residence.REST and not held.retired):
        return Sighting(probe, ProbeState.LOST, "it is in no document and no memory")
    if held.retired and held.residence is Residence.REST:
        return Sighting(probe, ProbeState.RETIRED, "it was retired")
    if held.residence is Residence.CRYSTAL:
        return Sighting(probe, ProbeState.CRYSTALLIZED, f"{held.level}x, in long-term memory")
    state = ProbeState.HELD if held.level >= probe.level else ProbeState.WEAKENED
    return Sighting(probe, state, f"{held.level}x, at least {probe.level}x is watched")


def _statement(probe: Probe, lines: Sequence[str]) -> Sighting:
    """Look for all words and values of a statement in one line; the same words with another value are a change."""
    watched = values(probe.text)
    wanted = content_set(probe.text)
    plain = wanted - content_set(" ".join(value.surface for value in watched))
    changed = ""
    for line in lines:
        held = content_set(line)
        stated = all(has_value(line, value) for value in watched)
        if wanted <= held and stated and agrees(probe.text, line):
            return Sighting(probe, ProbeState.HELD)
        kinds = {value.type for value in values(line)}
        if plain and plain <= held and (stated or any(value.type in kinds for value in watched)):
            changed = changed or line.strip()
    if changed:
        return Sighting(probe, ProbeState.CHANGED, f"{probe.text!r} is now {changed!r}")
    nearest = max(lines, key=lambda line: len(wanted & content_set(line)), default="")
    missing = ", ".join(sorted(wanted - content_set(nearest)))
    return Sighting(probe, ProbeState.LOST, f"missing: {missing}; nearest: {nearest.strip()!r}")
