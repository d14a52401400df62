"""The search index is derived from the episodes, and verify builds it anew to compare."""

from __future__ import annotations

import random
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay import Store
from assay.recall import index


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(index, "LONG", 100)  # with maps, as in a large store
    monkeypatch.setattr(index, "MAP_STEP", 200)
    monkeypatch.setattr(index, "MERGE_AT", 500)
    path = tmp_path / "memory.db"
    with Store(path) as store:
        texts = [
            f"shift {number} was quiet " + "and nothing else happened in the night " * (number % 60)
            for number in range(800)
        ]
        for part in (texts[:600], texts[600:700], texts[700:]):  # into the lists, into the tail, and both into a run
            store.episodes.record_many([{"content": text, "source": "ada"} for text in part])
        for hit in store.recall("quiet", limit=5):
            store.erase(hit)
        store.record("in the tail, which is no part of the index yet")
        assert store.verify()
    return path


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM posting WHERE id=(SELECT max(id) FROM posting)",
        "UPDATE posting SET df=df+1 WHERE id=1",
        "UPDATE posting SET term=term+1 WHERE id=1",
        "UPDATE posting SET docs=CAST(substr(docs, 3) || substr(docs, 1, 2) AS BLOB)"
        " WHERE id=(SELECT min(id) FROM posting WHERE length(docs) > 2)",
        "UPDATE posting SET lengths=CAST(x'00' || substr(lengths, 2) AS BLOB) WHERE id=1",
        "INSERT INTO posting VALUES(NULL, 1, 0, 1, x'0100', x'', x'01', x'05')",
        "INSERT INTO posting VALUES(NULL, 1, 9, 1, x'0100', x'', x'01', x'05')",  # of a segment that has no episode
        "UPDATE posting SET docs=CAST(docs || x'00' AS BLOB) WHERE id=1",
        # A posting that changes its place, or a frequency that moves to another term, keeps every simple count.
        "UPDATE posting SET freqs=CAST(x'02' || substr(freqs, 2) AS BLOB) WHERE id=2",
        "UPDATE posting SET freqs=CAST(x'00' || substr(freqs, 2) AS BLOB) WHERE id=2",
        "UPDATE posting SET docs=CAST(docs || substr(docs, -2) AS BLOB), freqs=CAST(freqs || x'01' AS BLOB),"
        " lengths=CAST(lengths || substr(lengths, -1) AS BLOB), df=df+1 WHERE id=3",
        "UPDATE posting SET docs=(SELECT docs FROM posting WHERE df=1 ORDER BY id DESC LIMIT 1)"
        " WHERE id=(SELECT min(id) FROM posting WHERE df=1)",
        "UPDATE posting SET chunks=CAST(x'01' || substr(chunks, 2) AS BLOB) WHERE length(chunks) > 2",
        "UPDATE place_map SET bits=CAST(x'00' || substr(bits, 2) AS BLOB)",
        "DELETE FROM posting_run",
        "UPDATE posting_run SET first=first+8",
        "UPDATE posting_run SET terms=CAST(x'0000000000000000' || substr(terms, 9) AS BLOB)",
        "UPDATE posting_run SET terms=CAST(substr(terms, 9, 8) || substr(terms, 1, 8) || substr(terms, 17) AS BLOB)",
        "UPDATE posting_run SET docs=CAST(x'0100' || substr(docs, 3) AS BLOB)",
        "UPDATE posting_run SET chunks=x''",
        "UPDATE posting_run SET freqs=CAST(substr(freqs, 1, 40) || x'c8' || substr(freqs, 42) AS BLOB)",
        "UPDATE posting_run SET lengths=CAST(substr(lengths, 1, 40) || x'ff' || substr(lengths, 42) AS BLOB)",
        "UPDATE posting_run SET ends=CAST(x'0000' || substr(ends, 3) AS BLOB)",
        "UPDATE posting_run SET docs=CAST(docs || x'4142' AS BLOB), freqs=CAST(freqs || x'43' AS BLOB),"
        " lengths=CAST(lengths || x'44' AS BLOB)",
        "UPDATE posting_run SET chunks=CAST(chunks || zeroblob(length(freqs)-length(chunks)) || x'4142' AS BLOB)",
        "INSERT INTO posting_run SELECT first-50, terms, ends, docs, chunks, freqs, lengths FROM posting_run",
        "UPDATE index_state SET length=length+1",
        "UPDATE index_state SET flushed=flushed-1",
    ],
)
def test_an_index_that_differs_from_its_episodes_is_noticed(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    assert connection.total_changes
    connection.close()
    with Store(path) as store:
        found = store.verify()
        assert any("search index" in problem for problem in found.problems), found
        assert store.verify(index=False), "who leaves the index out is not told"


@pytest.mark.parametrize("count", [300, 1_200])
def test_an_index_of_every_kind_of_text_is_what_its_episodes_give(tmp_path: Path, count: int) -> None:
    dice = random.Random(count)
    words = ["deploys", "go.out", "pool_size=40", "Elena's", "IT", "数据库", "سرية", "camelCase", "the", "4,711"]
    sizes = [1, 9, 30, 48, 60, 70, 400]
    texts = [" ".join(dice.choices(words, k=dice.choice(sizes))) + f" {at}" for at in range(count)]
    texts[7] = "again " * 10_000  # a chunk in which a term is counted no further
    texts[9] = "x" * 200 + " " + "y" * 60
    with Store(tmp_path / "memory.db") as store:
        start = datetime(2026, 1, 1, 23, 59, tzinfo=UTC)
        store.episodes.record_many(
            {"content": text, "source": f"user {at % 5}", "happened_at": start - timedelta(minutes=at * 7)}
            for at, text in enumerate(texts)
        )
        assert store.verify()


def test_what_verify_says_of_the_index_gives_no_content_away(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM posting")
    connection.commit()
    connection.close()
    with Store(path) as store:
        assert "quiet" not in " ".join(store.verify().problems)
