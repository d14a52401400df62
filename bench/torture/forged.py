"""Forged proofs, structured and random, against the check that auditors run: none may be accepted, none may run on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from assay.audit.merkle import append_leaf, leaf_hash, node_hash, root_of
from assay.audit.proofs.verify_proof import Refused, check_consistency, check_inclusion

__all__ = ["LEAVES", "ROOTS", "Consistency", "Inclusion", "accepted", "honest", "measure", "root", "structured"]

TRIED = 10_000
# The leaves and roots that the implementations of Certificate Transparency test against (RFC 6962).
LEAVES = [bytes.fromhex(leaf) for leaf in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = [bytes.fromhex(root) for root in (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)]  # fmt: skip
_SEED = 7


class Inclusion(NamedTuple):
    """The arguments of `check_inclusion`."""

    leaf: bytes
    place: int
    size: int
    path: tuple[bytes, ...]
    root: bytes


class Consistency(NamedTuple):
    """The arguments of `check_consistency`."""

    old: int
    old_root: bytes
    size: int
    root: bytes
    path: tuple[bytes, ...]


Proof = Inclusion | Consistency


def root(leaves: Sequence[bytes]) -> bytes:
    """Compute the root over leaf hashes, from the definition (RFC 9162, 2.1.1)."""
    frontier = b""
    for size, leaf in enumerate(leaves):
        frontier = append_leaf(frontier, size, leaf)
    return root_of(frontier)


def included(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Build an inclusion proof by the definition (RFC 9162, 2.1.3.1)."""
    if len(leaves) == 1:
        return ()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    if index < half:
        return (*included(leaves[:half], index), root(leaves[half:]))
    return (*included(leaves[half:], index - half), root(leaves[:half]))


def grown(leaves: Sequence[bytes], old: int, *, whole: bool = True) -> tuple[bytes, ...]:
    """Build a consistency proof by the definition (RFC 9162, 2.1.4.1)."""
    if old == len(leaves):
        return () if whole else (root(leaves),)
    half = 1 << (len(leaves) - 1).bit_length() - 1
    if old <= half:
        return (*grown(leaves[:half], old, whole=whole), root(leaves[half:]))
    return (*grown(leaves[half:], old - half, whole=False), root(leaves[:half]))


def honest(size: int, at: int) -> tuple[Inclusion, Consistency]:
    """Give a good proof of each kind in a tree of `size` leaves: of the leaf before `at`, and of the first `at`."""
    leaves = [leaf_hash(b"%d" % number) for number in range(size)]
    whole = root(leaves)
    return (
        Inclusion(leaves[at - 1], at - 1, size, included(leaves, at - 1), whole),
        Consistency(at, root(leaves[:at]), size, whole, grown(leaves, at)),
    )


def accepted(proof: Proof) -> bool:
    """Tell whether the check lets a proof pass; a refusal is a `Refused` and nothing else."""
    check: Callable[..., None] = check_inclusion if isinstance(proof, Inclusion) else check_consistency
    try:
        check(*proof)
    except Refused:
        return False
    return True


def structured(proof: Proof) -> Iterator[Proof]:
    """Bend a good proof in every way that could slip through; what comes out unchanged is passed over."""
    for bent in (*_numbers(proof), *_hashes(proof), *_paths(proof)):
        if bent != proof:
            yield bent


def _with(proof: Proof, **changes: Any) -> Proof:
    return proof._replace(**changes)


def _numbers(proof: Proof) -> Iterator[Proof]:
    """Claim another place, or a size of another magnitude.

    A size nearby is no forgery: RFC 9162 leaves it to the signed checkpoint to bind the size, and the same path fits
    every size that turns the same way at each level.
    """
    name, place = ("place", proof.place) if isinstance(proof, Inclusion) else ("old", proof.old)
    for other in (
        0,
        -1,
        place - 1,
        place + 1,
        place * 2,
        place // 2,
        place ^ 1,
        place ^ 2,
        place + 256,
        1 << 63,
        1 << 64,
    ):
        yield _with(proof, **{name: other})
    for other in (0, -1, proof.size * 2, proof.size // 2, proof.size + 256, 1 << 63, 1 << 64):
        yield proof._replace(size=other)
    if isinstance(proof, Consistency):
        yield proof._replace(old=proof.size, size=proof.old)


def _hashes(proof: Proof) -> Iterator[Proof]:
    foreign = sha256(b"foreign").digest()
    for name in ("leaf", "root") if isinstance(proof, Inclusion) else ("old_root", "root"):
        value: bytes = getattr(proof, name)
        for other in (foreign, b"", value[:31], value + b"\0", value[::-1], bytes([value[0] ^ 1, *value[1:]])):
            yield _with(proof, **{name: other})
    if isinstance(proof, Inclusion):
        yield proof._replace(leaf=proof.root)
        yield proof._replace(leaf=leaf_hash(proof.leaf))
        if proof.path:  # an inner node that is shown as a leaf
            yield proof._replace(leaf=node_hash(proof.leaf, proof.path[0]), path=proof.path[1:])
    else:
        yield proof._replace(old_root=proof.root, root=proof.old_root)
        yield proof._replace(old_root=proof.root)


def _paths(proof: Proof) -> Iterator[Proof]:
    path, foreign = proof.path, sha256(b"foreign").digest()
    for at in range(len(path)):
        yield proof._replace(path=(*path[:at], *path[at + 1 :]))
        yield proof._replace(path=(*path[:at], path[at], *path[at:]))
        yield proof._replace(path=(*path[:at], foreign, *path[at + 1 :]))
        yield proof._replace(path=(*path[:at], path[at][:31], *path[at + 1 :]))
    for other in ((), path[::-1], path[1:], path[:-1], (proof.root, *path), (*path, proof.root), (*path, b"")):
        yield proof._replace(path=other)
    yield proof._replace(path=(*path, *[foreign] * 64))
    yield proof._replace(path=(foreign,) * 100_000)


def _random(dice: random.Random) -> Proof:
    """Make a proof out of numbers that fit, and hashes that do not."""
    size = dice.choice([dice.randint(1, 300), dice.getrandbits(64)])
    at = dice.randrange(size + 1)
    path = tuple(dice.randbytes(32) for _ in range(dice.randint(0, 66)))
    if dice.random() < 0.5:
        return Inclusion(dice.randbytes(32), at, size, path, dice.randbytes(32))
    return Consistency(at, dice.randbytes(32), size, dice.randbytes(32), path)


def measure(folder: Path, *, long: bool = False) -> dict[str, int]:
    """Try forged proofs, 10,000 or a million; give how many, how many were accepted, and what vectors came out."""
    dice, wanted, tried, through = random.Random(_SEED), TRIED * 100 if long else TRIED, 0, 0
    while tried < wanted:
        size = dice.randint(1, 300)
        good = honest(size, dice.randint(1, size))
        assert all(accepted(one) for one in good), "the check refuses what is good"
        forged = [*structured(good[0]), *structured(good[1]), *(_random(dice) for _ in range(50))]
        tried += len(forged)
        through += sum(map(accepted, forged))
    vectors = sum(root([leaf_hash(leaf) for leaf in LEAVES[:size]]) == ROOTS[size - 1] for size in range(1, 9))
    return {"tried": tried, "accepted": through, "vectors": vectors}
