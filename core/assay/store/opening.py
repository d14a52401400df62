"""How a store is opened, shared and closed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from assay.audit.log import Sealer
from assay.episodes.draft import Checked, Draft, as_draft, as_label, as_member
from assay.episodes.recording import Written, as_read, prepare, write
from assay.errors import InvalidInput, NotAuthorised
from assay.govern.namespace import Beliefs
from assay.model.episode import Episode, JsonValue
from assay.model.labels import Origin, Trust
from assay.model.times import to_us
from assay.recall.index import TailCache, flush_if_due, flush_is_due
from assay.storage.database import Database
from assay.store.auditing import Audit
from assay.store.namespaces import Authority, Continuity, Episodes, History, Keys
from assay.store.setup import initialiser

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from assay.audit.proofs.signing import Signer
    from assay.model.schema import Schema
    from assay.recall.dense.embedding import Embedder
    from assay.recall.dense.likeness import Likeness
    from assay.recall.dense.namespace import Vectors
    from assay.storage.transaction import Entry, Transaction
    from assay.store.proxy import AsyncProxy
    from assay.transfer.namespace import Transfer

__all__ = ["OpenStore"]

T = TypeVar("T")


class OpenStore:
    """A store without its verbs: the file, the namespaces, and the arguments that `Store` describes."""

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
        signer: Signer | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self.path = _path(path)
        self.session = None if session is None else as_label("session", session)
        self._default_trust = as_member("default_trust", default_trust, Trust)
        self._ceiling = as_member("trust_ceiling", trust_ceiling, Trust)
        self._origin = as_member("origin", origin, Origin)
        self._counter = token_counter
        self._clock = clock or _now
        self._tail = TailCache(likeness=None if embedder is None else _likeness(embedder))
        self._executor: ThreadPoolExecutor | None = None
        self._executor_pid = 0
        self._on_audit_event = on_audit_event
        self._sealer = Sealer()
        self._open = False
        if synchronous not in ("FULL", "NORMAL"):
            raise InvalidInput("synchronous", "FULL or NORMAL")
        if self._default_trust.rank > self._ceiling.rank:
            raise NotAuthorised(f"default_trust {default_trust} is above trust_ceiling {trust_ceiling}")
        project = as_label("project_name", project_name) if project_name is not None else "Agent"
        self._database = Database(
            self.path, seal=self._sealer, wall=lambda: to_us(self._clock()), ids=ids or _randomness,
            principal=as_label("principal", principal),
            initialise=initialiser(project=project, schema=schema, policy=policy, requires_baton=requires_baton),
            timeout=timeout, read_only=read_only, synchronous=synchronous,
            on_commit=self._committed,
        )  # fmt: skip
        if self._database.erase_pending:
            self._finish_erasures()
        self.episodes = Episodes(self._database, self._record_many)
        self.beliefs = Beliefs(self._database)
        self.keys = Keys(self._database)
        self.continuity = Continuity(self._database, self.session)
        self.authority = Authority(self._database, self._ceiling)
        self.history = History(self._database)
        self.audit = Audit(self._database, signer)
        self._open = True

    @property
    def aio(self) -> AsyncProxy:
        """Give the same verbs as coroutines; they run in order on one thread of this store."""
        from assay.store.proxy import AsyncProxy

        return AsyncProxy(self, self._worker)

    @property
    def transfer(self) -> Transfer:
        """Give what takes the store elsewhere and brings it back."""
        from assay.transfer.namespace import Transfer

        return Transfer(
            self._database, session=self.session or "local", actor=self._origin.value,
            default_trust=self._default_trust, ceiling=self._ceiling, heard=self._on_audit_event is not None,
        )  # fmt: skip

    @property
    def vectors(self) -> Vectors:
        """Give what makes the vectors of episodes, for a store that was opened with an embedder."""
        from assay.recall.dense.namespace import Vectors

        return Vectors(self._database, None if self._tail.likeness is None else self._tail.likeness.embedding)

    def count_tokens(self, text: str) -> int:
        """Count tokens with the counter of this store."""
        if self._counter is not None:
            return self._counter(text)
        from assay.text import estimate_tokens

        return estimate_tokens(text)

    def close(self) -> None:
        """Close every connection; idempotent."""
        if self._executor is not None and self._executor_pid == os.getpid():
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

    def _record(self, draft: Draft) -> Episode:
        item = prepare(draft)
        return self._record_within(lambda tx, add: as_read(tx, add(item)))

    def _record_many(self, events: Iterable[Mapping[str, Any]]) -> list[str]:
        items = [prepare(as_draft(event, origin=self._origin, session=self.session)) for event in events]
        return self._record_within(lambda _, add: [add(item).row["id"] for item in items])

    def _record_within(self, tell: Callable[[Transaction, Callable[[Checked], Written]], T]) -> T:
        """Let a function look at what is held and record, all in one transaction."""
        numbers: list[int] = []

        def told(tx: Transaction) -> T:
            def add(item: Checked) -> Written:
                written = write(tx, item, default_trust=self._default_trust, ceiling=self._ceiling)
                numbers.append(written.row["n"])
                return written

            given = tell(tx, add)
            flush_if_due(tx, numbers)
            return given

        given = self._database.mutate(told)
        self._recorded(numbers)
        return given

    def _recorded(self, numbers: Sequence[int]) -> None:
        """Let the embedder, if there is one, make the vectors of what the index just took in."""
        if self._tail.likeness is not None and flush_is_due(numbers):
            self._tail.likeness.keep_recent(self._database, max(numbers))

    def _finish_erasures(self) -> None:
        from assay.govern.erase import finish_erasures

        finish_erasures(self._database)

    def _worker(self) -> ThreadPoolExecutor:
        if self._executor is None or self._executor_pid != os.getpid():  # the thread does not follow a fork
            from assay.store.proxy import make_worker

            self._executor, self._executor_pid = make_worker(), os.getpid()
        return self._executor

    def _committed(self, entries: Sequence[Entry]) -> None:
        for entry in entries if self._on_audit_event else ():
            self._tell(entry)
        if self._sealer.due and self._open:
            self._sealer.settle(entries[-1].ts)
            self._checkpoint()

    def _tell(self, entry: Entry) -> None:
        import json
        import logging

        from assay.audit.log import encode

        try:
            self._on_audit_event(json.loads(encode(entry)))  # type: ignore[misc]
        except Exception:  # the change stands: an error raised from here would say that it does not
            logging.getLogger("assay.store").exception("on_audit_event failed for entry %d", entry.seq)

    def _checkpoint(self) -> None:
        import logging

        try:
            self.audit.checkpoint()
        except NotAuthorised as error:  # a key is in force that this process does not have
            logging.getLogger("assay.store").warning("no checkpoint was made: %s", error)
        except Exception:  # as above; the next one is due in a while
            logging.getLogger("assay.store").warning("no checkpoint was made", exc_info=True)


def _path(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    if not text or "\0" in text:
        raise InvalidInput("path", "give the path of the database file, or ':memory:'")
    return text if text == ":memory:" else os.path.expanduser(text)  # noqa: PTH111 - pathlib is slow to import


def _likeness(embedder: Embedder) -> Likeness:
    from assay.recall.dense.likeness import Likeness

    return Likeness(embedder)


def _now() -> datetime:
    return datetime.now(UTC)


def _randomness() -> bytes:
    return os.urandom(16)
