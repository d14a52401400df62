"""A store from before there were tiles gets them with its migration, and is verified without them until then."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Store
from assay.audit.proofs.verify_proof import check_bundle

from ..storage.older import take_back


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a store of 700 entries as schema 1 has it."""
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.episodes.record_many([{"content": f"event {number}"} for number in range(699)])
    take_back(path, 1)
    return path


def test_it_is_verified_and_proved_where_nothing_may_be_written(path: Path) -> None:
    with Store(path, read_only=True) as store:
        found = store.verify()
        assert (found.entries, found.problems) == (700, ())
        assert check_bundle(store.audit.prove(300))
        assert check_bundle(store.audit.consistency(257))


def test_the_migration_fills_the_tiles(path: Path) -> None:
    with Store(path) as store:
        store.record("after the migration")
        with store._database.read() as reader:
            assert [row[0] for row in reader.execute("SELECT level FROM tile ORDER BY level, n")] == [0, 0, 1]
        assert not store.verify().problems
        assert store.audit.entries(after=699)[0]["op"] == "migrate"
