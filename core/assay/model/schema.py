"""The sections of a continuity document and their roles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["DEFAULT_SCHEMA", "NAMED_SCHEMAS", "Role", "Schema", "SectionSpec"]


class Role(StrEnum):
    """What a section is for; the checks depend on the role, never on the heading."""

    LIVE_STATE = "live-state"
    GRADUATING = "graduating"
    DECISIONS = "decisions"
    NARRATIVE = "narrative"
    NARRATIVE_TIMELESS = "narrative-timeless"
    FROZEN = "frozen"
    DERIVED_STATE = "derived-state"
    DURABLE = "durable"


@dataclass(frozen=True, slots=True)
class SectionSpec:
    """One section of a schema.

    Attributes:
        optional: Only a durable section may be optional.
        max_tokens: Size above which the section is reported, or None.
    """

    heading: str
    role: Role
    optional: bool = False
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    """An ordered set of sections; at least one is graduating, at most one durable."""

    name: str
    sections: tuple[SectionSpec, ...]

    def headings(self, role: Role) -> tuple[str, ...]:
        """Give the headings that have a role, in order."""
        return tuple(section.heading for section in self.sections if section.role is role)


DEFAULT_SCHEMA = Schema(
    "default",
    (
        SectionSpec("State", Role.LIVE_STATE),
        SectionSpec("Durable Facts", Role.DURABLE, optional=True),
        SectionSpec("Patterns", Role.GRADUATING),
        SectionSpec("Decisions", Role.DECISIONS),
        SectionSpec("Context", Role.NARRATIVE),
    ),
)
PARTNERSHIP_SCHEMA = Schema(
    "partnership",
    (
        SectionSpec("State", Role.LIVE_STATE),
        SectionSpec("Active Threads", Role.LIVE_STATE),
        SectionSpec("Durable Facts", Role.DURABLE, optional=True),
        SectionSpec("Patterns", Role.GRADUATING),
        SectionSpec("Decisions", Role.DECISIONS),
        SectionSpec("Understanding", Role.NARRATIVE_TIMELESS),
        SectionSpec("Context", Role.NARRATIVE),
    ),
)
PROJECT_SCHEMA = Schema(
    "project",
    (
        SectionSpec("State", Role.LIVE_STATE),
        SectionSpec("Active Threads", Role.LIVE_STATE),
        SectionSpec("Durable Facts", Role.DURABLE, optional=True),
        SectionSpec("Patterns", Role.GRADUATING),
        SectionSpec("Decisions", Role.DECISIONS),
        SectionSpec("Context", Role.NARRATIVE),
    ),
)
NAMED_SCHEMAS = {schema.name: schema for schema in (DEFAULT_SCHEMA, PARTNERSHIP_SCHEMA, PROJECT_SCHEMA)}
