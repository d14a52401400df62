"""Recall answers from one snapshot, says why, and never writes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from assay import Kind, Store, Trust
from assay.errors import Conflict, InvalidInput
from assay.recall import index
from assay.recall.scoring import Deadline


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "memory.db")


def test_the_best_match_comes_first_and_its_signals_sum_to_its_score(store: Store) -> None:
    store.record("the cat sleeps on the sofa")
    wanted = store.record("deploys of the billing service go out on Tuesday")
    store.record("the billing report is late")
    hits = store.recall("when does the billing service deploy?")
    assert hits[0].id == wanted.ref
    for hit in hits:
        assert hit.score == pytest.approx(sum(hit.why.values()))
    assert all("cat" not in hit.text for hit in hits)


def test_recall_never_writes(store: Store, tmp_path: Path) -> None:
    store.record("something")
    before = store.audit.head(), store.status()
    store.recall("something")
    store.recall("")
    assert (store.audit.head(), store.status()) == before


def test_nothing_relevant_is_an_answer(store: Store) -> None:
    store.record("the cat sleeps on the sofa")
    found = store.recall("quarterly revenue")
    assert found.nothing_relevant and len(found) == 0 and found.next is None
    assert not store.recall("cat").nothing_relevant


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("部署在每周二进行", "什么时候部署"),
        ("デプロイは火曜日に行います", "デプロイはいつ"),
        ("배포는 화요일에 진행됩니다", "배포 화요일"),
        ("Развёртывание проходит по вторникам", "когда проходит развёртывание"),
        ("يتم النشر يوم الثلاثاء", "متى يتم النشر"),
        ("การปรับใช้จะทำทุกวันอังคาร", "ปรับใช้วันไหน"),
        ("Die Auslieferungen erfolgen dienstags", "wann erfolgt die Auslieferung"),
        ("तैनाती मंगलवार को होती है", "तैनाती कब"),
    ],
)
def test_every_language_finds_its_own_words(store: Store, text: str, question: str) -> None:
    for other in ("the cat sleeps", "猫在沙发上睡觉", "кошка спит на диване", "القطة تنام على الأريكة", "แมวนอนบนโซฟา"):
        store.record(other)
    wanted = store.record(text)
    assert store.recall(question)[0].id == wanted.ref


def test_filters_narrow(store: Store) -> None:
    a = store.record(
        "deploy alpha", Kind.DECISION, source="ada", session="s1", tags=["ops", "x"], happened_at="2026-01-01"
    )
    b = store.record("deploy beta", Kind.OUTCOME, success=True, source="bob", session="s2", happened_at="2026-02-01")
    c = store.record("deploy gamma", trust="external", happened_at="2026-03-01")

    def found(**filters: object) -> set[str]:
        return {hit.id for hit in store.recall("deploy", **filters)}  # type: ignore[arg-type]

    assert found() == {a.ref, b.ref, c.ref}
    assert found(kinds=[Kind.DECISION]) == found(source="ada") == found(session="s1") == found(tags=["ops"]) == {a.ref}
    assert found(kinds=["outcome"]) == found(since="2026-02-01", until="2026-02-01") == {b.ref}
    assert found(trust=Trust.TOOL) == {a.ref, b.ref}
    assert found(exclude=[a, b]) == found(refs=[c]) == {c.ref}
    assert found(exclude_recent=timedelta(minutes=5)) == set()
    assert found(since="3d") == set()


def test_a_narrow_filter_finds_what_ranks_low(store: Store) -> None:
    rare = store.record("deploy once", source="ada")
    for at in range(400):
        store.record(f"deploy deploy deploy number {at}")
    assert [hit.id for hit in store.recall("deploy", source="ada")] == [rare.ref]


def test_pages_follow_one_another(store: Store) -> None:
    refs = [store.record(f"deploy number {at}").ref for at in range(25)]
    seen: list[str] = []
    cursor = None
    while True:
        page = store.recall("deploy", limit=10, after=cursor)
        seen += [hit.id for hit in page]
        cursor = page.next
        if cursor is None:
            break
    assert sorted(seen) == sorted(refs) and len(seen) == 25
    newest = store.recall(limit=10)
    assert [hit.id for hit in newest] == refs[::-1][:10]
    assert [hit.id for hit in store.recall(limit=10, after=newest.next)] == refs[::-1][10:20]


@pytest.mark.parametrize(
    "arguments", [{"limit": 0}, {"limit": 1001}, {"after": "x"}, {"kinds": ["gossip"]}, {"since": "soon"}]
)
def test_bad_arguments_are_refused(store: Store, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        store.recall("x", **arguments)  # type: ignore[arg-type]


def test_who_speaks_counts(store: Store) -> None:
    store.record("I went hiking in the mountains", source="Caroline")
    wanted = store.record("I went hiking in the mountains too", source="Melanie")
    assert store.recall("Where did Melanie go hiking?")[0].id == wanted.ref


def test_what_stands_beside_in_the_session_counts(store: Store) -> None:
    store.record("the weather is fine", session="a")
    store.record("Which restaurant did you choose for the anniversary?", session="b")
    answer = store.record("The little Italian one by the river", session="b")
    assert answer.ref in [hit.id for hit in store.recall("restaurant for the anniversary", limit=2)]


def test_a_correction_into_a_text_that_is_held_already_shows_it_once(store: Store) -> None:
    held = store.record("deploys go out on Wednesday")
    wrong = store.record("deploys go out on Tuesday")
    store.correct(wrong, "deploys go out on Wednesday")
    assert [hit.id for hit in store.recall("when do deploys go out?")] == [held.ref]
    assert [hit.id for hit in store.recall("")] == [held.ref]
    with pytest.raises(Conflict, match="itself replaced"):
        store.episodes.supersede(held, wrong)


def test_a_ring_that_an_erasure_closes_hides_nothing(store: Store) -> None:
    first, again, last = (store.record("deploys go out on Wednesday", happened_at="2026-01-01") for _ in range(3))
    other = store.record("deploys go out on Tuesday", happened_at="2026-01-01")
    store.episodes.supersede(other, last)
    store.episodes.supersede(again, other)
    store.erase(first)  # now the last repeats `again`, which `other` replaced, which the last replaced
    left = {again.ref, last.ref, other.ref}
    assert {hit.id for hit in store.recall("deploys")} == {hit.id for hit in store.recall("")} == left


def test_the_deadline_is_kept_inside_the_search(store: Store) -> None:
    store.record("something to find")
    with pytest.raises(TimeoutError), store._database.read() as reader:
        from assay.recall.query import Query
        from assay.recall.search import search

        search(reader, Query("something"), store._tail, now_us=0, deadline=Deadline(-1))


def test_the_tail_and_the_segments_rank_alike(store: Store, tmp_path: Path) -> None:
    texts = [f"event {at} about topic{at % 5} and deploy{at % 3}" for at in range(120)]
    for text in texts:
        store.record(text)
    before = [(hit.text, round(hit.score, 9)) for hit in store.recall("topic3 deploy1", limit=50)]
    store._database.mutate(index.rebuild)
    assert [(hit.text, round(hit.score, 9)) for hit in store.recall("topic3 deploy1", limit=50)] == before


def test_an_index_of_an_older_tokeniser_is_rebuilt(store: Store) -> None:
    for at in range(300):
        store.record(f"event {at}")
    store._database.mutate(lambda tx: tx.write("UPDATE index_state SET tokeniser = tokeniser + 1000"))
    store._database.mutate(lambda tx: tx.write("DELETE FROM posting"))
    for at in range(300):
        store.record(f"later event {at}")
    assert store.recall("event 17")[0].text == "event 17"
