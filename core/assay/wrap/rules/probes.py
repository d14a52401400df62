"""J2, J3: what the operator watches is looked for in every new version; a drift is reported, nothing is held up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.authority.sighting import ProbeState, sight
from assay.authority.watching import Held, Probe
from assay.model.finding import Finding
from assay.wrap.document import Document, PatternLine
from assay.wrap.findings import found
from assay.wrap.rules.case import spelled

__all__ = ["drifts", "told"]


def drifts(probes: Iterable[Probe], held: Mapping[str, Held], document: Document) -> list[Finding]:
    """Report each probe that finds a drift, by its id alone: a composer that saw the texts would write to please."""
    findings: list[Finding] = []
    lines = told(document)
    for probe in probes:
        state = sight(probe, held, lines).state.value
        if state != ProbeState.HELD:
            findings.append(found("probe", f"{probe.ref} finds what it watches {state}", data={"state": state}))
    return findings


def told(document: Document) -> list[tuple[str, str]]:
    """Give heading and text of every line, names spelled out."""
    return [
        (section.heading, f"{spelled(line.name)} {line.text}" if isinstance(line, PatternLine) else line.text)
        for section in document.sections
        for line in section.body
    ]
