"""A store with a clock that a test moves, and documents built around pattern lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from assay import Episode, Kind, Store, Trust
from assay.model.belief import Belief
from assay.model.wrap import WrapPackage, WrapResult

TEMPLATE = """## State
{state}

## Durable Facts
{durable}

## Patterns
{patterns}

## Decisions
{decisions}

## Context
{context}
"""


class Scene:
    """One store, told what happens day by day."""

    def __init__(self, path: str = ":memory:", **options: object) -> None:
        self.now = datetime(2026, 1, 1, 9, tzinfo=UTC)
        self.store = Store(path, clock=self._tick, **options)  # type: ignore[arg-type]

    def _tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def days(self, count: int = 1) -> None:
        self.now += timedelta(days=count)

    def say(self, text: str, session: str = "s1", source: str = "ada", origin: str = "user", **more: object) -> Episode:
        return self.store.record(text, session=session, source=source, origin=origin, **more)  # type: ignore[arg-type]

    def outcome(self, text: str, session: str = "s1", *, success: bool = True, **more: object) -> Episode:
        return self.say(text, session, "ci", "host", kind=Kind.OUTCOME, success=success, **more)

    def page(self, text: str, session: str = "s1", **more: object) -> Episode:
        return self.say(text, session, "web", "tool", trust=Trust.EXTERNAL, **more)

    def prepare(self) -> WrapPackage:
        package = self.store.prepare_wrap()
        assert isinstance(package, WrapPackage), package
        return package

    def save(self, *patterns: str, mode: str = "apply", shrink: bool = False, **sections: str) -> WrapResult:
        """Prepare a wrap if none is open, and save a document with some pattern lines."""
        package = self.prepare()
        text = document(*patterns, **sections)
        return self.store.save_continuity(text, package.token, mode=mode, allow_shrink=shrink)  # type: ignore[arg-type]

    def belief(self, name: str) -> Belief:
        return self.store.beliefs.get(name)

    def level(self, name: str) -> int:
        return self.belief(name).level


def document(*patterns: str, **sections: str) -> str:
    parts = {"state": "", "durable": "", "decisions": "", "context": ""} | sections
    return TEMPLATE.format(patterns="\n".join(patterns), **parts)


def rules(result: WrapResult) -> list[str]:
    return [finding.rule for finding in result.findings]


def cite(*episodes: Episode | str, words: str) -> str:
    refs = ", ".join(one if isinstance(one, str) else one.ref for one in episodes)
    return f'[evidence: {refs} "{words}"]'
