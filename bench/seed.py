"""The same attacks and the same honest statements, told to anneal-memory, where they can be put to it."""

from __future__ import annotations

import importlib
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.engines import ANNEAL
from tests.attacks.play import Attack, Days, Save, Tell
from tests.wrap.scene import cite, document

from assay.wrap.document.levels import levels

__all__ = ["promoted", "through"]

_PUT = ("A", "B0", "C04", "C05")  # kinds of attack that records and saves alone can play
_WRITTEN = ("A10", "A11", "A12", "A15", "A16", "C04", "C05")  # what counts is a level that stands there unearned
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_TOLD = {"trust", "derived_from", "kind", "success"}  # what its record takes, or can do without


@dataclass
class _Stage:
    """Its store while an attack is played on it, seen as an attack sees ours."""

    package: Any
    store: Any
    told: dict[str, Any] = field(default_factory=dict[str, Any])
    rules: frozenset[str] = frozenset()

    @property
    def top(self) -> int:
        """Give the highest level that stands in its document."""
        return max((self.store.saved_pattern_levels() or {}).values(), default=0)

    @property
    def text(self) -> str:
        """Give its document."""
        return self.store.load_continuity() or ""

    def tell(self, step: Tell) -> None:
        more = {"trust": step.more["trust"].value} if "trust" in step.more else {}
        sources = [self.told[one].id for one in step.more.get("derived_from", ())]
        kind = self.package.EpisodeType("outcome" if "success" in step.more else "observation")
        self.told[step.label] = self.store.record(step.text, kind, step.source, derived_from=sources or None, **more)

    def save(self, step: Save) -> None:
        """Hand in a document, with the date that its form of a line has behind the level."""
        wrap = self.package.prepare_wrap(self.store)
        if wrap["status"] != "ready":
            return
        text = re.sub(
            r"\{(\w+)\}", lambda match: self.told[match[1]].id, step.body or document(*step.patterns, **step.sections)
        )
        today = datetime.now(UTC).date().isoformat()
        dated = re.sub(r"(\| [1-9][0-9]*x)(?= \[evidence|$)", rf"\1 ({today})", text, flags=re.MULTILINE)
        try:
            self.package.validated_save_continuity(self.store, dated, wrap_token=wrap["wrap_token"], allow_shrink=True)
        except ValueError:
            self.store.wrap_cancelled()


@contextmanager
def _stage() -> Iterator[_Stage]:
    package: Any = importlib.import_module(ANNEAL)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store = package.Store(str(Path(folder) / "memory.db"), audit=False)
        try:
            yield _Stage(package, store)
        finally:
            store.close()


def through(attack: Attack) -> bool | None:
    """Tell whether an attack gets what it wants there; None for one that records and saves alone cannot play."""
    playable = all(
        isinstance(step, Save | Days) or (isinstance(step, Tell) and step.more.keys() <= _TOLD) for step in attack.steps
    )
    if not playable or not attack.steps or not attack.kind.startswith(_PUT):
        return None
    with _stage() as stage:
        for step in attack.steps:
            with suppress(ValueError):  # what it refuses to record or to save
                if isinstance(step, Tell):
                    stage.tell(step)
                elif isinstance(step, Save):
                    stage.save(step)
        if attack.kind in _WRITTEN:  # in code nobody takes one for earned
            return stage.top > 1 or any((one.value or 0) > 1 for one in levels(_FENCED.sub("", stage.text)))
        try:
            return attack.through(stage)  # type: ignore[arg-type]
        except AttributeError:  # it asks for what only a store of ours has
            return None


def promoted(claim: str, first: str, second: str, *, words: tuple[str, str] | None = None) -> bool:
    """Tell whether a claim reaches 2x there, as `tests.attacks.controls.promoted` does here."""
    said = words or (first, second)
    with _stage() as stage:
        for level, text, source, quoted in ((1, first, "ada", said[0]), (2, second, "bob", said[1])):
            stage.tell(Tell("one", text, "", source, "user", {}))
            cited = cite("{one}", words=quoted)
            stage.save(Save((f"- line: {claim} | {level}x {cited}",)))
        return stage.top == 2
