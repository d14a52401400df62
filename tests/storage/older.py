"""Making a store look like one of an earlier release."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from assay.storage import schema


def take_back(path: Path, to: int) -> None:
    """Drop the tables and indexes that the versions behind one have added."""
    connection = sqlite3.connect(path)
    for number in range(to + 1, schema.SCHEMA_VERSION + 1):
        script = Path(schema.__file__).with_name(f"schema_{number}.sql").read_text("utf-8")
        for table in re.findall(r"CREATE TABLE (\w+)", script):
            connection.execute(f"DROP TABLE {table}")
        for index in re.findall(r"CREATE INDEX (\w+)", script):
            connection.execute(f"DROP INDEX IF EXISTS {index}")
    connection.execute(f"PRAGMA user_version={to}")
    connection.close()
