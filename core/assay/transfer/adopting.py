"""A document that was written elsewhere, as the first one of a store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.authority.baton import authorised
from assay.beliefs.reverting import snapshot
from assay.beliefs.saving import Standing, stand
from assay.errors import TooLarge
from assay.govern.redrawing import write_version
from assay.model.constants import MAX_DOCUMENT_BYTES
from assay.storage.document_rows import newest_version
from assay.storage.transaction import Transaction
from assay.text.secrets import redact
from assay.wrap.document import Line, PatternLine, Section, parse, render
from assay.wrap.schemas import read_schema

__all__ = ["adopt"]


def adopt(tx: Transaction, text: str, *, session: str, actor: str) -> bool:
    """Write a document as version 1, with what it believes at `import_level_cap` at most (B31).

    Its citations are dropped: they name episodes of another store.

    Returns:
        False when the store has a document already, or the session may not wrap.

    Raises:
        TooLarge: It is longer than a document may be.
    """
    if newest_version(tx) or authorised(tx, session) is not None:
        return False
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_DOCUMENT_BYTES:
        raise TooLarge("document", size, MAX_DOCUMENT_BYTES, "bytes")
    schema = tx.get("setting", "schema")
    document = parse(redact(text)[0], read_schema(schema["value"] if schema else "null")).document
    tx.entry("import", actor=actor, data={"document": 1})
    known: set[str] = set()
    sections = tuple(replace(section, body=_adopted(tx, section, known)) for section in document.sections)
    detail: dict[str, Any] = {"sources": {}, "relayed": [], **snapshot(tx)}
    write_version(tx, render(replace(document, sections=sections)), detail)
    return True


def _adopted(tx: Transaction, section: Section, known: set[str]) -> tuple[Line, ...]:
    body: list[Line] = []
    for line in section.body:
        if isinstance(line, PatternLine):
            if line.key in known:
                continue
            known.add(line.key)
            level = max(1, min(line.level, tx.settings.import_level_cap))
            line = PatternLine(line.name, line.text, level)
            place = 1 + sum(isinstance(one, PatternLine) for one in body)
            stand(tx, Standing(None, line.label, line.text, section.heading, place, level, (), False, (), {}), 0)
        body.append(line)
    return tuple(body)
