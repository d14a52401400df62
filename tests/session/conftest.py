from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import Store
from assay.session import Session, SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.testing.stage import Line, lines


class Desk:
    """A store on disk, sessions on it, and a look at what they wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.router = StoreRouter(path)

    def session(
        self, name: str | None = "s1", *, run: str | None = None, options: SessionOptions | None = None
    ) -> Session:
        return self.router.session(
            SessionKey("ada", name), run=run, options=options or SessionOptions(wrap=WrapPolicy.manual())
        )

    def elsewhere(self) -> Desk:
        """Give the same store as another process sees it."""
        return Desk(self.path)

    def lines(self) -> list[Line]:
        with Store(self.path) as store:
            return lines(list(store.episodes.list(limit=10_000)))

    def texts(self) -> list[str]:
        return [line.text for line in self.lines()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "memory.db")
    yield desk
    desk.router.close()
    if desk.path.exists():
        with Store(desk.path) as store:
            assert store.verify()
