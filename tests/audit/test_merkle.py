"""The tree hashes of RFC 6962."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.audit.merkle import EMPTY_ROOT, append_leaf, fold, leaf_hash, node_hash, pack, unpack

# The leaves and roots that the implementations of Certificate Transparency test against.
LEAVES = [bytes.fromhex(leaf) for leaf in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def build(leaves: list[bytes]) -> tuple[bytes, ...]:
    frontier: tuple[bytes, ...] = ()
    for size, leaf in enumerate(leaves):
        frontier = append_leaf(frontier, size, leaf_hash(leaf))
    return frontier


def definition(leaves: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaf_hash(leaves[0])
    k = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(definition(leaves[:k]), definition(leaves[k:]))


@pytest.mark.parametrize("size", range(1, 9))
def test_the_published_vectors(size: int) -> None:
    assert fold(build(LEAVES[:size])).hex() == ROOTS[size - 1]


def test_the_root_of_an_empty_tree() -> None:
    assert fold(()) == EMPTY_ROOT


@given(st.lists(st.binary(max_size=8), max_size=70))
def test_the_frontier_gives_the_root_of_the_definition(leaves: list[bytes]) -> None:
    frontier = build(leaves)
    assert fold(frontier) == definition(leaves)
    assert unpack(pack(frontier)) == frontier
    assert len(frontier) == len(leaves).bit_count()
