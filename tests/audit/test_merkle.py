"""The tree hashes of RFC 6962."""

from __future__ import annotations

from hashlib import sha256

import pytest
from bench.torture.forged import LEAVES, ROOTS
from hypothesis import given
from hypothesis import strategies as st

from assay.audit.merkle import HASH_BYTES, append_leaf, leaf_hash, node_hash, root_of


def build(leaves: list[bytes]) -> bytes:
    frontier = b""
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
    assert root_of(build(LEAVES[:size])) == ROOTS[size - 1]


def test_the_root_of_an_empty_tree() -> None:
    assert root_of(b"") == sha256(b"").digest()


@given(st.lists(st.binary(max_size=8), max_size=70))
def test_the_frontier_gives_the_root_of_the_definition(leaves: list[bytes]) -> None:
    frontier = build(leaves)
    assert root_of(frontier) == definition(leaves)
    assert len(frontier) == HASH_BYTES * len(leaves).bit_count()
