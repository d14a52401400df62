"""`Store`: hands each verb to the room that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from assay.episodes.draft import Draft, as_member
from assay.model.episode import Episode, JsonValue
from assay.model.labels import Kind, Origin, Trust, Verdict
from assay.model.times import to_us
from assay.store.namespaces import as_ref
from assay.store.opening import OpenStore

if TYPE_CHECKING:
    from assay.audit.proofs.checkpoints import Source
    from assay.model.explanation import Erasure, Explanation
    from assay.model.recall import Briefing, Hit, Recall
    from assay.model.status import Status, Verification
    from assay.model.wrap import Composer, WrapPackage, WrapResult
    from assay.recall.query import Mode

    Ref = str | Episode | Hit

__all__ = ["Store"]

When = datetime | date | str


class Store(OpenStore):
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
        on_audit_event: Called with each entry of the log after its commit; what it raises is logged.
        signer: Signs the checkpoints of the log.
        embedder: Turns a list of texts into vectors; what is alike moves up among what shares words.

    Raises:
        StorageFailure: The file cannot be opened, is not ours, or is newer than this version.
    """

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
            verdict: How it relates to `target`, if the caller knows: echo, refines or conflicts; `new`: to nothing,
                even if another one has the same words.
            inferred: Whether `derived_from` was inferred rather than stated.

        Raises:
            InvalidInput: An argument cannot be accepted.
            Conflict: The key belongs to another content, or a succession is not possible.
            NotAuthorised: The trust is above this store's ceiling.
            NotFound: A ref names nothing.
            Busy: Other writers held the store until the timeout.
        """
        draft = Draft(
            content, as_member("kind", kind, Kind),
            self._origin if origin is None else as_member("origin", origin, Origin),
            source, self.session if session is None else session, run,
            None if trust is None else as_member("trust", trust, Trust), success, state_key,
            [as_ref(item) for item in derived_from], [as_ref(item) for item in supersedes], tags, metadata or {},
            happened_at, idempotency_key, None if verdict is None else as_member("verdict", verdict, Verdict),
            None if target is None else as_ref(target), inferred,
        )  # fmt: skip
        return self._record(draft)

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
        metadata: Mapping[str, JsonValue] | None = None,
        phrase: str = "",
        exclude: Sequence[Ref] = (),
        exclude_recent: timedelta | None = None,
        history: bool = False,
        valid_at: When | None = None,
        known_at: When | None = None,
        limit: int = 10,
        after: str | None = None,
        mode: Mode | str = "broad",
    ) -> Recall:
        """Find episodes that answer a question; never writes.

        `session`, `state_key`, `refs` and `source` search all that they name, other filters the 8,192 that fit best.

        Args:
            text: A question or words; "" gives the newest.
            since: Happened at this time or later: a time, a date, or an age such as `3d`.
            until: Happened at this time or before.
            trust: Of at least this effective trust.
            phrase: What must be held word for word.
            exclude: What is still in the conversation.
            exclude_recent: Leave out what was recorded so recently.
            history: Also what was replaced, and every repetition.
            valid_at: What was true of the world then; a date is the end of that day.
            known_at: What the store knew then, without what was erased since.
            limit: At most so many hits, 1 to 1000.
            after: `Recall.next` of the page before.
            mode: `precise` gives no hits at all rather than any that do not bear on the question.

        Raises:
            InvalidInput: An argument cannot be accepted.
            NotFound: A ref names nothing.
        """
        from assay.recall.search import search
        from assay.store.questions import as_query

        now = self._clock()
        with self._database.read() as reader:
            query = as_query(
                reader, text, kinds=kinds, since=since, until=until, tags=tags, trust=trust, session=session,
                source=source, state_key=state_key, refs=None if refs is None else [as_ref(item) for item in refs],
                exclude=[as_ref(item) for item in exclude], exclude_recent=exclude_recent, history=history,
                valid_at=valid_at, known_at=known_at, limit=limit, after=after, now=now, mode=mode,
                metadata=metadata, phrase=phrase,
            )  # fmt: skip
            return search(reader, query, self._tail, now_us=to_us(now))

    def briefing(
        self,
        goal: str = "",
        *,
        tokens: int = 1200,
        session: str | None = None,
        run: str | None = None,
        exclude: Sequence[Ref] = (),
        continuity: bool = True,
        deadline: float | None = None,
    ) -> Briefing:
        """Fit the memory that bears on a goal into a token budget, fenced as data for a prompt.

        Args:
            goal: What the agent is about to do, or the user's question; "" for the newest events.
            tokens: Budget in tokens of the store's counter, everything included.
            session: Names the fence when there is no `run`.
            run: Names the fence: equal runs and equal memory give equal text.
            exclude: What is still in the conversation.
            continuity: Begin with the continuity; False when it is still in the conversation.
            deadline: Seconds after which to give up.

        Raises:
            InvalidInput: The goal is no text, or the budget no number.
            TimeoutError: The deadline passed.
        """
        from assay.recall.briefing import brief
        from assay.recall.scoring import Deadline
        from assay.store.questions import full_refs

        with self._database.read() as reader:
            return brief(
                reader,
                goal,
                tokens=tokens,
                counter=self.count_tokens,
                cache=self._tail,
                label=run or session or self.session or "store",
                exclude=frozenset(full_refs(reader, [as_ref(item) for item in exclude])),
                now_us=to_us(self._clock()),
                deadline=Deadline(deadline),
                with_continuity=continuity,
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

        target = as_ref(ref)
        self._database.mutate(lambda tx: add_result(tx, target, worked, note, actor=self._origin.value))

    def explain(self, ref: Ref) -> Explanation:
        """Say where an episode or a belief comes from, and which entries of the log wrote it.

        Raises:
            NotFound: The ref names nothing.
        """
        from assay.store.reports import explain

        with self._database.read() as reader:
            return explain(reader, as_ref(ref))

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

        return erase(self._database, [as_ref(ref)], reason=reason, actor=self._origin.value)

    def verify(
        self,
        *,
        limit: int = 20,
        anchors: Source | Sequence[Source] = (),
        anchor_max_age: timedelta | None = None,
        key: str | None = None,
        since_anchor: bool = False,
        index: bool = True,
    ) -> Verification:
        """Replay the audit log against every live row, in constant memory.

        Args:
            limit: How many problems are named.
            anchors: Checkpoints that were kept elsewhere: files of them, or texts.
            anchor_max_age: How old the newest anchor may be.
            key: A verifier key of this store that you keep yourself.
            since_anchor: Check only what came after the newest anchor, or without anchors the newest checkpoint.
            index: Also build the search index anew, and compare.

        Raises:
            InvalidInput: Anchors or key cannot be read.
        """
        from assay.audit.verify import verify
        from assay.recall.checking import check_index

        with self._database.read() as reader:
            return verify(
                reader, limit=limit, anchors=anchors, max_age=anchor_max_age, now=to_us(self._clock()), key=key,
                since_anchor=since_anchor, derived=check_index if index else None,
            )  # fmt: skip

    def status(self) -> Status:
        """Count what the store holds, without any content."""
        from assay.store.reports import status

        with self._database.read() as reader:
            return status(reader, self.path, self.count_tokens)
