"""The hashes of the log in tiles of 256, and the proofs that are read from them (RFC 9162, section 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256

from assay.audit.merkle import HASH_BYTES, append_leaf, leaf_hash, node_hash, root_of
from assay.storage import audit_rows
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["WIDTH", "TileCheck", "Tree", "extend"]

_BITS = 8
WIDTH = 1 << _BITS  # hashes of a full tile (c2sp.org/tlog-tiles)
_FULL = WIDTH * HASH_BYTES


def extend(tx: Transaction, size: int) -> None:
    """Write every tile that a log of `size` entries fills and that is not there yet."""
    for number in range(audit_rows.tile_count(tx, 0), size >> _BITS):
        entries = audit_rows.entries(tx, number * WIDTH - 1, WIDTH)
        hashes = b"".join(leaf_hash(stored) for _, stored in entries)
        audit_rows.put_tile(tx, 0, number, hashes)
        level, above = 0, number
        while len(hashes) == _FULL:  # its root is the next hash of the tile above
            level, place, above = level + 1, above % WIDTH, above >> _BITS
            root = _reduced(hashes)
            hashes = (audit_rows.tile(tx, level, above) if place else b"") + root
            audit_rows.put_tile(tx, level, above, hashes)


class Tree:
    """The log's Merkle tree: read from tiles, and behind the last full one from the entries."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._tiles: dict[tuple[int, int], bytes] = {}

    def root(self, start: int, end: int) -> bytes:
        """Compute the root of the entries from `start`, which a subtree of that width begins at, to before `end`."""
        return root_of(self.frontier(start, end))

    def frontier(self, start: int, end: int) -> bytes:
        """Give the roots of the perfect subtrees that a range falls into, largest first."""
        nodes = b""
        for level in range((end - start).bit_length() - 1, -1, -1):
            if (end - start) >> level & 1:
                nodes += self._node(level, start >> level)
                start += 1 << level
        return nodes

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Prove that the entry of this index is in the log of this size."""
        start, end, path = 0, size, list[bytes]()
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                path.append(self.root(middle, end))
                end = middle
            else:
                path.append(self.root(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old: int, size: int) -> list[bytes]:
        """Prove that the log of the old size is the beginning of that of this size."""
        start, end, path = 0, size, list[bytes]()
        while end != old:
            middle = start + _split(end - start)
            if old <= middle:
                path.append(self.root(middle, end))
                end = middle
            else:
                path.append(self.root(start, middle))
                start = middle
        if start:  # else the old root itself, which the other side has
            path.append(self.root(start, end))
        return path[::-1]

    def _node(self, level: int, index: int) -> bytes:
        """Compute the root of a perfect subtree of 2**level leaves."""
        tile_level, above = divmod(level, _BITS)
        first = index << above
        start = first % WIDTH * HASH_BYTES
        hashes = self._tile(tile_level, first >> _BITS)[start : start + (HASH_BYTES << above)]
        if tile_level and len(hashes) < HASH_BYTES << above:  # the file has no tiles, or not all
            return node_hash(self._node(level - 1, 2 * index), self._node(level - 1, 2 * index + 1))
        return _reduced(hashes)

    def _tile(self, level: int, number: int) -> bytes:
        if (level, number) not in self._tiles:
            found = audit_rows.tile(self._reader, level, number)
            if level == 0 and len(found) < _FULL:
                entries = audit_rows.entries(self._reader, number * WIDTH - 1, WIDTH)
                found = b"".join(leaf_hash(stored) for _, stored in entries)
            self._tiles[level, number] = found
        return self._tiles[level, number]


class TileCheck:
    """Grows the tree from the hashes of the entries, as these come by, and compares the stored tiles with it.

    Args:
        start: Index of the first entry that will come by: the first of a tile.
        frontier: Of the tree of the entries before it.
        report: Takes what is wrong.
    """

    def __init__(self, reader: Reader, start: int, frontier: bytes, report: Callable[[str], None]) -> None:
        self._reader = reader
        self._report = report
        self._kept = audit_rows.keeps_tiles(reader)
        self._number = start >> _BITS
        self._frontier = frontier  # of the full tiles
        self._leaves: list[bytes] = []
        self._roots = bytearray()

    @property
    def frontier(self) -> bytes:
        """Give the frontier of the tree as it stands."""
        frontier = self._frontier
        for size, leaf in enumerate(self._leaves):  # the bits of a size above those of a tile change nothing here
            frontier = append_leaf(frontier, size, leaf)
        return frontier

    def add(self, entries: Iterable[bytes]) -> None:
        """Take the next entries, which reach at most to the end of a tile, and compare the one that they fill."""
        self._leaves += map(leaf_hash, entries)
        if len(self._leaves) == WIDTH:
            hashes = b"".join(self._leaves)
            root = _reduced(hashes)
            self._roots += root
            self._frontier = append_leaf(self._frontier, self._number, root)
            self._compare(0, self._number, hashes)
            self._leaves.clear()
            self._number += 1

    def finish(self) -> None:
        """Compare the tiles above, and how many there are; every entry must have come by."""
        level, hashes, count = 1, bytes(self._roots), self._number
        while hashes:
            tiles = [hashes[at : at + _FULL] for at in range(0, len(hashes), _FULL)]
            for number, tile in enumerate(tiles):
                self._compare(level, number, tile)
            level, hashes = level + 1, b"".join(_reduced(tile) for tile in tiles if len(tile) == _FULL)
            count += len(tiles)
        if self._kept and (found := audit_rows.tile_count(self._reader)) != count:
            self._report(f"there are {found} tiles, the log fills {count}")

    def _compare(self, level: int, number: int, hashes: bytes) -> None:
        if self._kept and audit_rows.tile(self._reader, level, number) != hashes:
            self._report(f"tile {number} of level {level} does not hold the hashes of its entries")


def _split(width: int) -> int:
    """Give the largest power of two below a width."""
    return 1 << (width - 1).bit_length() - 1


def _reduced(hashes: bytes) -> bytes:
    """Compute the root over a power of two of hashes."""
    while len(hashes) > HASH_BYTES:  # as `node_hash` does, of two that stand side by side
        pairs = [b"\x01" + hashes[at : at + 2 * HASH_BYTES] for at in range(0, len(hashes), 2 * HASH_BYTES)]
        hashes = b"".join([sha256(pair).digest() for pair in pairs])
    return hashes
