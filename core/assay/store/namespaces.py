"""The store's namespaces: what is asked for less often than the twelve verbs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from assay.episodes import loading, succession
from assay.episodes.recording import key_digest
from assay.errors import InvalidInput, NotFound
from assay.model.episode import Episode, JsonValue
from assay.model.settings import POLICIES
from assay.model.times import from_us, parse_time, to_us
from assay.storage import audit_rows, document_rows, episode_rows
from assay.storage.database import Database

if TYPE_CHECKING:
    from assay.govern.trusting import Quarantine
    from assay.model.labels import Trust
    from assay.model.recall import Hit
    from assay.wrap.document import Section

    Ref = str | Episode | Hit

__all__ = ["Authority", "Continuity", "Episodes", "History", "Keys", "Moment", "Page", "Version", "as_ref"]


def as_ref(item: Ref) -> str:
    """Give the ref of what a caller named by itself, or by its ref."""
    if isinstance(item, str):
        return item
    return item.ref if isinstance(item, Episode) else item.id


@dataclass(frozen=True, slots=True)
class Page:
    """A page of episodes; `next` is the cursor of the one behind it, or None."""

    items: tuple[Episode, ...]
    next: int | None

    def __iter__(self) -> Any:
        """Iterate over the episodes."""
        return iter(self.items)

    def __len__(self) -> int:
        """Count the episodes."""
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the continuity document; `wrap` is None when no wrap wrote it."""

    number: int
    wrap: int | None
    made_at: datetime
    digest: str


@dataclass(frozen=True, slots=True)
class Moment:
    """The memory as it was at a moment, without what was erased since.

    Attributes:
        version: Number of the document's version, 0 before the first wrap.
        episodes: How many episodes were recorded by then and are still held.
        erased: How many were recorded by then, or within four seconds of it, and erased since.
    """

    at: datetime
    version: int
    document: str = field(repr=False)
    episodes: int
    erased: int


class Episodes:
    """What was recorded, in order."""

    def __init__(self, database: Database, record: Callable[[Iterable[Mapping[str, Any]]], Sequence[str]]) -> None:
        self._database = database
        self._record = record

    def record_many(self, events: Iterable[Mapping[str, Any]]) -> Sequence[str]:
        """Record several events in one transaction, all or none; much faster than one by one.

        Args:
            events: For each event the arguments of `Store.record` by name, `content` among them.

        Returns:
            Full ids in the same order.

        Raises:
            InvalidInput: As `Store.record`, and for an argument that it does not have.
        """
        return self._record(events)

    def list(
        self, *, after: int | None = None, limit: int = 100, session: str | None = None, source: str | None = None
    ) -> Page:
        """List episodes in the order of recording, those that were replaced included."""
        if not 1 <= limit <= 10_000:
            raise InvalidInput("limit", "1 to 10,000")
        with self._database.read() as reader:
            rows = episode_rows.page(
                reader, after=after or 0, limit=limit + 1, session=session, source=source, newest_first=False
            )
            items = loading.build(reader, rows[:limit])
        return Page(tuple(items), items[-1].n if len(rows) > limit else None)

    def get(self, ref: Ref) -> Episode:
        """Give one episode.

        Raises:
            NotFound: The ref names no live episode.
        """
        with self._database.read() as reader:
            return loading.load(reader, [loading.resolve(reader, as_ref(ref))])[0]

    def supersede(self, old: Ref, new: Ref, *, reason: str = "") -> None:
        """Let one episode take the place of another.

        Raises:
            Conflict: The message says why it cannot.
        """

        def write(tx: Any) -> None:
            before, behind = loading.resolve(tx, as_ref(old)), loading.resolve(tx, as_ref(new))
            tx.entry("supersede", actor="host")
            succession.supersede(tx, before, behind, reason=reason, made_by="caller")

        self._database.mutate(write)

    def un_echo(self, ref: Ref) -> None:
        """Say that an episode is no repetition after all.

        Raises:
            NotFound: It is not held as an echo.
        """

        def write(tx: Any) -> None:
            full = loading.resolve(tx, as_ref(ref))
            edges = tx.find("edge", {"source": full, "kind": "echo"})
            if not edges:
                raise NotFound(full, "this episode is not held as an echo")
            tx.entry("un_echo", actor="host")
            for edge in edges:
                tx.delete("edge", edge["id"])
            tx.update("episode", full, {"verdict": "new"})

        self._database.mutate(write)

    def quarantine(
        self, *refs: Ref, source: str = "", reason: str = "", release: bool = False, dry_run: bool = False
    ) -> Quarantine:
        """Take episodes, and all that was made from them, out of recall, briefing and document.

        Args:
            source: Everything of this source.
            release: Let them back instead: levels and lines return.
            dry_run: Only say what would change.

        Raises:
            InvalidInput: Neither a source nor a ref is named.
            NotFound: A ref names no live episode.
        """
        from assay.govern.trusting import quarantine

        return quarantine(self._database, list(map(as_ref, refs)), source, reason, release=release, dry_run=dry_run)

    def sessions(self, *, after: str = "", limit: int = 100) -> Sequence[tuple[str, int, datetime]]:
        """List (session, episodes, last recorded at) in order of name, behind `after`."""
        with self._database.read() as reader:
            return [
                (name, count, from_us(last))
                for name, count, last in episode_rows.sessions(reader, after=after, limit=limit)
            ]


