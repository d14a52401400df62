"""What a new store begins with."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

from assay.errors import InvalidInput
from assay.model.episode import JsonValue
from assay.model.settings import POLICIES
from assay.storage.schema import SCHEMA_VERSION
from assay.storage.transaction import Transaction

if TYPE_CHECKING:
    from assay.model.schema import Schema

__all__ = ["initialiser", "schema_json"]


def initialiser(
    *, project: str, schema: Schema | str, policy: str, requires_baton: bool
) -> Callable[[Transaction], None]:
    """Give the function that writes the first entry of the log and the rows of the settings.

    Raises:
        InvalidInput: There is no policy or schema of that name, or documents cannot be checked by this one.
    """
    if policy not in POLICIES:
        raise InvalidInput("policy", f"one of {', '.join(POLICIES)}")
    if schema != "default":
        _schema(schema)

    def write(tx: Transaction) -> None:
        store_id = tx.new_id("st")
        tx.put_meta("store_id", store_id.encode())
        data: dict[str, JsonValue] = {"store": store_id, "schema": SCHEMA_VERSION, "hash": "sha256", "key": None}
        data["secret"] = sha256(tx.meta("secret")).hexdigest()
        tx.entry("init", actor="host", data=data)
        tx.put_setting("project_name", project)
        tx.put_setting("schema", json.loads(schema_json(_schema(schema))))
        tx.put_setting("policy", policy)
        for name, value in POLICIES[policy].items():
            tx.put_setting(name, value)
        if requires_baton:
            tx.put_setting("requires_baton", True)

    return write


def _schema(schema: Schema | str) -> Schema:
    from assay.model.schema import NAMED_SCHEMAS, Schema

    if isinstance(schema, Schema):
        from assay.wrap.schemas import check_schema

        check_schema(schema)
        return schema
    if schema not in NAMED_SCHEMAS:
        raise InvalidInput("schema", f"one of {', '.join(NAMED_SCHEMAS)}, or a Schema")
    return NAMED_SCHEMAS[schema]


def schema_json(schema: Schema) -> str:
    """Write a schema as it is stored."""
    sections = [
        {"heading": item.heading, "role": item.role.value, "optional": item.optional, "max_tokens": item.max_tokens}
        for item in schema.sections
    ]
    return json.dumps({"name": schema.name, "sections": sections}, ensure_ascii=False)
