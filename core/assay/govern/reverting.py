"""Go back to the document, the levels and the evidence of an earlier wrap; itself a version that can be left again."""

from __future__ import annotations

import json
from typing import Any

from assay.authority.baton import authorised
from assay.beliefs.reverting import restore
from assay.beliefs.standing import recheck
from assay.errors import Conflict, InvalidInput, NotAuthorised, NotFound
from assay.govern.redrawing import between_wraps, write_version
from assay.govern.trusting import take_out
from assay.model.schema import Role
from assay.storage.database import Database
from assay.storage.document_rows import newest_body, newest_version
from assay.storage.transaction import Transaction
from assay.wrap.commit import settle_pins
from assay.wrap.document import parse, render
from assay.wrap.schemas import read_schema

__all__ = ["replace_section", "revert"]

_FIXED = (Role.GRADUATING, Role.DURABLE, Role.FROZEN)


def revert(database: Database, wrap: int, *, reason: str, session: str, reopen: bool = False) -> int:
    """Make what a wrap committed hold again, byte for byte unless an erase or a loss of trust forbids it (D16).

    Args:
        wrap: Number of the wrap.
        reopen: Give the episodes that were wrapped since then back to the next window.

    Returns:
        The number of the new version.

    Raises:
        Conflict: A wrap is open.
        InvalidInput: The reason is empty.
        NotAuthorised: The session does not hold the baton that this store requires.
        NotFound: No such wrap committed a document.
    """
    if not reason.strip():
        raise InvalidInput("reason", "say why: it is kept in the log")

    def write(tx: Transaction) -> int:
        _permitted(tx, session)
        rows = tx.find("document", {"wrap": wrap})
        detail: dict[str, Any] = json.loads(rows[0]["detail"]) if rows else {}
        if "standing" not in detail:
            raise NotFound(str(wrap), "no wrap of this number committed a document that can be restored")
        body: str = rows[0]["body"]
        (made,) = tx.find("wrap", {"n": wrap})
        document = parse(body, read_schema(made["schema"])).document
        tx.entry("revert", actor=session, data={"wrap": wrap, "reason": reason, "reopen": reopen})
        restore(tx, detail, wrap, [(line.label, line.text) for line in document.patterns])
        settle_pins(tx, document, detail.get("sources", {}), wrap)
        write_version(tx, body, detail)
        recheck(tx, [row["episode"] for row in tx.find("evidence")])
        take_out(tx)
        for later in tx.find("wrap", {"state": "committed"}) if reopen else ():
            if later["n"] > wrap:
                tx.update("wrap", later["id"], {"state": "cancelled"})
        return newest_version(tx)

    return database.mutate(write)


def replace_section(database: Database, heading: str, body: str, expected_version: int, session: str) -> int:
    """Replace the body of one section if the document is still the version that the caller read (D17).

    Returns:
        The number of the new version.

    Raises:
        Conflict: The document changed meanwhile, or a wrap is open.
        InvalidInput: The section is one that only a wrap may change, or the text holds a level or a heading.
        NotAuthorised: The session does not hold the baton that this store requires.
        NotFound: The document has no such section.
    """

    def write(tx: Transaction) -> int:
        _permitted(tx, session)
        if newest_version(tx) != expected_version:
            raise Conflict(f"the document is at version {newest_version(tx)}, not {expected_version}: read it again")
        stored = tx.get("setting", "schema")
        schema = read_schema(stored["value"] if stored else "null")
        document = parse(newest_body(tx), schema).document
        target = next((one for one in document.sections if one.heading == heading), None)
        if target is None:
            raise NotFound(heading, "the document has no section of this heading")
        if target.role in _FIXED:
            raise InvalidInput("heading", f"a {target.role.value} section changes in a wrap only")
        old = render(document)
        start = old.index(f"## {heading}\n") + len(f"## {heading}\n")
        end = old.find("\n## ", start)
        tail = old[end:] if end >= 0 else ""
        again = parse(f"{old[:start]}\n{body.strip()}\n{tail}", schema)
        others = [one for one in again.document.sections if one.heading != heading]
        if others != [one for one in document.sections if one.heading != heading] or again.moves:
            raise InvalidInput("body", "it holds a heading or a marker: a section holds lines of its own only")
        rows = tx.find("document", order="version DESC", limit=1)
        tx.entry("section", actor=session, data={"heading": heading, "from": expected_version})
        return write_version(tx, render(again.document), json.loads(rows[0]["detail"]))

    return database.mutate(write)


def _permitted(tx: Transaction, session: str) -> None:
    refusal = authorised(tx, session)
    if refusal is not None:
        raise NotAuthorised(f"{refusal.message}; {refusal.fix}")
    between_wraps(tx)
