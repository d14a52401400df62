"""Optional vectors: an embedder moves up what is alike among what shares words, and nothing depends on it."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from assay import Store
from assay.errors import Conflict, InvalidInput
from assay.recall import index
from assay.recall.dense.embedding import Embedding, similarity
from assay.recall.dense.likeness import lifted
from assay.storage import vector_rows


class Trigrams:
    """A small embedder: counts of a text's trigrams, hashed into a few places."""

    name = "trigrams"

    def __init__(self, size: int = 64) -> None:
        self.size = size
        self.calls: list[int] = []

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for at in range(len(text) - 2):
            vector[zlib.crc32(text[at : at + 3].encode()) % self.size] += 1.0
        return vector


class Others(Trigrams):
    name = "others"


@pytest.fixture
def embedder() -> Trigrams:
    return Trigrams()


@pytest.fixture
def store(tmp_path: Path, embedder: Trigrams, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(index, "FLUSH_AT", 8)
    with Store(tmp_path / "memory.db", embedder=embedder) as opened:
        yield opened


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "assay.recall"]


CORPUS = [
    ("The deployment pipeline failed at the signing step", "which deployment step was failing?"),
    ("Deployments are scheduled for Tuesday mornings", "when is deployment scheduled?"),
    ("The database pool was resized to forty connections", "how big is the database connection pool?"),
    ("The database was restored from the nightly backup", "where was the database restored from?"),
    ("Caroline adopted a puppy from the shelter", "what pet did Caroline adopt?"),
    ("Caroline moved to the apartment by the river", "where does Caroline live, which apartment?"),
    ("The quarterly report is due on Friday", "when is the quarterly reporting due?"),
    ("The quarterly budget was approved by finance", "who approved the quarterly budgeting?"),
    ("Retries of the billing service back off exponentially", "how do billing retries back off?"),
    ("The billing service logs every failed charge", "what does the billing service log?"),
]


@pytest.mark.parametrize("hits", [1, 2, 3, 5])
def test_vectors_never_find_less_than_words_alone(store: Store, hits: int) -> None:
    refs = [store.record(text).ref for text, _ in CORPUS]
    with Store(store.path) as plain:
        found = [
            sum(
                ref in [hit.id for hit in one.recall(ask, limit=hits)]
                for ref, (_, ask) in zip(refs, CORPUS, strict=True)
            )
            for one in (plain, store)
        ]
        assert found[1] >= found[0] > 5
        for _, question in CORPUS:  # the candidates are those of the words
            assert {hit.id for hit in store.recall(question)} == {hit.id for hit in plain.recall(question)}


def test_likeness_is_a_signal_of_the_score(store: Store) -> None:
    store.record("the deploy of the billing service failed")
    near = store.record("a deployment failed: billing deployments are failing")
    for hit in store.recall("deploy: billing deployments failing"):
        assert hit.score == pytest.approx(sum(hit.why.values()))
        assert 0 <= hit.why.get("likeness", 0.0) <= 0.3 * hit.score
    assert store.recall("deploy: billing deployments failing")[0].id == near.ref


def test_vectors_are_made_in_bulk_when_the_index_takes_episodes_in(store: Store, embedder: Trigrams) -> None:
    for at in range(7):
        store.record(f"event {at}")
    assert embedder.calls == []
    store.record("event 7")
    assert embedder.calls == [8]
    assert store.vectors.state().kept == 8
    store.record("event 8")
    store.recall("event")
    store.recall("event")
    assert embedder.calls == [8, 2, 1]  # the question and what is not kept yet; then it is remembered
    assert store.vectors.state() == store.vectors.state().__class__("trigrams", 64, 8, 1)


def test_an_erased_episode_takes_its_vector_along(store: Store) -> None:
    refs = [store.record(f"event {at} of the launch") for at in range(8)]
    with store._database.read() as reader:
        (vector,) = vector_rows.vectors(reader, [refs[3].n]).values()
    store.erase(refs[3])
    assert store.vectors.state().kept == 7
    assert all(vector not in file.read_bytes() for file in Path(store.path).parent.iterdir())


def test_what_is_erased_while_the_embedder_works_gets_no_vector(tmp_path: Path) -> None:
    class Erasing(Trigrams):
        def __call__(self, texts: Sequence[str]) -> list[list[float]]:
            if len(texts) > 1:
                store.erase(first)
            return super().__call__(texts)

    with Store(tmp_path / "memory.db", embedder=Erasing()) as store:
        first = store.record("event one")
        store.record("event two")
        assert store.vectors.reembed() == 2
        assert (store.vectors.state().kept, store.vectors.state().missing) == (1, 0)


