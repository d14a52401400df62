"""Merkle tree hashing of RFC 6962, section 2.1, in the form that a growing log needs.

The frontier of a tree holds the roots of the perfect subtrees that it falls into, the largest first: one for each bit
that is set in its size, so at most 64, joined into one string of bytes.
"""

from __future__ import annotations

from hashlib import sha256

from assay.audit.proofs.verify_proof import leaf_hash, node_hash

__all__ = ["HASH_BYTES", "append_leaf", "leaf_hash", "node_hash", "root_of"]

HASH_BYTES = 32


def append_leaf(frontier: bytes, size: int, leaf: bytes) -> bytes:
    """Add a leaf to a tree of `size` leaves; give the new frontier."""
    end = len(frontier)
    while size & 1:
        end -= HASH_BYTES
        leaf = node_hash(frontier[end : end + HASH_BYTES], leaf)
        size >>= 1
    return frontier[:end] + leaf


def root_of(frontier: bytes) -> bytes:
    """Compute the root of a tree."""
    if not frontier:
        return sha256(b"").digest()
    root = frontier[-HASH_BYTES:]
    for at in range(len(frontier) - 2 * HASH_BYTES, -1, -HASH_BYTES):
        root = node_hash(frontier[at : at + HASH_BYTES], root)
    return root
