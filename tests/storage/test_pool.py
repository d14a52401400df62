"""Readers: as few connections as are needed at once, and at most four."""

from __future__ import annotations

import hmac
import sqlite3
import threading
import time
from collections.abc import Iterator

import pytest

from assay.errors import Busy, Closed
from assay.storage.pool import ReaderPool
from assay.storage.reader import Reader


@pytest.fixture
def pool() -> Iterator[ReaderPool]:
    pool = ReaderPool(lambda: sqlite3.connect(":memory:", check_same_thread=False), "memory.db")
    yield pool
    pool.close()


def take(pool: ReaderPool, seconds: float = 0.0) -> sqlite3.Connection:
    return pool.take([], time.monotonic() + seconds)


def test_reads_one_after_another_share_a_connection(pool: ReaderPool) -> None:
    for _ in range(10):
        pool.give(take(pool))
    assert len(pool.members) == 1


def test_four_may_read_at_once_and_a_fifth_waits_for_one_of_them(pool: ReaderPool) -> None:
    busy = [take(pool) for _ in range(4)]
    assert len({id(connection) for connection in busy}) == len(pool.members) == 4
    with pytest.raises(Busy, match="try again"):
        take(pool)
    threading.Timer(0.02, pool.give, [busy[2]]).start()
    assert take(pool, 5.0) is busy[2]


def test_a_connection_that_could_not_be_opened_leaves_its_place() -> None:
    broken = [True, True, True, True, True]

    def connect() -> sqlite3.Connection:
        if broken and broken.pop():
            raise sqlite3.OperationalError("unable to open database file")
        return sqlite3.connect(":memory:")

    pool = ReaderPool(connect, "memory.db")
    for _ in range(5):
        taken: list[sqlite3.Connection | None] = []
        with pytest.raises(sqlite3.OperationalError):
            pool.take(taken, time.monotonic())
        pool.give(taken[0])
    busy = [take(pool) for _ in range(4)]
    assert len(pool.members) == 4
    for connection in busy:
        connection.close()


def test_a_closed_pool_gives_nothing(pool: ReaderPool) -> None:
    pool.close()
    with pytest.raises(Closed):
        take(pool)


@pytest.mark.parametrize("text", ["", "deploys go out on tuesday", "déploiement 早い " * 50])
def test_a_keyed_digest_is_an_hmac_under_a_key_derived_from_the_secret(text: str) -> None:
    reader = Reader(sqlite3.connect(":memory:"), b"s" * 32)
    key = hmac.digest(b"s" * 32, b"text", "sha256")
    assert reader.keyed_digest("text", text) == hmac.digest(key, text.encode(), "sha256")[:16]
    assert reader.keyed_digest("text", text) != reader.keyed_digest("key", text)
