"""What a worker said that it had done, and what of it a store does not hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from assay import Store
from assay.errors import NotFound

__all__ = ["Said"]


@dataclass
class Said:
    """The acknowledgements of some workers.

    Attributes:
        kept: Recorded, and never asked to go.
        doubtful: About to be erased when the plug was pulled: it may be there or not.
        gone: Erased.
        version: The newest version of the continuity that a wrap was acknowledged with.
    """

    kept: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    version: int = 0

    @property
    def acknowledged(self) -> int:
        """Count the calls that had returned."""
        return len(self.kept) + len(self.doubtful) + 2 * len(self.gone) + self.version

    def hear(self, lines: Iterable[str]) -> None:
        """Take in lines of a worker; one that has no end of line acknowledges nothing."""
        for line in lines:
            sign, _, what = line.strip().partition(" ")
            if not line.endswith("\n"):
                continue
            if sign == "+":
                self.kept.add(what)
            elif sign == "?":
                self.kept.discard(what)
                self.doubtful.add(what)
            elif sign == "-":
                self.doubtful.discard(what)
                self.gone.add(what)
            elif sign == "w":
                self.version = max(self.version, int(what))

    def lost(self, store: Store) -> list[str]:
        """Name what was acknowledged and is not so: a record that is missing, an erased one that is back, a version."""
        missing = [f"{ref} is missing" for ref in self.kept if not _holds(store, ref)]
        back = [f"{ref} is back" for ref in self.gone if _holds(store, ref)]
        versions = [f"version {self.version} is missing"] if store.continuity.version() < self.version else []
        return missing + back + versions


def _holds(store: Store, ref: str) -> bool:
    try:
        return bool(store.episodes.get(ref).content)
    except NotFound:
        return False
