"""The schema of a store's document: read from its row, and checked."""

from __future__ import annotations

import json
from typing import Any

from assay.errors import InvalidInput
from assay.model.schema import DEFAULT_SCHEMA, Role, Schema, SectionSpec
from assay.text import skeleton

__all__ = ["check_schema", "read_schema"]


def read_schema(stored: str) -> Schema:
    """Read a schema as it is stored; `null` is the default one.

    Raises:
        InvalidInput: It cannot be read or breaks a condition of `check_schema`.
    """
    value: Any = json.loads(stored)
    if value is None:
        return DEFAULT_SCHEMA
    try:
        sections = tuple(
            SectionSpec(item["heading"], Role(item["role"]), bool(item["optional"]), item["max_tokens"])
            for item in value["sections"]
        )
        schema = Schema(str(value["name"]), sections)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("schema", f"the stored schema cannot be read ({error}): set it again") from error
    check_schema(schema)
    return schema


def check_schema(schema: Schema) -> None:
    """Check that a document can be checked by a schema.

    Raises:
        InvalidInput: No graduating section, two durable ones, an optional section that is not durable, or
            headings that cannot be told apart.
    """
    roles = [section.role for section in schema.sections]
    keys = [f" {skeleton(section.heading)} " for section in schema.sections]
    if Role.GRADUATING not in roles:
        raise InvalidInput("schema", "one section needs the role graduating")
    if roles.count(Role.DURABLE) > 1:
        raise InvalidInput("schema", "at most one section has the role durable")
    if any(section.optional and section.role is not Role.DURABLE for section in schema.sections):
        raise InvalidInput("schema", "only a durable section may be optional")
    if not all(any(char.isalnum() for char in key) for key in keys):
        raise InvalidInput("schema", "every heading needs a letter or a digit")
    for key in keys:
        if sum(1 for other in keys if key in other) > 1:
            raise InvalidInput("schema", f"the heading {key.strip()!r} is part of another")
