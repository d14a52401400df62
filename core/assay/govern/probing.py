"""Drift probes of the operator: set, removed, and asked at any time."""

from __future__ import annotations

from assay.authority.sighting import Sighting, sight
from assay.authority.watching import Probe, keep_probes, probes_of, standing
from assay.beliefs.loading import find_belief
from assay.errors import InvalidInput, NotFound
from assay.model.constants import MAX_BELIEF_CHARS
from assay.storage.database import Database
from assay.storage.document_rows import newest_body
from assay.storage.transaction import Transaction
from assay.text import content_set
from assay.wrap.document import parse
from assay.wrap.rules.probes import told
from assay.wrap.schemas import read_schema

__all__ = ["look", "probe", "unprobe"]


def probe(database: Database, text: str, *, belief: str, level: int | None, section: str) -> str:
    """Watch a belief or a statement; give the id of the probe.

    Raises:
        InvalidInput: Not exactly one of the two is named, the statement has no words, or the level is no level.
        NotFound: No belief, or several, have this name or ref.
    """
    if bool(text.strip()) == bool(belief):
        raise InvalidInput("text", "name a statement, or a belief")
    if len(text) > MAX_BELIEF_CHARS or (text and not content_set(text)):
        raise InvalidInput("text", f"a statement of at most {MAX_BELIEF_CHARS} characters, with words to look for")
    if level is not None and (isinstance(level, bool) or level < 1):
        raise InvalidInput("level", "a level, 1 or more")

    def write(tx: Transaction) -> str:
        watched = find_belief(tx, belief) if belief else None
        least = level if level is not None else (max(2, watched.level) if watched else 0)
        made = Probe(tx.new_id("pr"), watched.ref if watched else "", least, text.strip(), section)
        tx.entry("setting", actor="host", data={"probe": made.ref})
        keep_probes(tx, [*probes_of(tx), made])
        return made.ref

    return database.mutate(write)


def unprobe(database: Database, ref: str) -> None:
    """Remove a probe.

    Raises:
        NotFound: There is none of this id.
    """

    def write(tx: Transaction) -> None:
        probes = probes_of(tx)
        left = [one for one in probes if one.ref != ref]
        if len(left) == len(probes):
            raise NotFound(ref, "no probe has this id")
        tx.entry("setting", actor="host", data={"probe": ref, "removed": True})
        keep_probes(tx, left)

    database.mutate(write)


def look(database: Database) -> list[Sighting]:
    """Look for everything that is watched in the present document."""
    with database.read() as reader:
        schema = reader.get("setting", "schema")
        document = parse(newest_body(reader), read_schema(schema["value"] if schema else "null")).document
        probes = probes_of(reader)
        held = standing(reader, probes)
        return [sight(one, held, told(document)) for one in probes]
