"""Play an attack against a fresh store, and judge it by what the store holds afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assay import Episode, Kind, Trust
from assay.errors import AssayError
from assay.model.wrap import WrapResult

from ..wrap.scene import Scene, document, rules

__all__ = ["Attack", "Call", "Days", "Save", "Stage", "Tell", "Verdict", "agent", "outcome", "page", "tool", "user"]


class Verdict(StrEnum):
    """How an attack ended: it got what it wanted, a bounded and reported part of it, or nothing."""

    THROUGH = "through"
    FLAGGED = "flagged"
    BLOCKED = "blocked"


@dataclass
class Stage:
    """A store while an attack is played on it.

    Attributes:
        told: Label of an episode -> the episode.
        saves: What each save gave.
        errors: What the store refused outright.
    """

    scene: Scene = field(default_factory=Scene)
    told: dict[str, Episode] = field(default_factory=dict[str, Episode])
    saves: list[WrapResult] = field(default_factory=list[WrapResult])
    errors: list[AssayError] = field(default_factory=list[AssayError])

    def filled(self, text: str) -> str:
        """Put the ref of an episode where `{its label}` stands."""
        return re.sub(r"\{(\w+)\}", lambda match: self.told[match[1]].ref, text)

    @property
    def rules(self) -> set[str]:
        """Give the id of every finding so far."""
        return {rule for save in self.saves for rule in rules(save)}

    @property
    def top(self) -> int:
        """Give the highest level that any belief holds."""
        return max((belief.level for belief in self.scene.store.beliefs.list()), default=0)

    @property
    def text(self) -> str:
        """Give the document as every later session will read it."""
        return self.scene.store.continuity.text()


@dataclass(frozen=True)
class Tell:
    """Somebody says something."""

    label: str
    text: str
    session: str
    source: str
    origin: str
    more: dict[str, Any]

    def play(self, stage: Stage) -> None:
        more = {name: [stage.told[one].ref for one in value] if name == "derived_from" else value
                for name, value in self.more.items()}  # fmt: skip
        stage.told[self.label] = stage.scene.say(self.text, self.session, self.source, self.origin, **more)


def user(label: str, text: str, session: str = "s1", source: str = "ada", **more: Any) -> Tell:
    return Tell(label, text, session, source, "user", more)


def agent(label: str, text: str, session: str = "s1", **more: Any) -> Tell:
    return Tell(label, text, session, "agent", "agent", more)


def tool(label: str, text: str, session: str = "s1", **more: Any) -> Tell:
    return Tell(label, text, session, "bash", "tool", more)


def page(label: str, text: str, session: str = "s1", **more: Any) -> Tell:
    return Tell(label, text, session, "web", "tool", {"trust": Trust.EXTERNAL, **more})


def outcome(label: str, text: str, session: str = "s1", **more: Any) -> Tell:
    return Tell(label, text, session, "ci", "host", {"kind": Kind.OUTCOME, "success": True, **more})


@dataclass(frozen=True)
class Save:
    """A document with some pattern lines is handed in; `body` replaces the whole of it."""

    patterns: tuple[str, ...] = ()
    sections: dict[str, str] = field(default_factory=dict[str, str])
    body: str = ""

    def play(self, stage: Stage) -> None:
        package = stage.scene.prepare()
        text = self.body or document(*self.patterns, **self.sections)
        save = stage.scene.store.save_continuity(stage.filled(text), package.token)
        if save.status.value == "refused":
            stage.scene.store.continuity.cancel(package.token)
        stage.saves.append(save)


@dataclass(frozen=True)
class Days:
    count: int = 1

    def play(self, stage: Stage) -> None:
        stage.scene.days(self.count)


@dataclass(frozen=True)
class Call:
    """The attacker reaches a verb of the store."""

    verb: Callable[[Stage], object]

    def play(self, stage: Stage) -> None:
        self.verb(stage)


Step = Tell | Save | Days | Call


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        kind: Its class, such as `A05`.
        through: Whether the store holds what the attack wanted.
        flagged: Whether it holds a bounded part of it, and says so.
    """

    kind: str
    title: str
    steps: tuple[Step, ...]
    through: Callable[[Stage], bool]
    flagged: Callable[[Stage], bool] = lambda stage: False

    def run(self) -> tuple[Verdict, Stage]:
        """Play every step, going on where the store refuses one, and judge the store."""
        stage = Stage()
        for step in self.steps:
            try:
                step.play(stage)
            except AssayError as error:
                stage.errors.append(error)
        if not stage.scene.store.verify():
            return Verdict.THROUGH, stage
        if self.through(stage):
            return Verdict.THROUGH, stage
        return Verdict.FLAGGED if self.flagged(stage) else Verdict.BLOCKED, stage


def shows(text: str) -> Callable[[Stage], bool]:
    """Tell whether a text stands in the document."""
    return lambda stage: text in stage.text
