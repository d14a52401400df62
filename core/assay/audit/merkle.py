"""Merkle tree hashing of RFC 6962, section 2.1, in the form that a growing log needs."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from assay.audit.proofs.verify_proof import leaf_hash, node_hash

__all__ = ["HASH_BYTES", "append_leaf", "fold", "leaf_hash", "node_hash", "pack", "root_of", "unpack"]

HASH_BYTES = 32


def append_leaf(frontier: Sequence[bytes], size: int, leaf: bytes) -> tuple[bytes, ...]:
    """Add a leaf to a tree of `size` leaves.

    The frontier holds the roots of the perfect subtrees that the tree falls into, largest first: one for each
    bit that is set in `size`, so at most 64.
    """
    nodes = list(frontier)
    while size & 1:
        leaf = node_hash(nodes.pop(), leaf)
        size >>= 1
    nodes.append(leaf)
    return tuple(nodes)


def fold(frontier: Sequence[bytes]) -> bytes:
    """Compute the root of a tree from its frontier."""
    if not frontier:
        return sha256(b"").digest()
    root = frontier[-1]
    for node in reversed(frontier[:-1]):
        root = node_hash(node, root)
    return root


def pack(frontier: Sequence[bytes]) -> bytes:
    """Join a frontier into the bytes that are stored."""
    return b"".join(frontier)


def root_of(stored: bytes) -> bytes:
    """Compute the root of a tree from its frontier as it is stored."""
    return fold(unpack(stored))


def unpack(stored: bytes) -> tuple[bytes, ...]:
    """Split stored bytes into a frontier."""
    return tuple([stored[at : at + HASH_BYTES] for at in range(0, len(stored), HASH_BYTES)])
