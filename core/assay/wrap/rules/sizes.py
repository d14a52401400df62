"""C1-C5: the document stays within its size, and no save may empty it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import ceil

from assay.model.constants import MILD_FLOORS, SHRINK_MIN_PRIOR_TOKENS, STRICT_FLOORS
from assay.model.finding import Finding
from assay.model.schema import Role, Schema
from assay.model.settings import Settings
from assay.wrap.document import Document, PatternLine, render_line
from assay.wrap.findings import found

__all__ = ["Sizes", "measure", "shrink", "size_findings", "target_tokens"]

# The four roles that the base target covers once each; every further section adds its share.
_BASE = (Role.LIVE_STATE, Role.GRADUATING, Role.DECISIONS, Role.NARRATIVE)
_FURTHER = {
    **{Role.LIVE_STATE: 375, Role.GRADUATING: 625, Role.DECISIONS: 375, Role.NARRATIVE: 625},
    **{Role.NARRATIVE_TIMELESS: 1_000, Role.FROZEN: 250, Role.DERIVED_STATE: 375, Role.DURABLE: 0},
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a document, per section and per role."""

    sections: Mapping[str, int]
    roles: Mapping[Role, int]

    @property
    def capped(self) -> int:
        """Give what the cap is measured on: all but the durable facts."""
        return sum(self.roles.values()) - self.roles.get(Role.DURABLE, 0)


def target_tokens(schema: Schema, settings: Settings, limit: int | None = None) -> int:
    """Give the size that a document should stay under; `limit` may lower it."""
    counts = Counter(section.role for section in schema.sections)
    extra = sum(_FURTHER[role] * (count - (role in _BASE)) for role, count in counts.items())
    return min(settings.continuity_tokens + extra, limit or settings.continuity_tokens + extra)


def measure(document: Document, counter: Callable[[str], int], without: Collection[str] = ()) -> Sizes:
    """Count tokens, leaving out the pattern lines with some keys."""
    sections: dict[str, int] = {}
    roles: Counter[Role] = Counter()
    for section in document.sections:
        lines = [line for line in section.body if not (isinstance(line, PatternLine) and line.key in without)]
        size = counter("\n".join([f"## {section.heading}", *map(render_line, lines)]))
        sections[section.heading] = size
        roles[section.role] += size
    return Sizes(sections, roles)


def size_findings(sizes: Sizes, schema: Schema, settings: Settings, target: int) -> list[Finding]:
    """Refuse a document over the hard cap; report one over its target, a section over its own, or too many facts."""
    cap = ceil(settings.hard_factor * target)
    each = ", ".join(f"{heading} {size}" for heading, size in sizes.sections.items())
    if sizes.capped > cap:
        over = sizes.capped - cap
        message = f"{sizes.capped:,} tokens, the limit is {cap:,}, over by {over:,} ({each})"
        fix = f"cut {over:,} tokens, first from live state and narrative; keep every line that has a level"
        return [found("size-hard", message, fix)]
    findings: list[Finding] = []
    if sizes.capped > target:
        findings.append(found("size-target", f"{sizes.capped:,} tokens, the target is {target:,} ({each})"))
    for spec in schema.sections:
        size = sizes.sections.get(spec.heading, 0)
        if spec.max_tokens is not None and size > spec.max_tokens:
            message = f"{spec.heading} has {size:,} tokens, its target is {spec.max_tokens:,}"
            findings.append(found("size-target", message, section=spec.heading))
    durable, budget = sizes.roles.get(Role.DURABLE, 0), int(settings.durable_share * target)
    if durable > budget:
        message = f"durable facts have {durable:,} tokens, their share is {budget:,}; every line is kept"
        findings.append(found("durable-budget", message))
    return findings


def shrink(before: Document, after: Document, counter: Callable[[str], int], moved: Collection[str]) -> list[Finding]:
    """Refuse a document that loses most of what a role held; lines with the keys in `moved` left by a marker."""
    old, new = measure(before, counter, moved).roles, measure(after, counter).roles
    strict = Role.NARRATIVE_TIMELESS in new
    floors = STRICT_FLOORS if strict else MILD_FLOORS
    findings: list[Finding] = []
    for role, had in old.items():
        floor = 0.0 if role is Role.DURABLE else floors.get(role.value, floors.get("rest", 0.0))
        kept = new.get(role, 0)
        if had < SHRINK_MIN_PRIOR_TOKENS:
            continue
        if role is Role.GRADUATING and not strict:
            had = sum(1 for line in before.patterns if line.level > 1 and line.key not in moved)
            kept = sum(1 for line in after.patterns if line.level > 1)
        if kept < floor * had:
            message = f"{role.value} shrinks from {had:,} to {kept:,}, at least {floor:.0%} must stay"
            fix = f"keep more of what the {role.value} sections held, or shorten it over several wraps"
            findings.append(found("shrink", message, fix))
    return findings
