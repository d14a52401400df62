"""`Store`: hands each verb to the room that does it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from assay.audit.log import seal
from assay.episodes.draft import Draft, as_label, as_member
from assay.episodes.recording import prepare, record
from assay.errors import InvalidInput, NotAuthorised
from assay.model.episode import Episode, JsonValue
from assay.model.labels import Kind, Origin, Trust, Verdict
from assay.model.settings import POLICIES
from assay.model.times import to_us
from assay.recall.index import TailCache, flush_if_due
from assay.storage.database import Database
from assay.store.namespaces import Audit, Authority, Beliefs, Continuity, Episodes, History, Keys
from assay.store.setup import initialiser

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from assay.model.explanation import Erasure, Explanation
    from assay.model.recall import Briefing, Hit, Recall
    from assay.model.schema import Schema
    from assay.model.status import Status, Verification
    from assay.model.wrap import Composer, WrapPackage, WrapResult
    from assay.storage.transaction import Entry
    from assay.store.proxy import AsyncProxy

    Ref = str | Episode | Hit

__all__ = ["Store"]

When = datetime | date | str


class Store:
    """One entity's memory, in one SQLite file.

    Any number of threads, tasks and processes may use one file at once, and threads and tasks one object.

    Args:
        path: The file, created if missing, or `":memory:"`.
        project_name: Names the memory in its document; kept from the first opening on.
        default_trust: Trust of what is recorded without naming one.
        trust_ceiling: The highest trust that this object may record.
        origin: Who records through this object, unless a call says otherwise.
        policy: `default`, `strict` or `adaptive`, for a new store.
        schema: A schema, or the name of one (`default`, `partnership`, `project`), for a new store.
        requires_baton: Whether wraps need the baton, for a new store.
        session: Session id of this object's records and wraps.
        principal: The door, as the audit log names it.
        read_only: Refuse every write.
        timeout: Seconds that a write waits for its turn.
        synchronous: `FULL`; `NORMAL` accepts that a power cut loses the last commits.
        token_counter: Counts the tokens of a text; by default an estimate of cl100k.
        clock: Gives the time, aware; for tests.
        ids: Gives 16 random bytes; for tests.
        on_audit_event: Called with each entry of the log after its commit.

    Raises:
        StorageFailure: The file cannot be opened, is not ours, or is newer than this version.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        project_name: str | None = None,
        default_trust: Trust | str = Trust.AGENT,
        trust_ceiling: Trust | str = Trust.AGENT,
        origin: Origin | str = Origin.HOST,
        policy: str = "default",
        schema: Schema | str = "default",
        requires_baton: bool = False,
        session: str | None = None,
        principal: str = "library",
        read_only: bool = False,
        timeout: float = 30.0,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        token_counter: Callable[[str], int] | None = None,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], bytes] | None = None,
        on_audit_event: Callable[[Mapping[str, JsonValue]], None] | None = None,
    ) -> None:
        self.path = _path(path)
        self.session = None if session is None else as_label("session", session)
        self._default_trust = as_member("default_trust", default_trust, Trust)
        self._ceiling = as_member("trust_ceiling", trust_ceiling, Trust)
        self._origin = as_member("origin", origin, Origin)
        self._counter = token_counter
        self._clock = clock or _now
        self._tail = TailCache()
        self._executor: ThreadPoolExecutor | None = None
        self._on_audit_event = on_audit_event
        if self._default_trust.rank > self._ceiling.rank:
            raise NotAuthorised(
                f"default_trust {self._default_trust.value} is above trust_ceiling {self._ceiling.value}"
            )
        if policy not in POLICIES:
            raise InvalidInput("policy", f"one of {', '.join(POLICIES)}")
        self._database = Database(
            self.path,
            seal=seal,
            wall=lambda: to_us(self._clock()),
            ids=ids or _randomness,
            principal=as_label("principal", principal),
            initialise=initialiser(
                project=as_label("project_name", project_name) if project_name is not None else "Agent",
                schema=schema,
                policy=policy,
                requires_baton=requires_baton,
            ),
            timeout=timeout,
            read_only=read_only,
            synchronous=synchronous,
            on_commit=self._committed if on_audit_event else None,
        )
        if self._database.erase_pending:
            self._finish_erasures()
        self.episodes = Episodes(self._database)
        self.beliefs = Beliefs(self._database)
        self.keys = Keys(self._database)
        self.continuity = Continuity(self._database, self)
        self.authority = Authority(self._database, self)
        self.history = History(self._database)
        self.audit = Audit(self._database)

    # -- the twelve verbs --------------------------------------------------------------------------------------

    def record(
        self,
        content: str,
        kind: Kind | str = Kind.OBSERVATION,
        *,
        source: str = "",
        session: str | None = None,
        run: str | None = None,
        origin: Origin | str | None = None,
        trust: Trust | str | None = None,
        success: bool | None = None,
        state_key: str | None = None,
        derived_from: Sequence[Ref] = (),
        supersedes: Sequence[Ref] = (),
        tags: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        happened_at: When | None = None,
        idempotency_key: str | None = None,
        verdict: Verdict | str | None = None,
        target: Ref | None = None,
        inferred: bool = False,
    ) -> Episode:
        """Record something that happened; returns after it is durable.

        Args:
            content: What happened, 1 byte to `max_content_bytes` (64 KiB by default). Secrets are scrubbed.
            source: Who or what says so: a free label.
            success: For an outcome: whether it went well.
            state_key: The fact that this is the current value of, such as `db.pool`: replaces the earlier value.
            derived_from: What it was made from; it is trusted no more than the least of these.
            supersedes: What it takes the place of.
            happened_at: When it happened: aware datetime, date or ISO 8601 text; now by default.
            idempotency_key: Recording again with the same key gives the stored episode.
            verdict: How it relates to `target`, if the caller knows: echo, refines or conflicts.
            inferred: Whether `derived_from` was inferred rather than stated.

        Raises:
            InvalidInput: An argument cannot be accepted.
            Conflict: The key belongs to another content, or a succession is not possible.
            NotAuthorised: The trust is above this store's ceiling.
            NotFound: A ref names nothing.
            Busy: Other writers held the store until the timeout.
        """
        draft = Draft(
            content=content,
            kind=as_member("kind", kind, Kind),
            origin=self._origin if origin is None else as_member("origin", origin, Origin),
            source=source,
            session=self.session if session is None else session,
            run=run,
            trust=None if trust is None else as_member("trust", trust, Trust),
            success=success,
            state_key=state_key,
            derived_from=[_ref(item) for item in derived_from],
            supersedes=[_ref(item) for item in supersedes],
            tags=tags,
            metadata=metadata or {},
            happened_at=happened_at,
            idempotency_key=idempotency_key,
            verdict=None if verdict is None else as_member("verdict", verdict, Verdict),
            target=None if target is None else _ref(target),
            inferred=inferred,
        )
        return self._record([draft])[0]

    def recall(
        self,
        text: str = "",
        *,
        kinds: Sequence[Kind | str] = (),
        since: When | None = None,
        until: When | None = None,
        tags: Sequence[str] = (),
        trust: Trust | str | None = None,
        session: str | None = None,
        source: str | None = None,
        state_key: str | None = None,
        refs: Sequence[Ref] | None = None,
        exclude: Sequence[Ref] = (),
        exclude_recent: timedelta | None = None,
        history: bool = False,
        limit: int = 10,
        after: str | None = None,
    ) -> Recall:
        """Find episodes that answer a question; never writes.

        Args:
            text: A question or words; "" gives the newest.
            since: Happened at this time or later: a time, a date, or an age such as `3d`.
            until: Happened at this time or before.
            trust: Of at least this effective trust.
            exclude: What is still in the conversation.
            exclude_recent: Leave out what was recorded so recently.
            history: Also what was replaced, and every repetition.
            limit: At most so many hits, 1 to 1000.
            after: `Recall.next` of the page before.

        Raises:
            InvalidInput: An argument cannot be accepted.
            NotFound: A ref names nothing.
        """
        from assay.recall.search import search
        from assay.store.questions import as_query

        now = self._clock()
        with self._database.read() as reader:
            query = as_query(
                reader,
                text,
                kinds=kinds,
                since=since,
                until=until,
                tags=tags,
                trust=trust,
                session=session,
                source=source,
                state_key=state_key,
                refs=None if refs is None else [_ref(item) for item in refs],
                exclude=[_ref(item) for item in exclude],
                exclude_recent=exclude_recent,
                history=history,
                limit=limit,
                after=after,
                now=now,
            )
            return search(reader, query, self._tail, now_us=to_us(now))

    def briefing(
        self,
        goal: str = "",
        *,
        tokens: int = 1200,
        session: str | None = None,
        run: str | None = None,
        exclude: Sequence[Ref] = (),
        deadline: float | None = None,
    ) -> Briefing:
        """Fit the memory that bears on a goal into a token budget, fenced as data for a prompt.

        Args:
            goal: What the agent is about to do, or the user's question; "" for the newest events.
            tokens: Budget in tokens of the store's counter, everything included.
            session: Names the fence when there is no `run`.
            run: Names the fence: equal runs and equal memory give equal text.
            exclude: What is still in the conversation.
            deadline: Seconds after which to give up.

        Raises:
            TimeoutError: The deadline passed.
        """
        from assay.recall.briefing import brief
        from assay.recall.ranking import Deadline
        from assay.store.questions import full_refs

        with self._database.read() as reader:
            return brief(
                reader,
                goal,
                tokens=tokens,
                counter=self.count_tokens,
                cache=self._tail,
                label=run or session or self.session or "store",
                exclude=frozenset(full_refs(reader, [_ref(item) for item in exclude])),
                now_us=to_us(self._clock()),
                deadline=Deadline(deadline),
            )

    def prepare_wrap(
        self,
        *,
        session: str | None = None,
        take: Literal["oldest", "important"] = "oldest",
        max_tokens: int | None = None,
    ) -> WrapPackage | WrapResult:
        """Freeze a window of episodes and give what a composer needs, or say why no wrap opens.

        Args:
            session: Who wraps; only this session can save the result.
            take: Which episodes come first when not all fit.
            max_tokens: A smaller target for the document than the store's.
        """
        from assay.wrap.prepare import prepare_wrap

        return prepare_wrap(
            self._database,
            session=session or self.session or "local",
            take=take,
            max_tokens=max_tokens,
            counter=self.count_tokens,
        )

    def save_continuity(
        self,
        text: str,
        token: str | None = None,
        *,
        mode: Literal["apply", "dry_run", "retry"] = "apply",
        session: str | None = None,
        composer: str = "",
        allow_shrink: bool = False,
    ) -> WrapResult:
        """Check a rewritten document against the evidence it cites, and commit what it earned.

        Args:
            text: The whole document.
            token: `WrapPackage.token`; may be left out by the session that prepared the wrap.
            mode: `dry_run` writes nothing; `retry` refuses also what another text could mend.
            composer: Label of who wrote the text.
            allow_shrink: Accept, once, that sections lose most of their content.
        """
        from assay.wrap.save import save_continuity

        return save_continuity(
            self._database,
            text,
            token,
            mode=mode,
            session=session or self.session or "local",
            composer=composer,
            allow_shrink=allow_shrink,
            counter=self.count_tokens,
        )

    def wrap(
        self, compose: Composer | None = None, *, session: str | None = None, retries: int | None = None
    ) -> WrapResult:
        """Consolidate what was recorded: prepare, let a model compose, check, commit.

        Args:
            compose: Turns a prompt into a text; the offline composer when left out.
            retries: How often findings go back to the composer; the store's setting by default.
        """
        from assay.wrap.loop import wrap

        return wrap(
            self._database,
            compose,
            session=session or self.session or "local",
            retries=retries,
            counter=self.count_tokens,
        )

    def result(self, ref: Ref, worked: bool, *, note: str = "") -> None:
        """Say how acting on an episode or a belief went; it may reorder what is recalled, and promotes nothing."""
        from assay.track_record.results import add_result

        target = _ref(ref)
        self._database.mutate(lambda tx: add_result(tx, target, worked, note, actor=self._origin.value))

    def explain(self, ref: Ref) -> Explanation:
        """Say where an episode or a belief comes from, and which entries of the log wrote it.

        Raises:
            NotFound: The ref names nothing.
        """
        from assay.store.questions import explain

        with self._database.read() as reader:
            return explain(reader, _ref(ref))

    def correct(self, ref: Ref, text: str, *, source: str = "") -> Episode:
        """Record a text in the place of an episode; the old one stays stored, and is shown with `history=True`.

        Raises:
            Conflict: The text speaks of something else.
            NotFound: The ref names nothing.
        """
        old = self.episodes.get(ref)
        replaces = [] if old.state_key is not None else [old.ref]
        return self.record(text, old.kind, source=source or old.source, state_key=old.state_key, supersedes=replaces)

    def erase(self, ref: Ref, *, reason: str = "") -> Erasure:
        """Remove an episode for good, from every tier that holds or derives from its text.

        Raises:
            NotFound: The ref names no live episode.
        """
        from assay.govern.erase import erase

        return erase(self._database, [_ref(ref)], reason=reason, actor=self._origin.value)

    def verify(self, *, limit: int = 20) -> Verification:
        """Replay the audit log against every live row; constant memory."""
        from assay.audit.verify import verify

        with self._database.read() as reader:
            return verify(reader, limit=limit)

    def status(self) -> Status:
        """Count what the store holds, without any content."""
        from assay.store.questions import status

        with self._database.read() as reader:
            return status(reader, self.path, self.count_tokens)

    # -- around them -------------------------------------------------------------------------------------------

    @property
    def aio(self) -> AsyncProxy:
        """Give the same verbs as coroutines; they run in order on one thread of this store."""
        from assay.store.proxy import AsyncProxy

        return AsyncProxy(self, self._worker)

    def count_tokens(self, text: str) -> int:
        """Count tokens with the counter of this store."""
        if self._counter is not None:
            return self._counter(text)
        from assay.text import estimate_tokens

        return estimate_tokens(text)

    def close(self) -> None:
        """Close every connection; idempotent."""
        if self._executor is not None:
            self._executor.shutdown(wait=True)
            self._executor = None
        self._database.close()

    def __enter__(self) -> Self:
        """Give the store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    def __repr__(self) -> str:
        """Show the path, never content."""
        return f"Store({self.path!r})"

    def _record(self, drafts: Sequence[Draft]) -> list[Episode]:
        items = [prepare(draft) for draft in drafts]

        def write(tx: Any) -> list[Episode]:
            episodes: list[Episode] = []
            for item in items:
                episodes.append(record(tx, item, default_trust=self._default_trust, ceiling=self._ceiling))
                flush_if_due(tx, episodes[-1].n)
            return episodes

        return self._database.mutate(write)

    def _finish_erasures(self) -> None:
        from assay.govern.erase import finish_erasures

        finish_erasures(self._database)

    def _worker(self) -> ThreadPoolExecutor:
        if self._executor is None:
            from assay.store.proxy import make_worker

            self._executor = make_worker()
        return self._executor

    def _committed(self, entries: Sequence[Entry]) -> None:
        import json

        from assay.audit.log import encode

        if self._on_audit_event is not None:
            for entry in entries:
                self._on_audit_event(json.loads(encode(entry)))


def _path(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    if not text or "\0" in text:
        raise InvalidInput("path", "give the path of the database file, or ':memory:'")
    return text if text == ":memory:" else os.path.expanduser(text)  # noqa: PTH111 - pathlib is slow to import


def _ref(item: Ref) -> str:
    if isinstance(item, str):
        return item
    return item.ref if isinstance(item, Episode) else item.id


def _now() -> datetime:
    return datetime.now(UTC)


def _randomness() -> bytes:
    return os.urandom(16)
