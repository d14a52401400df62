"""Making a store look like one of an earlier release."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from assay import Store
from assay.recall import index
from assay.storage import index_rows, schema


def take_back(path: Path, to: int) -> None:
    """Drop the tables and indexes that the versions behind one have added."""
    with Store(path) as store:  # before version 4 the index had lists alone
        store._database.mutate(lambda tx: index.merge(tx, index_rows.state(tx).flushed))
    connection = sqlite3.connect(path)
    for number in range(to + 1, schema.SCHEMA_VERSION + 1):
        script = Path(schema.__file__).with_name(f"schema_{number}.sql").read_text("utf-8")
        for table in re.findall(r"CREATE TABLE (\w+)", script):
            connection.execute(f"DROP TABLE {table}")
        for name in re.findall(r"CREATE INDEX (\w+)", script):
            connection.execute(f"DROP INDEX IF EXISTS {name}")
    connection.execute(f"PRAGMA user_version={to}")
    connection.close()
