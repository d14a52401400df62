"""Fixtures for users' tests: `pytest_plugins = ["assay.testing.plugin"]`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from assay.store import Store

__all__ = ["assay_store"]

_BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)


@pytest.fixture
def assay_store() -> Iterator[Store]:
    """Give an empty store in memory whose clock moves one minute a look and whose ids are counted: equal every run."""
    ticks = iter(range(10_000_000))
    numbers = iter(range(1, 10_000_000))

    def clock() -> datetime:
        return _BEGIN + timedelta(minutes=next(ticks))

    def ids() -> bytes:
        # Spread over the random bits of an id, so that short refs differ as they do in life.
        return (next(numbers) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).to_bytes(16, "big")

    with Store(":memory:", clock=clock, ids=ids) as store:
        yield store