def test_vectors_of_another_embedder_are_not_used_until_they_are_made_anew(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    for text, _ in CORPUS:
        store.record(text)
    with Store(store.path, embedder=Others()) as changed:
        with caplog.at_level(logging.WARNING):
            hits = changed.recall(CORPUS[0][1])
            changed.recall(CORPUS[1][1])
        assert all("likeness" not in hit.why for hit in hits) and hits
        assert told(caplog) == ["the vectors are of 'trigrams', the embedder is 'others': run `assay reembed`"]
        for at in range(8):
            changed.record(f"later event {at}")
        assert changed.vectors.state().embedder == "trigrams"
        assert changed.vectors.reembed() == len(CORPUS) + 8
        assert changed.vectors.state().__class__("others", 64, 18, 0) == changed.vectors.state()
        assert "likeness" in changed.recall(CORPUS[0][1])[0].why
        assert changed.vectors.reembed() == 0
        assert changed.vectors.reembed(everything=True) == 18
        assert changed.verify()


def test_vectors_of_another_length_are_not_compared(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    for text, _ in CORPUS:
        store.record(text)
    with Store(store.path, embedder=Trigrams(32)) as changed:
        hits = changed.recall(CORPUS[0][1])
        assert all("likeness" not in hit.why for hit in hits) and hits
        with pytest.raises(Conflict, match="another length"):
            changed.vectors.reembed()
        assert changed.vectors.reembed(everything=True) == len(CORPUS)
        assert "likeness" in changed.recall(CORPUS[0][1])[0].why
    assert any("another length" in line for line in told(caplog))


def test_a_failing_embedder_stops_neither_record_nor_recall(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(texts: Sequence[str]) -> list[list[float]]:
        raise ConnectionError("secret content")

    monkeypatch.setattr(index, "FLUSH_AT", 8)
    with Store(tmp_path / "memory.db", embedder=broken) as store:
        for at in range(9):
            store.record(f"event {at}")
        assert len(store.recall("event")) == 9
        assert store.briefing("event")
        assert (store.vectors.state().embedder, store.vectors.state().missing) == (None, 9)
    assert [line.rsplit(": ")[-1] for line in told(caplog)] == ["ConnectionError", "ConnectionError"]
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    "vectors", [[[1.0]], [[1.0], [1.0, 2.0]], [[1.0], [float("nan")]], [[1.0], [float("inf")]], [[1.0], []]]
)
def test_what_are_no_vectors_is_refused(vectors: list[list[float]]) -> None:
    def embed(texts: Sequence[str]) -> Iterable[Iterable[float]]:
        return vectors

    with pytest.raises(InvalidInput, match="embedder"):
        Embedding(embed)(["a", "b"])


def test_an_embedder_is_known_by_its_name_or_by_where_it_is_defined(tmp_path: Path) -> None:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    assert Embedding(Trigrams()).name == "trigrams"
    assert Embedding(embed).name.endswith(
        "test_likeness.test_an_embedder_is_known_by_its_name_or_by_where_it_is_defined.<locals>.embed"
    )
    with pytest.raises(InvalidInput, match="function"):
        Store(tmp_path / "memory.db", embedder="minilm")  # type: ignore[arg-type]


def test_vectors_have_length_one_whatever_the_embedder_gives() -> None:
    one, same, across, nothing = Embedding(lambda texts: [[3, 4], [30, 40], [-4, 3], [0, 0]])(["a", "b", "c", "d"])
    assert similarity(one, same) == pytest.approx(1.0)
    assert similarity(one, across) == pytest.approx(0.0)
    assert similarity(one, nothing) == 0.0


def test_likeness_weighs_less_than_a_third_of_what_words_tell_apart() -> None:
    scores = {1: 10.0, 2: 6.9, 3: 5.0, 4: 0.5}
    assert lifted(scores, {1: -1.0, 2: 0.9, 3: 0.1, 4: 0.2}) == pytest.approx(
        {2: 0.3 * 9.5, 3: 0.17, 4: 0.51}, abs=0.02
    )
    assert lifted(scores, dict.fromkeys(scores, 0.5)) == {}
    assert lifted({1: 4.0, 2: 4.0}, {1: 0.1, 2: 0.9}) == pytest.approx({2: 1.2})
    assert lifted({1: 4.0}, {1: 0.9}) == {}


def test_a_store_without_an_embedder_has_no_vectors_to_make() -> None:
    with Store(":memory:") as store, pytest.raises(InvalidInput, match="embedder"):
        store.vectors.reembed()
