"""T7: what is edited behind the store's back is noticed; the claims are those of `python -m bench torture`."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.torture import tamper

from assay import Breach, Store


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> tamper.Scene:
    return tamper.build(tmp_path_factory.mktemp("tamper"))


def test_what_nobody_edited_verifies(scene: tamper.Scene) -> None:
    for path in (scene.was, scene.now, scene.other):
        with Store(path, read_only=True) as store:
            assert not store.verify().problems
    with Store(scene.now, read_only=True) as store:
        assert store.verify(anchors=[scene.early, scene.late])


@pytest.mark.parametrize("case", tamper.CASES)
def test_t7_a_tampering_is_noticed(scene: tamper.Scene, case: str, tmp_path: Path) -> None:
    alone, anchored = tamper.play(scene, tmp_path / "edited.db", case)
    assert not anchored.valid and anchored.problems and anchored.breaches, case
    assert alone.valid is (case in tamper.UNSEEN_WITHOUT_ANCHOR), alone.problems


def test_t7_four_of_five_are_noticed_without_an_anchor() -> None:
    assert len(tamper.CASES) >= 25
    assert len(tamper.UNSEEN_WITHOUT_ANCHOR) <= len(tamper.CASES) / 5


@pytest.mark.parametrize(
    ("case", "breach"),
    [
        ("the newest entries are removed with all that vouches for them", Breach.ROLLBACK),
        ("the whole store is rolled back", Breach.ROLLBACK),
        ("the store is rolled back with a forged excuse", Breach.ROLLBACK),
        ("the store is rolled back and goes on differently", Breach.FORK),
        ("a text is changed with all that vouches for it", Breach.FORK),
        ("another store stands in its place", Breach.FOREIGN),
        ("the whole store is frozen, and its old anchor is shown with it", Breach.STALE),
    ],
)
def test_i14_what_only_an_anchor_shows_is_called_by_its_name(
    scene: tamper.Scene, case: str, breach: Breach, tmp_path: Path
) -> None:
    _, anchored = tamper.play(scene, tmp_path / "edited.db", case)
    assert breach in anchored.breaches
    assert any(problem.startswith(f"{breach.name}: ") for problem in anchored.problems)


def test_f03_the_checkpoint_of_another_store_vouches_for_nothing(scene: tamper.Scene) -> None:
    with Store(scene.other) as other:
        theirs = other.audit.checkpoint().note
    with Store(scene.now, read_only=True) as store:
        assert store.verify(anchors=[theirs]).breaches == {Breach.FOREIGN}
        size, root = store.audit.head()
        relabelled = theirs.replace(theirs.split("\n")[0], f"assay/{store.status().store_id}")
        assert store.verify(anchors=[relabelled]).breaches == {Breach.FORK}
        assert (size, root) == store.audit.head()


def test_f04_an_old_checkpoint_shown_again_is_stale(scene: tamper.Scene) -> None:
    with Store(scene.was, clock=lambda: tamper.LATER, read_only=True) as frozen:
        assert frozen.verify(anchors=[scene.early]), "without an age, a frozen store looks whole"
        found = frozen.verify(anchors=[scene.early], anchor_max_age=tamper.MAX_AGE)
        assert found.breaches == {Breach.STALE}
