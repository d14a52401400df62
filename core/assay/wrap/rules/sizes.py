"""C1-C5: the document stays within its size, and no save may empty it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

from assay.model.constants import MILD_FLOORS, SHRINK_MIN_PRIOR_TOKENS, STRICT_FLOORS
from assay.model.finding import Finding
from assay.model.schema import Role, Schema
from assay.model.settings import Settings
from assay.wrap.document import Document, Section, render_line
from assay.wrap.findings import found

__all__ = ["Sizes", "measure", "shrink", "size_findings", "target_tokens"]

# The four roles that the base target covers once each; every further section adds its share.
_BASE = (Role.LIVE_STATE, Role.GRADUATING, Role.DECISIONS, Role.NARRATIVE)
_FURTHER = {
    Role.LIVE_STATE: 375,
    Role.GRADUATING: 625,
    Role.DECISIONS: 375,
    Role.NARRATIVE: 625,
    Role.NARRATIVE_TIMELESS: 1_000,
    Role.FROZEN: 250,
    Role.DERIVED_STATE: 375,
    Role.DURABLE: 0,
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a document: per section, per role, and what the cap is measured on."""

    sections: Mapping[str, int]
    roles: Mapping[Role, int]
    capped: int
    durable: int


def target_tokens(schema: Schema, settings: Settings, limit: int | None = None) -> int:
    """Give the size that a document should stay under; `limit` may lower it."""
    extra = 0
    for role, count in Counter(section.role for section in schema.sections).items():
        extra += _FURTHER[role] * (count - (1 if role in _BASE else 0))
    target = settings.continuity_tokens + extra
    return target if limit is None else min(target, limit)


def measure(document: Document, counter: Callable[[str], int], carried: frozenset[str] = frozenset()) -> Sizes:
    """Count tokens; the durable section, and lines with a key in `carried`, do not count towards the cap."""
    sections: dict[str, int] = {}
    roles: Counter[Role] = Counter()
    capped = 0
    for section in document.sections:
        size = counter(_text(section, frozenset()))
        sections[section.heading] = size
        roles[section.role] += size
        if section.role is not Role.DURABLE:
            capped += size if not carried else counter(_text(section, carried))
    return Sizes(sections, roles, capped, roles[Role.DURABLE])


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
    budget = int(settings.durable_share * target)
    if sizes.durable > budget:
        message = f"durable facts have {sizes.durable:,} tokens, their share is {budget:,}; every line is kept"
        findings.append(found("durable-budget", message))
    return findings


def shrink(
    before: Document, after: Document, schema: Schema, counter: Callable[[str], int], moved: int
) -> list[Finding]:
    """Refuse a document that loses most of what a role held.

    Args:
        before: The last version.
        after: The new one, with carried lines.
        schema: Its sections.
        counter: Counts tokens.
        moved: Levelled lines that an accepted move took away.
    """
    old, new = measure(before, counter).roles, measure(after, counter).roles
    strict = any(section.role is Role.NARRATIVE_TIMELESS for section in schema.sections)
    findings: list[Finding] = []
    for role, prior in old.items():
        floor = _floor(role, strict)
        if floor is None or prior < SHRINK_MIN_PRIOR_TOKENS:
            continue
        kept, had = new.get(role, 0), prior
        if role is Role.GRADUATING and not strict:
            kept = sum(1 for line in after.patterns if line.level > 1)
            had = sum(1 for line in before.patterns if line.level > 1) - moved
        if kept < floor * had:
            message = f"{role.value} shrinks from {had:,} to {kept:,}, at least {floor:.0%} must stay"
            fix = f"keep more of what the {role.value} sections held, or shorten it over several wraps"
            findings.append(found("shrink", message, fix))
    return findings


def _floor(role: Role, strict: bool) -> float | None:
    if strict:
        return None if role is Role.DURABLE else STRICT_FLOORS.get(role.value, STRICT_FLOORS["rest"])
    return MILD_FLOORS.get(role.value)


def _text(section: Section, without: frozenset[str]) -> str:
    lines = [line for line in section.body if not (without and getattr(line, "key", None) in without)]
    return "\n".join([f"## {section.heading}", *(render_line(line) for line in lines)])
