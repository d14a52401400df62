"""Ids sort by time, and are shown as the shortest prefix that is unique."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.model.refs import belief_ref, is_ref, make_id, normal_ref, short_ref

TIMES = st.integers(min_value=1_577_836_800_000_000, max_value=4_000_000_000_000_000)
RANDOM = st.binary(min_size=16, max_size=16)


@given(TIMES, TIMES, RANDOM, RANDOM)
def test_ids_sort_by_time(one: int, other: int, a: bytes, b: bytes) -> None:
    first, second = make_id("ep", one, a), make_id("ep", other, b)
    if other - one >= 4_000_000:
        assert first < second
    assert is_ref(first, whole=True) and len(first) == 29


@given(TIMES, RANDOM, st.integers(min_value=0, max_value=99))
def test_every_random_bit_counts(time: int, randomness: bytes, bit: int) -> None:
    changed = (int.from_bytes(randomness, "big") ^ (1 << bit)).to_bytes(16, "big")
    assert make_id("ep", time, randomness) != make_id("ep", time, changed)


@given(st.lists(st.tuples(TIMES, RANDOM), min_size=2, max_size=12, unique=True))
def test_a_short_ref_is_the_prefix_of_one_id_only(made: list[tuple[int, bytes]]) -> None:
    ids = sorted({make_id("ep", time, randomness) for time, randomness in made})
    for at, ref in enumerate(ids):
        near = tuple(ids[at + step] for step in (-1, 1) if 0 <= at + step < len(ids))
        short = short_ref(ref, near, ids[-1])
        assert [other for other in ids if other.startswith(short)] == [ref]
        assert len(short) >= 11 and is_ref(short)


def test_what_is_no_ref_is_told_apart() -> None:
    assert normal_ref(" EP_K3V9Q2MA ") == "ep_k3v9q2ma"
    for text in (
        "",
        "ep_",
        "ep_short",
        "k3v9q2ma",
        "ep_k3v9q2mi",
        "epx_k3v9q2ma",
        "ep_" + "0" * 27,
        "e1_k3v9q2ma",
        "ep_k3v9 2ma",
    ):
        assert not is_ref(text)


def test_beliefs_of_one_wrap_are_told_apart() -> None:
    made = {make_id("be", 1_800_000_000_000_000, (number << 70).to_bytes(16, "big")) for number in range(500)}
    assert len({ref[:11] for ref in made}) == 1
    assert len({belief_ref(ref) for ref in made}) == 500 and all(is_ref(belief_ref(ref)) for ref in made)
