"""What a clause of the contract works with: a harness, stores on disk, and what they hold afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from re import Pattern
from typing import Any

import pytest

from assay.model.episode import Episode
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.store import Store
from assay.testing.harness import Capability, Entry, Harness, Outcome
from assay.testing.script import Prompt, Script, Step

__all__ = ["ADA", "BOB", "FACT", "FENCE", "MANUAL", "QUESTION", "Line", "Ran", "Stage", "block_of", "lines", "unfenced"]

ADA = SessionKey("ada", "s1")
BOB = SessionKey("bob", "b1")
FACT = "Deploys of the billing service go out on Tuesday evenings at six"
QUESTION = "On which evening do deploys of the billing service go out?"
MANUAL = SessionOptions(wrap=WrapPolicy.manual())
FENCE = "<memory-"


@dataclass(frozen=True, slots=True)
class Line:
    """An episode as the table of the port describes it.

    Attributes:
        source: Only its kind: the part before the colon, except for tools.
        derived: Places of what it came from among the lines, from 1, in order.
    """

    kind: str
    origin: str
    trust: str
    source: str
    text: str
    success: bool | None = None
    derived: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """An agent that was run, and what came of it."""

    agent: Any
    script: Script
    outcome: Outcome

    @property
    def prompts(self) -> list[Prompt]:
        """Give the prompts of the run itself, without those of a wrap."""
        return [prompt for prompt in self.script.prompts if not prompt.composed]


class Stage:
    """Builds agents with memory in a temporary folder, and reads their stores back."""

    def __init__(self, harness: Harness[Any], folder: Path, lacks: Mapping[Capability, str]) -> None:
        self.harness = harness
        self.folder = folder
        self._lacks = lacks
        self._open = ExitStack()

    def needs(self, *capabilities: Capability) -> None:
        """Skip the clause, with the binding's reason, when the host cannot show it."""
        for capability in capabilities:
            if capability in self._lacks:
                pytest.skip(f"{capability.value}: {self._lacks[capability]}")

    def lacks(self, capability: Capability) -> bool:
        """Tell whether the host cannot show something that only a part of a clause needs."""
        return capability in self._lacks

    @property
    def entry(self) -> Entry:
        """Give the plainest way in which the host runs an agent."""
        return next(entry for entry in Entry if entry in self.harness.entries)

    @property
    def entries(self) -> list[Entry]:
        """Give every way in which the host runs an agent."""
        return [entry for entry in Entry if entry in self.harness.entries]

    def memory(self, name: str = "m") -> StoreRouter:
        """Open a memory that keeps a store per user; the same name opens the same stores again."""
        router = StoreRouter(self.folder / name / "{user}.db")
        self._open.callback(router.close)
        return router

    def run(
        self,
        text: str,
        steps: Sequence[Step] | Script,
        *,
        memory: StoreRouter | None,
        key: SessionKey = ADA,
        entry: Entry | None = None,
        options: SessionOptions = MANUAL,
        **build: bool,
    ) -> Ran:
        """Build a new agent and run it once."""
        script = steps if isinstance(steps, Script) else Script(*steps)
        agent = self.harness.build(script, memory=memory, options=options, **build)
        return Ran(agent, script, self.harness.run(agent, text, key=key, entry=entry or self.entry))

    def store(self, name: str = "m", user: str = "ada") -> Store:
        """Open the store of a user anew, as another process would."""
        router = StoreRouter(self.folder / name / "{user}.db")
        self._open.callback(router.close)
        return self._open.enter_context(Store(router.path(user)))

    def episodes(self, name: str = "m", user: str = "ada") -> list[Episode]:
        """Give what a store holds, in order; nothing when no store was made."""
        path = StoreRouter(self.folder / name / "{user}.db").path(user)
        if not path.exists():
            return []
        with Store(path) as store:
            return list(store.episodes.list(limit=10_000))

    def close(self) -> None:
        """Close everything, and verify every store that was written."""
        self._open.close()
        for path in sorted(self.folder.rglob("*.db")):
            with Store(path) as store:
                verified = store.verify()
                assert verified, f"C27: {path.parent.name}: {verified}"


def lines(episodes: Sequence[Episode]) -> list[Line]:
    """Describe episodes as the table of the port does."""
    places = {episode.ref: place for place, episode in enumerate(episodes, 1)}
    return [
        Line(
            episode.kind.value,
            episode.origin.value,
            episode.trust.value,
            episode.source if episode.source.startswith("tool:") else episode.source.partition(":")[0],
            episode.content,
            episode.success,
            tuple(sorted(places[ref] for ref in episode.derived_from if ref in places)),
        )
        for episode in episodes
    ]


def block_of(prompt: Prompt) -> str:
    """Give the one fenced block of a prompt."""
    starts = prompt.text.count(FENCE)
    assert starts == 1, f"the briefing is in the prompt {starts} times, not once"
    start = prompt.text.index(FENCE)
    name = prompt.text[start + len(FENCE) :].split(" ", 1)[0]
    closing = f"</memory-{name}>"
    return prompt.text[start : prompt.text.index(closing, start) + len(closing)]


def unfenced(prompt: Prompt) -> Prompt:
    """Give a prompt without what differs from store to store: the names of fences, and refs."""
    messages = [replace(message, text=_variable().sub("*", message.text)) for message in prompt.messages]
    return replace(prompt, messages=tuple(messages))


@cache
def _variable() -> Pattern[str]:
    import re

    return re.compile(r"(?<=memory-)[a-z2-7]{13}|\bep_[0-9a-z]{8,26}")
