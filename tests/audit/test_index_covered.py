"""The search index is derived from the episodes, and verify builds it anew to compare."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from assay import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        texts = [
            f"shift {number} was quiet " + "and nothing else happened in the night " * (number % 20)
            for number in range(600)
        ]
        store.episodes.record_many([{"content": text, "source": "ada"} for text in texts])
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
        "UPDATE posting SET docs=CAST(substr(docs, 3) || substr(docs, 1, 2) AS BLOB) WHERE length(docs) > 2 AND id < 9",
        "UPDATE posting SET lengths=CAST(x'00' || substr(lengths, 2) AS BLOB) WHERE id=1",
        "INSERT INTO posting VALUES(NULL, 1, 0, 1, x'0100', x'', x'01', x'05')",
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


def test_what_verify_says_of_the_index_gives_no_content_away(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM posting")
    connection.commit()
    connection.close()
    with Store(path) as store:
        assert "quiet" not in " ".join(store.verify().problems)
