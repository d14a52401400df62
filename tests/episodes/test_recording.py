"""What a record keeps, what it refuses, and how it relates to what is held."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from assay import Kind, Origin, Store, Trust, Verdict
from assay.errors import Conflict, InvalidInput, NotAuthorised, NotFound, TooLarge
from assay.model.episode import JsonValue


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "memory.db")


def test_an_episode_keeps_what_it_was_given(store: Store) -> None:
    parent = store.record("the page said so", trust="external")
    stored = store.record(
        "  Deploys go out\non Tuesday ", Kind.DECISION, source="ada", session="s1", run="r1", origin=Origin.USER,
        derived_from=[parent], tags=["ops", "ci"], metadata={"n": 1, "deep": {"list": [1, None, "x"]}},
        happened_at="2026-05-01T12:00:00+02:00",
    )  # fmt: skip
    again = store.episodes.get(stored.ref)
    assert again == stored
    assert again.content == "  Deploys go out\non Tuesday "
    assert (again.kind, again.source, again.session, again.run, again.origin) == ("decision", "ada", "s1", "r1", "user")
    assert again.happened_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert (again.tags, again.derived_from) == (("ops", "ci"), (parent.ref,))
    assert again.metadata == {"n": 1, "deep": {"list": [1, None, "x"]}}
    assert (again.trust, again.effective_trust) == (Trust.AGENT, Trust.EXTERNAL)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": " \n\t"}, "content"),
        ({"content": "nul \0 byte"}, "content"),
        ({"content": "half \ud800 pair"}, "content"),
        ({"content": 7}, "content"),
        ({"content": "x", "kind": "gossip"}, "kind"),
        ({"content": "x", "trust": "absolute"}, "trust"),
        ({"content": "x", "origin": "moon"}, "origin"),
        ({"content": "x", "success": True}, "success"),
        ({"content": "x", "happened_at": "yesterday-ish"}, "happened_at"),
        ({"content": "x", "happened_at": datetime(2026, 1, 1)}, "happened_at"),
        ({"content": "x", "happened_at": "2999-01-01"}, "happened_at"),
        ({"content": "x", "idempotency_key": "not allowed!"}, "idempotency_key"),
        ({"content": "x", "source": "line\nbreak"}, "source"),
        ({"content": "x", "session": ""}, "session"),
        ({"content": "x", "state_key": "k" * 201}, "state_key"),
        ({"content": "x", "tags": ["\x1b[31m"]}, "tags"),
        ({"content": "x", "metadata": {"x": float("nan")}}, "metadata"),
        ({"content": "x", "metadata": {"x": object()}}, "metadata"),
        ({"content": "x", "verdict": "echo"}, "verdict"),
        ({"content": "x", "derived_from": ["ep_00000000"] * 300}, "derived_from"),
    ],
)
def test_bad_input_is_refused_with_the_name_of_the_argument(
    store: Store, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        store.record(**arguments)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert caught.value.code
    assert store.status().episodes == 0
    assert store.verify()


def test_d01_a_text_over_the_limit_is_refused_and_nothing_is_lost(store: Store) -> None:
    store.record("kept")
    with pytest.raises(TooLarge) as caught:
        store.record("ü" * 40_000)
    assert (caught.value.size, caught.value.limit) == (80_000, 65_536)
    assert store.status().episodes == 1


def test_d03_metadata_is_bounded_in_size_and_depth(store: Store) -> None:
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"d": deep}
    with pytest.raises(InvalidInput, match="nested"):
        store.record("x", metadata=deep)  # type: ignore[arg-type]
    with pytest.raises(TooLarge):
        store.record("x", metadata={"x": "y" * 20_000})


def test_d04_the_words_of_sql_are_only_words(store: Store) -> None:
    text = "'); DROP TABLE episode; -- \" OR 1=1 NEAR(a b) col:x *"
    store.record(text, source="x' OR '1'='1", session="s'; --")
    assert [hit.text for hit in store.recall(text)] == [text]
    assert store.recall("x", source="x' OR '1'='1", history=True) is not None
    assert store.verify()


def test_secrets_leave_metadata_as_the_json_that_it_was() -> None:
    secrets: dict[str, JsonValue] = {
        "password": "hunter2hunter2",
        "deep": [{"api_key": "Zx9q8w7e6r5t4y3u"}, "Bearer abcdef1234567890ABCDEF"],
        "url": "postgres://u:S3cr3tpw99@h/db",
        "password=Hunter2hunter2!": 1,
        "note": "plain",
    }
    with Store(":memory:") as store:
        one = store.record("x", metadata=secrets)
        (two,) = store.episodes.record_many([{"content": "y", "metadata": secrets}])
        for ref in (one.ref, two):
            kept = store.episodes.get(ref).metadata
            assert kept["password"] == "[redacted:credential]" and kept["note"] == "plain"
            assert not any(secret in str(kept) for secret in ("hunter2", "Hunter2", "Zx9q", "S3cr3t", "abcdef12345"))


def test_a_secret_is_scrubbed_before_it_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with Store(path) as store:
        stored = store.record(f"the token is {secret}", metadata={"args": {"auth": f"Bearer {secret}"}})
        assert secret not in stored.content and "redacted" in stored.content
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_an_idempotency_key_records_once(store: Store) -> None:
    first = store.record("only once", idempotency_key="k:1")
    assert store.record("only once", idempotency_key="k:1").ref == first.ref
    with pytest.raises(Conflict, match="another content"):
        store.record("something else", idempotency_key="k:1")
    store.erase(first)
    with pytest.raises(Conflict, match="erased"):
        store.record("only once", idempotency_key="k:1")


def test_equal_text_is_an_echo_that_is_stored_and_collapsed(store: Store) -> None:
    first = store.record("yes, go ahead")
    again = store.record("Yes,  go ahead")
    assert (again.verdict, again.verdict_target) == (Verdict.ECHO, first.ref)
    assert store.status().episodes == 2
    assert [hit.id for hit in store.recall("go ahead")] == [first.ref]
    store.episodes.un_echo(again)
    assert [hit.id for hit in store.recall("go ahead", limit=5)] == [again.ref, first.ref]
    assert store.verify()


def test_a_value_that_returns_after_it_was_repeated_holds_again(store: Store) -> None:
    for size in (20, 20, 40, 20):
        store.record(f"pool size is {size}", state_key="db.pool")
    held = store.keys.get("db.pool")
    assert held is not None
    assert (held.content, held.verdict) == ("pool size is 20", Verdict.NEW)
    assert [hit.id for hit in store.recall("pool size")] == [held.ref]


def test_equal_outcomes_that_ended_differently_conflict(store: Store) -> None:
    failed = store.record("ran the migration", Kind.OUTCOME, success=False)
    assert store.record("ran the migration", Kind.OUTCOME, success=False).verdict is Verdict.ECHO
    passed = store.record("ran the migration", Kind.OUTCOME, success=True)
    assert (passed.verdict, passed.verdict_target) == (Verdict.CONFLICTS, failed.ref)


def test_a_state_key_has_one_current_value_and_keeps_the_others(store: Store) -> None:
    old = store.record("pool size is 20", state_key="db.pool")
    new = store.record("pool size is 40", state_key=" DB.Pool ")
    hit = store.recall("what is the pool size")[0]
    assert (hit.id, hit.replaces) == (new.ref, (store.recall(history=True, refs=[old])[0].ref,))
    assert store.keys.get("db.pool") == new
    assert [episode.ref for episode in store.keys.history("db.pool")] == [new.ref, old.ref]
    assert store.episodes.get(old).replaced_by == new.ref


def test_a_back_dated_value_goes_into_the_history(store: Store) -> None:
    new = store.record("pool size is 40", state_key="db.pool", happened_at="2026-05-01")
    old = store.record("pool size is 20", state_key="db.pool", happened_at="2026-04-01")
    assert store.keys.get("db.pool") == store.episodes.get(new)
    assert store.episodes.get(old).replaced_by == new.ref


def test_b11_a_value_of_lower_trust_does_not_take_a_state_key(store: Store) -> None:
    held = store.record("pool size is 40", state_key="db.pool")
    page = store.record("pool size is 9999", state_key="db.pool", trust="external")
    assert store.keys.get("db.pool") == store.episodes.get(held)
    assert page.verdict_target is None
    newer = store.record("pool size is 41", state_key="db.pool")
    assert store.keys.get("db.pool") == newer


def test_b10_an_explicit_succession_needs_the_trust_of_what_it_replaces(store: Store) -> None:
    held = store.record("the backup runs at midnight")
    with pytest.raises(Conflict, match="external does not replace agent"):
        store.record("the backup runs at noon", supersedes=[held], trust="external")
    assert store.status().episodes == 1


def test_a_correction_takes_the_place_of_the_old_text(store: Store) -> None:
    old = store.record("the backup runs at midnight")
    new = store.correct(old, "the backup runs at three in the morning")
    assert [hit.id for hit in store.recall("when does the backup run")] == [new.ref]
    assert {hit.id for hit in store.recall("backup", history=True)} == {old.ref, new.ref}
    with pytest.raises(Conflict, match="different things"):
        store.correct(new, "penguins cannot fly")
    with pytest.raises(Conflict, match="replaced already"):
        store.correct(old, "the backup runs at noon")


def test_trust_follows_derivation_over_every_hop(store: Store) -> None:
    page = store.record("the page says so", trust="external")
    note = store.record("my own note")
    summary = store.record("a summary", derived_from=[note, page])
    conclusion = store.record("a conclusion", derived_from=[summary])
    assert conclusion.trust is Trust.AGENT
    assert conclusion.effective_trust is Trust.EXTERNAL
    assert store.record("from my note alone", derived_from=[note]).effective_trust is Trust.AGENT


def test_what_derives_from_an_erased_source_counts_as_external(store: Store) -> None:
    note = store.record("my own note")
    derived = store.record("built on it", derived_from=[note])
    store.erase(note)
    assert store.episodes.get(derived).effective_trust is Trust.EXTERNAL


def test_b18_nothing_is_recorded_above_the_ceiling(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotAuthorised, match="ceiling"):
        store.record("believe me", trust="operator")
    with Store(tmp_path / "op.db", trust_ceiling=Trust.OPERATOR) as host:
        assert host.record("the operator says so", trust="operator").trust is Trust.OPERATOR
    with pytest.raises(NotAuthorised, match="trust_ceiling"):
        Store(tmp_path / "x.db", default_trust="operator")


def test_the_default_trust_can_be_lowered(tmp_path: Path) -> None:
    with Store(tmp_path / "feed.db", default_trust="external") as store:
        assert store.record("from the feed").trust is Trust.EXTERNAL


def test_a_tool_is_trusted_as_a_tool(store: Store) -> None:
    assert store.record("result: 4", origin="tool").trust is Trust.TOOL


def test_times_without_offset_are_utc_and_a_date_is_that_day(store: Store) -> None:
    assert store.record("a", happened_at="2026-05-01T12:00:00").happened_at == datetime(2026, 5, 1, 12, tzinfo=UTC)
    day = store.record("b", happened_at=date(2026, 5, 1))
    assert next(hit.id for hit in store.recall(since="2026-05-01", until="2026-05-01", history=True)) == day.ref
    assert not store.recall(since="2026-05-02", history=True)


def test_b12_the_future_is_refused_but_for_a_small_skew(store: Store) -> None:
    with pytest.raises(InvalidInput, match="future"):
        store.record("x", happened_at=datetime.now(UTC) + timedelta(minutes=10))
    store.record("x", happened_at=datetime.now(UTC) + timedelta(minutes=2))


@pytest.mark.parametrize("ref", ["", "nonsense", "ep_zzzzzzzz", "ep_", "be_00000000", "ep_" + "0" * 60, "EP_\x00"])
def test_an_unknown_ref_says_so_and_nothing_is_written(store: Store, ref: str) -> None:
    with pytest.raises(NotFound):
        store.record("x", derived_from=[ref])
    with pytest.raises(NotFound):
        store.erase(ref)
    with pytest.raises(NotFound):
        store.explain(ref)
    assert store.status().episodes == 0


def test_a_shown_ref_is_short_unique_and_resolves_in_any_case(tmp_path: Path) -> None:
    frozen = datetime(2026, 5, 1, tzinfo=UTC)
    with Store(tmp_path / "memory.db", clock=lambda: frozen) as store:
        episodes = [store.record(f"event {at}") for at in range(300)]
        shown = [hit.ref for hit in store.recall("event", limit=300)]
        assert len(set(shown)) == 300
        assert all(len(ref) >= 11 for ref in shown)
        assert max(len(ref) for ref in shown) <= 15
        assert {store.episodes.get(ref.upper()).ref for ref in shown} == {episode.ref for episode in episodes}
        prefixes = [episode.ref[:11] for episode in episodes]
        shared = next(prefix for prefix in prefixes if prefixes.count(prefix) > 1)
        with pytest.raises(NotFound, match="several"):
            store.episodes.get(shared)


def test_a_shown_ref_goes_on_to_name_one_episode_while_more_is_recorded(tmp_path: Path) -> None:
    """Within four seconds, ids that come later may begin with the same eight characters."""
    now = [datetime(2026, 5, 1, tzinfo=UTC)]
    number = iter(range(100))
    with Store(
        tmp_path / "memory.db", clock=lambda: now[0], ids=lambda: (next(number) << 70).to_bytes(16, "big")
    ) as store:
        first = store.record("the gate is green")
        shown = store.recall("gate")[0].ref
        second = store.record("the door is red")
        assert first.ref[:11] == second.ref[:11]
        assert store.episodes.get(shown).ref == first.ref
        now[0] += timedelta(seconds=8)
        store.record("the roof is blue")
        assert len(store.recall("roof")[0].ref) == 15
        assert len(store.recall("gate")[0].ref) > 11  # its neighbour begins alike


def test_ids_and_clock_are_the_callers_for_tests(tmp_path: Path) -> None:
    def made(path: Path) -> list[str]:
        at = iter(range(100))
        with Store(
            path, clock=lambda: datetime(2026, 5, 1, tzinfo=UTC), ids=lambda: next(at).to_bytes(16, "big")
        ) as store:
            return [store.record(text).ref for text in ("one", "two")]

    assert made(tmp_path / "a.db") == made(tmp_path / "b.db")


def holders(store: Store, key: str) -> list[str]:
    """Give what recall serves as current under a state key."""
    return [hit.id for hit in store.recall(state_key=key)]


def test_a_value_said_again_is_still_the_value(store: Store) -> None:
    first = store.record("enabled now", state_key="a")
    again = store.record("enabled now", state_key="a")
    other = store.record("enabled now", state_key="b")
    assert again.verdict is Verdict.ECHO and other.verdict is Verdict.NEW
    assert holders(store, "a") == [first.ref] and holders(store, "b") == [other.ref]
    assert store.keys.get("a") == store.episodes.get(first)
    assert [hit.id for hit in store.recall("enabled", state_key="b")] == [other.ref]


def test_a_lower_trust_never_replaces_a_higher_one_whichever_came_first(store: Store) -> None:
    page = store.record("the limit is 9", state_key="limit", trust="external", happened_at="2026-02-01")
    agent = store.record("the limit is 5", state_key="limit", happened_at="2026-01-01")
    assert store.keys.get("limit") == store.episodes.get(agent)
    assert store.episodes.get(agent).replaced_by is None and store.episodes.get(page).verdict_target is None


def test_a_state_key_has_one_holder_after_erase_quarantine_and_changed_trust(store: Store) -> None:
    first = store.record("the limit is 1", state_key="limit", happened_at="2026-01-01")
    third = store.record("the limit is 3", state_key="limit", happened_at="2026-03-01")
    second = store.record("the limit is 2", state_key="limit", happened_at="2026-02-01")
    store.erase(third)
    assert holders(store, "limit") == [second.ref]
    store.episodes.quarantine(second)
    assert holders(store, "limit") == [first.ref]
    fourth = store.record("the limit is 4", state_key="limit", happened_at="2026-01-15")
    store.episodes.quarantine(second, release=True)
    assert holders(store, "limit") == [second.ref]
    store.authority.set_trust(second, "external")
    assert store.keys.get("limit") == store.episodes.get(fourth)
    assert store.record("the limit is 5", state_key="limit").ref in holders(store, "limit")
    assert len([ref for ref in holders(store, "limit") if ref != second.ref]) == 1
    assert store.verify()


@pytest.mark.parametrize(
    ("content", "metadata"),
    [("Pool size is 40", {}), ("pool  size is 40", {}), ("pool size is 40", {"unit": "connections"})],
)
def test_a_value_in_other_letters_or_with_other_metadata_is_another_value(
    store: Store, content: str, metadata: dict[str, JsonValue]
) -> None:
    first = store.record("pool size is 40", state_key="db.pool")
    assert store.record("pool size is 40", state_key="db.pool").verdict is Verdict.ECHO
    other = store.record(content, state_key="db.pool", metadata=metadata)
    holder = store.keys.get("db.pool")
    assert holder is not None and holder.ref == other.ref
    assert store.episodes.get(first).replaced_by == other.ref
    again = store.record("pool size is 40", state_key="db.pool")
    assert again.verdict is Verdict.NEW and store.verify()
