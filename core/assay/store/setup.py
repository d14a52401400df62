"""What a new store begins with."""

from __future__ import annotations

import json
from collections.abc import Callable

from assay.model.episode import JsonValue
from assay.model.schema import Schema
from assay.model.settings import POLICIES
from assay.storage.schema import SCHEMA_VERSION
from assay.storage.transaction import Transaction

__all__ = ["initialiser", "schema_json"]


def initialiser(*, project: str, schema: Schema, policy: str, requires_baton: bool) -> Callable[[Transaction], None]:
    """Give the function that writes the first entry of the log and the rows of the settings."""

    def write(tx: Transaction) -> None:
        store_id = tx.new_id("st")
        tx.put_meta("store_id", store_id.encode())
        data: dict[str, JsonValue] = {"store": store_id, "schema": SCHEMA_VERSION, "hash": "sha256", "key": None}
        tx.entry("init", actor="host", data=data)
        tx.put_setting("project_name", project)
        tx.put_setting("schema", json.loads(schema_json(schema)))
        tx.put_setting("policy", policy)
        for name, value in POLICIES[policy].items():
            tx.put_setting(name, value)
        if requires_baton:
            tx.put_setting("requires_baton", True)

    return write


def schema_json(schema: Schema) -> str:
    """Write a schema as it is stored."""
    sections = [
        {"heading": item.heading, "role": item.role.value, "optional": item.optional, "max_tokens": item.max_tokens}
        for item in schema.sections
    ]
    return json.dumps({"name": schema.name, "sections": sections}, ensure_ascii=False)
