"""New versions of the document that no wrap wrote: after a change of trust, a quarantine, or a return to an old one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assay.beliefs.facts import fact_rows
from assay.beliefs.loading import all_beliefs
from assay.errors import Conflict
from assay.model.belief import Belief
from assay.model.labels import Residence
from assay.model.schema import Role
from assay.storage.document_rows import newest_version
from assay.storage.tables import Value
from assay.storage.transaction import Transaction
from assay.text import skeleton
from assay.wrap.commit import digest
from assay.wrap.document import FactLine, Line, Note, PatternLine, Section, parse, render, render_line
from assay.wrap.lifecycle import open_wrap
from assay.wrap.rules.sources import line_key
from assay.wrap.schemas import read_schema

__all__ = ["between_wraps", "redraw", "write_version"]


def redraw(tx: Transaction, stays: Callable[[tuple[str, ...]], bool]) -> list[tuple[str, str]]:
    """Render the document anew: levels as they are held now, and only the lines whose sources may stay.

    Args:
        stays: Tells whether a line may stay, by the full ids of its sources; one without sources always may.

    Returns:
        Section and text of each line that was taken out.
    """
    rows = tx.find("document", order="version DESC", limit=1)
    if not rows:
        return []
    detail: dict[str, Any] = json.loads(rows[0]["detail"])
    schema = tx.get("setting", "schema")
    document = parse(rows[0]["body"], read_schema(schema["value"] if schema else "null")).document
    held = {skeleton(one.name): one for one in all_beliefs(tx, Residence.WORKING)}
    facts = fact_rows(tx)
    shown: set[str] = set()
    taken: list[tuple[str, str]] = []

    def drawn(line: Line, heading: str) -> Line | None:
        if isinstance(line, PatternLine):
            belief = held.get(line.key)
            return None if belief is None else replace(line, level=belief.level, marks=belief.marks)
        if isinstance(line, FactLine) and line.key in facts:
            if line.key in shown or facts[line.key]["residence"] != Residence.PINNED.value:
                return None
            shown.add(line.key)
            return replace(line, cues=tuple(json.loads(facts[line.key]["cues"])))
        sources = tuple(detail.get("sources", {}).get(line_key(line.text), ()))
        if not sources or stays(sources):
            return line
        taken.append((heading, render_line(replace(line, relayed=False) if isinstance(line, Note) else line)))
        return None

    sections = [
        replace(one, body=tuple(kept for line in one.body if (kept := drawn(line, one.heading)) is not None))
        for one in document.sections
    ]
    fresh = [one for one in all_beliefs(tx, Residence.PINNED) if skeleton(one.text) not in shown]
    body = render(replace(document, sections=_with_facts(sections, fresh)))
    if body != rows[0]["body"]:
        write_version(tx, body, detail)
    return taken


def _with_facts(sections: list[Section], facts: list[Belief]) -> tuple[Section, ...]:
    """Put facts that the document lacks into their section, or the first that holds facts."""
    homes = [one.heading for one in sections if one.role is Role.DURABLE]
    lines: dict[str, list[Line]] = {}
    for fact in facts if homes else ():
        home = fact.section if fact.section in homes else homes[0]
        lines.setdefault(home, []).append(FactLine(fact.text, fact.cues))
    return tuple(replace(one, body=(*one.body, *lines.get(one.heading, ()))) for one in sections)


def write_version(tx: Transaction, body: str, detail: dict[str, Any]) -> int:
    """Write the next version of the document and give its number."""
    version = newest_version(tx) + 1
    row: dict[str, Value] = {"version": version, "body": body, "wrap": None, "digest": digest(body), "made": tx.now}
    tx.insert("document", tx.new_id("dc"), {**row, "detail": json.dumps(detail, ensure_ascii=False)})
    return version


def between_wraps(tx: Transaction) -> None:
    """Refuse a change of the document while a composer works on the present one.

    Raises:
        Conflict: A wrap is open.
    """
    opened = open_wrap(tx)
    if opened is not None:
        raise Conflict(f"the session {opened['session']!r} has a wrap open: save or cancel it first")
