"""The whole attack suite: every attack ends blocked or flagged, and honest evidence still counts."""

from __future__ import annotations

from collections import Counter

import pytest

from .controls import controls, group_of
from .play import Attack, Verdict
from .suite import attacks


@pytest.mark.parametrize(
    "attack", attacks(), ids=lambda one: f"{one.kind}: {one.title}"[:70].encode("ascii", "replace").decode()
)
def test_an_attack_does_not_get_through(attack: Attack) -> None:
    verdict, stage = attack.run()
    assert verdict is not Verdict.THROUGH, (stage.rules, stage.text)


def test_the_suite_is_broad() -> None:
    kinds = Counter(one.kind for one in attacks())
    assert sum(kinds.values()) >= 100 and len(kinds) >= 25


def test_honest_evidence_is_refused_at_most_once_in_thirty_in_every_group_of_languages() -> None:
    listed = controls()
    refused = [one for one in listed if not one.accepted()]
    groups = Counter(group_of(one.language) for one in listed)
    held = Counter(group_of(one.language) for one in refused)
    assert len(groups) >= 12 and min(groups.values()) >= 30, groups
    assert all(held[group] * 30 <= count for group, count in groups.items()), refused
