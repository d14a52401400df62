"""T8: no forged proof is accepted, every good one is, and none keeps the check busy."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from bench.torture import forged
from bench.torture.forged import Consistency, Inclusion, accepted, honest, structured

from assay.audit.proofs.verify_proof import Refused, check_consistency, check_inclusion

ANY = b"\x11" * 32


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 100])
def test_t8_every_good_proof_is_accepted_and_no_bent_one(size: int) -> None:
    for at in range(1, size + 1):
        for good in honest(size, at):
            assert accepted(good)
            assert [bent for bent in structured(good) if accepted(bent)] == []


def test_t8_of_ten_thousand_forged_proofs_none_is_accepted(tmp_path: Path) -> None:
    found = forged.measure(tmp_path)
    assert found["tried"] >= 10_000
    assert found["accepted"] == 0


def test_f01_an_index_outside_the_tree_is_refused() -> None:
    good, _ = honest(1, 1)
    for index in (1, 7, -1, 1 << 64):
        assert not accepted(good._replace(place=index))


@pytest.mark.parametrize("old", [0, -1, 9, 1 << 64])
def test_f02_an_old_size_outside_the_tree_is_refused_at_once(old: int) -> None:
    _, good = honest(8, 4)
    start = time.perf_counter()
    assert not accepted(good._replace(old=old))
    assert time.perf_counter() - start < 1


def test_f02_an_endless_proof_is_refused_at_once() -> None:
    start = time.perf_counter()
    assert not accepted(Inclusion(ANY, 0, (1 << 64) - 1, (ANY,) * 1_000_000, ANY))
    assert not accepted(Consistency(1, ANY, (1 << 64) - 1, ANY, (ANY,) * 1_000_000))
    assert time.perf_counter() - start < 1


def test_a_refusal_says_what_is_wrong() -> None:
    with pytest.raises(Refused, match="outside the tree"):
        check_inclusion(ANY, 7, 1, [], ANY)
    with pytest.raises(Refused, match="two trees of one size"):
        check_consistency(3, ANY, 3, b"\x22" * 32, [])
    with pytest.raises(Refused, match="too short"):
        check_inclusion(ANY, 0, 2, [], ANY)
