"""Whatever a store has been through, its export comes back as the same store, to the byte."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import Kind, Store, Trust
from assay.errors import AssayError

WORDS = (
    "deploys",
    "friday",
    "rolled back",
    "pool",
    "40",
    "部署",
    "星期五",
    "قاعدة",
    "naïve",
    "\u2028",
    "\U0001f600",
    '"\\n',
    "#",
)
text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join) | st.text(min_size=1, max_size=40)
label = st.sampled_from(("", "ada", "bob", "web"))
number = st.integers(0, 30)
record = st.fixed_dictionaries(
    {
        "content": text,
        "kind": st.sampled_from([kind for kind in Kind if kind is not Kind.OUTCOME]),
        "source": label,
        "session": st.sampled_from((None, "s1", "s2", "s3")),
        "trust": st.sampled_from((None, Trust.AGENT, Trust.TOOL, Trust.EXTERNAL)),
        "state_key": st.sampled_from((None, None, "db.pool", "Owner")),
        "tags": st.lists(st.sampled_from(("ops", "ü")), max_size=2),
        "metadata": st.dictionaries(
            st.sampled_from(("a", "b")), st.floats(allow_nan=False, width=32) | text, max_size=2
        ),
        "parents": st.lists(number, max_size=2),
        "minutes": st.integers(0, 10_000),
    }
)
step = st.one_of(
    st.tuples(st.just("record"), record),
    st.tuples(st.sampled_from(("erase", "quarantine", "result", "trust")), number),
    st.tuples(st.just("supersede"), st.tuples(number, number)),
    st.tuples(st.just("wrap"), st.none()),
)
START = datetime(2026, 1, 1, tzinfo=UTC)


def take(store: Store, refs: list[str], name: str, given_value: Any) -> None:
    """Take one step; one that the store refuses changes nothing."""
    if name == "record":
        parents = [refs[at % len(refs)] for at in given_value["parents"]] if refs else []
        rest = {key: value for key, value in given_value.items() if key not in ("parents", "minutes")}
        happened = START + timedelta(minutes=given_value["minutes"], microseconds=given_value["minutes"])
        refs.append(store.record(**rest, derived_from=parents, happened_at=happened).ref)
    elif name == "wrap":
        store.wrap(session="s1")
    elif refs and name == "supersede":
        old, new = given_value
        store.episodes.supersede(refs[old % len(refs)], refs[new % len(refs)])
    elif refs:
        ref = refs[given_value % len(refs)]
        if name == "erase":
            store.erase(ref, reason="asked")
        elif name == "quarantine":
            store.episodes.quarantine(ref)
        elif name == "result":
            store.result(ref, given_value % 2 == 0, note="as it went")
        else:
            store.authority.set_trust(ref, Trust.EXTERNAL)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(record, max_size=8), st.lists(step, max_size=12))
def test_every_store_comes_back_as_it_was(records: list[dict[str, Any]], steps: list[tuple[str, Any]]) -> None:
    with TemporaryDirectory() as folder, Store(":memory:") as store, Store(":memory:") as copy:
        refs: list[str] = []
        for name, value in (*(("record", one) for one in records), *steps):
            try:
                take(store, refs, name, value)
            except AssayError:
                continue
        first, second = Path(folder) / "first", Path(folder) / "second"
        store.transfer.export_jsonl(first)
        assert copy.transfer.import_jsonl(first).whole
        copy.transfer.export_jsonl(second)
        assert second.read_bytes() == first.read_bytes()
        assert list(copy.episodes.list()) == list(store.episodes.list())
        assert copy.beliefs.list() == store.beliefs.list()
        for question in ("friday deploys", "星期五", "pool 40"):
            assert [hit.id for hit in copy.recall(question)] == [hit.id for hit in store.recall(question)]
        assert store.verify()
        assert copy.verify(), copy.verify()