class Keys:
    """State keys: facts that have one current value."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> Episode | None:
        """Give the episode that holds a key now, or None."""
        with self._database.read() as reader:
            holder = succession.key_holder(reader, episode_rows.keyed(reader, key_digest(reader, key)))
            return None if holder is None else loading.build(reader, [holder])[0]

    def history(self, key: str) -> Sequence[Episode]:
        """Give every value of a key, newest first."""
        with self._database.read() as reader:
            return loading.build(reader, episode_rows.keyed(reader, key_digest(reader, key)))


class Continuity:
    """The bounded document that is rewritten by wraps."""

    def __init__(self, database: Database, session: str | None) -> None:
        self._database = database
        self._session = session

    def text(self, version: int | None = None) -> str:
        """Give the document, or one of its versions; "" before the first wrap.

        Raises:
            NotFound: There is no such version.
        """
        with self._database.read() as reader:
            if version is None:
                return document_rows.newest_body(reader)
            rows = reader.find("document", {"version": version})
            if not rows:
                raise NotFound(str(version), "the document has no such version")
            return str(rows[0]["body"])

    def version(self) -> int:
        """Give the number of the newest version, 0 before the first wrap."""
        with self._database.read() as reader:
            return document_rows.newest_version(reader)

    def versions(self) -> Sequence[Version]:
        """List the versions of the document, newest first."""
        with self._database.read() as reader:
            rows = reader.find("document", order="version DESC")
            return [Version(row["version"], row["wrap"], from_us(row["made"]), row["digest"]) for row in rows]

    def sections(self) -> Sequence[Section]:
        """Give the sections of the document as they are read: heading, role and lines."""
        from assay.wrap.document import parse
        from assay.wrap.schemas import read_schema

        with self._database.read() as reader:
            schema = reader.get("setting", "schema")
            body = document_rows.newest_body(reader)
            return parse(body, read_schema(schema["value"] if schema else "null")).document.sections if body else ()

    def draft(self) -> str:
        """Give the text of a save that came too late, or ""."""
        with self._database.read() as reader:
            rows = reader.find("draft")
            return rows[0]["body"] if rows else ""

    def replace_section(self, heading: str, body: str, *, expected_version: int, session: str | None = None) -> int:
        """Replace a section outside a wrap; graduating, pinned and frozen ones refuse. Gives the new version.

        Args:
            expected_version: What `version` gave before the section was read.

        Raises:
            Conflict: The document is at another version, or a wrap is open.
            InvalidInput: The section or the text is not one that may be written so.
            NotAuthorised: The session does not hold the baton.
            NotFound: The document has no such section.
        """
        from assay.govern.reverting import replace_section

        return replace_section(self._database, heading, body, expected_version, session or self._session or "local")

    def revert(self, wrap: int, *, reason: str, reopen: bool = False, session: str | None = None) -> int:
        """Go back to the document, levels and evidence of an earlier wrap, in a new version; gives its number.

        Args:
            wrap: Number of the wrap, as `versions` lists it.
            reopen: Give the episodes wrapped since then back to the next window.

        Raises:
            Conflict: A wrap is open.
            InvalidInput: The reason is empty.
            NotAuthorised: The session does not hold the baton.
            NotFound: No such wrap committed a document.
        """
        from assay.govern.reverting import revert

        return revert(self._database, wrap, reason=reason, session=session or self._session or "local", reopen=reopen)

    def cancel(self, token: str | None = None, *, session: str | None = None, force: bool = False) -> bool:
        """Cancel the open wrap; its episodes wait for the next. False when none was open.

        Args:
            token: Of the wrap; or `session`, which opened it; or `force`, which needs neither.
        """
        from assay.wrap.lifecycle import cancel

        return cancel(self._database, token, session=session or self._session or "local", force=force)


class Authority:
    """Who may consolidate, and the settings that only the operator changes."""

    def __init__(self, database: Database, ceiling: Trust) -> None:
        self._database = database
        self._ceiling = ceiling

    def set_trust(self, ref: Ref, level: Trust | str, *, expect: Trust | str | None = None) -> Sequence[str]:
        """Change the trust of an episode; what stands on it follows at once. Gives the beliefs whose level changed.

        Args:
            expect: The trust that it has, if the change must not overwrite another one.

        Raises:
            Conflict: It has another trust than expected.
            NotAuthorised: The level is above this store's ceiling.
            NotFound: The ref names no live episode.
        """
        from assay.govern.trusting import set_trust

        return set_trust(self._database, as_ref(ref), level, expect=expect, ceiling=self._ceiling)

    def claim(self, session: str, *, take: bool = False) -> None:
        """Give a session the baton; `take=True` takes it from another holder.

        Raises:
            NotAuthorised: Another session holds it.
        """
        from assay.authority.baton import claim

        claim(self._database, session, take=take)

    def baton(self) -> str | None:
        """Give the session that holds the baton, or None."""
        from assay.authority.baton import holder

        with self._database.read() as reader:
            return holder(reader)

    def set(self, **values: JsonValue) -> None:
        """Change settings of the store; audited.

        Raises:
            InvalidInput: An unknown name, or a value outside its range.
        """

        def write(tx: Any) -> None:
            tx.settings.changed(**values)
            presets = POLICIES[str(values["policy"])] if "policy" in values else {}
            changes: dict[str, JsonValue] = {**presets, **values}
            tx.entry("setting", actor="host", data=changes)
            for name, value in changes.items():
                tx.put_setting(name, value)

        self._database.mutate(write)

    def settings(self) -> Mapping[str, JsonValue]:
        """Give every setting and its value."""
        with self._database.read() as reader:
            settings = reader.settings
        return {name: getattr(settings, name) for name in type(settings).__dataclass_fields__}


class History:
    """What changed, and how it was."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def as_of(self, when: datetime | date | str) -> Moment:
        """Give the document and the counts of a moment; `Store.recall(known_at=)` gives the episodes.

        Args:
            when: An aware datetime or ISO 8601 text; a date is the end of that day.

        Raises:
            InvalidInput: It is no time.
        """
        at = parse_time("when", when, end=True)
        with self._database.read() as reader:
            return Moment(at, *document_rows.body_at(reader, to_us(at)), *episode_rows.counted_at(reader, to_us(at)))

    def changes(self, ref: Ref, *, limit: int = 100) -> Sequence[Mapping[str, JsonValue]]:
        """Give the audit entries that wrote an item, oldest first."""
        with self._database.read() as reader:
            found = audit_rows.mentioning(reader, as_ref(ref), limit)
        return [json.loads(entry) for _, entry in found]
