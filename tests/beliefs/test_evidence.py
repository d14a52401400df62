"""What counts as evidence, how much of it is independent, and how far it carries."""

from __future__ import annotations

import pytest

from assay.beliefs.ceiling import ceiling
from assay.beliefs.grounding import copies, founding, shares_words
from assay.beliefs.grounds import Ground, GroundClass, groups, independent, pools
from assay.beliefs.history import Past
from assay.beliefs.standing import standing_level
from assay.model.labels import Mark, Trust


def ground(
    ref: str, text: str, kind: GroundClass = GroundClass.USER, session: str = "", source: str = "", **more: object
) -> Ground:
    return Ground(ref, text, kind, session=session or ref, source=source, n=int(ref), **more)  # type: ignore[arg-type]


A = ground("1", "The pool needs 40 connections under load")
B = ground("2", "Under load the pool starves with fewer than 40 connections")
C = ground("3", "the pool needs 40 connections, under load")


def flat(_: str) -> float:
    return 1.0


def test_near_duplicates_and_derived_episodes_are_one_piece_of_evidence() -> None:
    assert [len(group) for group in groups([A, B, C])] in ([1, 2], [2, 1])
    derived = ground("4", "A completely different wording of something else", derived_from=("1",))
    assert len(groups([A, derived])) == 1


def test_one_session_and_source_is_one_witness() -> None:
    same = ground("2", B.text, session="1")
    assert (independent([A, B]), independent([A, same]), independent([A, C])) == (2, 1, 1)


@pytest.mark.parametrize(
    ("kinds", "level", "mark"),
    [
        ([GroundClass.USER, GroundClass.USER], 2, Mark.USER_ONLY),
        ([GroundClass.SELF, GroundClass.SELF], 2, Mark.SELF_GROUNDED),
        ([GroundClass.USER, GroundClass.OUTCOME], 5, None),
        ([GroundClass.SELF, GroundClass.OPERATOR], 5, None),
        ([GroundClass.TOOL, GroundClass.SELF], 5, None),
        ([GroundClass.TOOL, GroundClass.TOOL], 2, Mark.SELF_GROUNDED),
    ],
)
def test_the_kind_of_evidence_sets_the_ceiling(kinds: list[GroundClass], level: int, mark: Mark | None) -> None:
    grounds = [ground("1", A.text, kinds[0]), ground("2", B.text, kinds[1])]
    found = ceiling(grounds, 4, 2, labelled=False)
    assert (found.level, found.mark) == (level, mark)


def test_a_single_ground_carries_nothing_past_1x() -> None:
    assert ceiling([A], 9, 2, labelled=False).rule == "single-source"


def test_a_copied_run_of_words_grounds_and_scattered_ones_do_not() -> None:
    assert copies(A.text, "he said the pool needs 40 connections, really")
    assert not copies(A.text, "connections need a pool")
    assert copies("数据库的端口是五四三二号", "端口是五四三二")


def test_filler_words_do_not_ground() -> None:
    assert shares_words(A.text, "pool connections", flat)
    assert not shares_words(A.text, "pool connections", lambda word: 0.25)
    assert not shares_words(A.text, "pool", flat)


def test_founding_episodes_state_the_claim_with_its_values() -> None:
    assert founding("the pool needs 40 connections", [A, B, C], flat) == (A, B, C)
    assert founding("the pool needs 80 connections", [A, B, C], flat) == ()
    assert founding("the pool does not need 40 connections", [A], flat) == ()
    blocked = ground("9", A.text, trust=Trust.EXTERNAL)
    assert founding("the pool needs 40 connections", [blocked], flat) == ()


def test_lines_that_share_evidence_are_one_pool() -> None:
    other = ground("5", "Lunch is served at noon in the canteen")
    assert sorted((sorted(members), count) for members, count in pools([[A], [B], [C, B], [other]])) == [
        ([0, 1, 2], 2),
        ([3], 1),
    ]


def test_a_level_stands_as_long_as_each_step_has_a_ground_that_counts() -> None:
    lost = ground("7", "", erased=True)
    steps = [Past(A, "a", 1), Past(B, "b", 2), Past(lost, "c", 3), Past(A, "d", 4)]
    assert standing_level(steps, 4) == 2
    assert standing_level([*steps, Past(B, "e", 3)], 4) == 4
    assert standing_level([], 3) == 3
