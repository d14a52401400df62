#!/usr/bin/env python3
"""Check a proof that an Assay store exported. This file needs Python 3.11 and nothing else: read it, then run it.

    python verify_proof.py BUNDLE.json [--key KEY] [--anchors FILE]

KEY is the store's verifier key, FILE the checkpoints that you kept; take both from a place that the store's owner
cannot write. Without either, the proof shows only that the bundle agrees with the checkpoint inside it.

Exit code: 0 what the bundle claims is proved; 1 it is not; 2 the call is wrong.

Formats: Merkle tree and proofs of RFC 9162, section 2.1; checkpoints of c2sp.org/tlog-checkpoint, signed as
c2sp.org/signed-note says, with Ed25519 (RFC 8032).
"""

from __future__ import annotations

import binascii
import hmac
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256, sha512
from itertools import pairwise
from typing import Any, NamedTuple

FORMAT = "assay-proof/1"
MOST_HASHES = 64  # of one proof: a tree has fewer than 2**64 leaves
MOST_BYTES = 64 << 20  # of a bundle
CUT = "# cut short"  # the line that ends a checkpoint which was not written to its end
_ED25519 = b"\x01"  # the signature's type in a verifier key


class Refused(Exception):
    """Something is not proved; the message says what."""


# -- the Merkle tree ---------------------------------------------------------------------------------------------------


def leaf_hash(entry: bytes) -> bytes:
    """Hash an entry, separated from inner nodes by the prefix 0x00."""
    return sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash an inner node, with the prefix 0x01."""
    return sha256(b"\x01" + left + right).digest()


def check_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """Check that a leaf hash stands at an index of the tree of this size and root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size < 1 << 64 or not _are_hashes(leaf, root, *path):
        raise Refused("inclusion: the index is outside the tree, or the proof is too long")
    found = leaf
    for is_left, other in _climb(index, size - 1, path):
        found = node_hash(other, found) if is_left else node_hash(found, other)
    if found != root:
        raise Refused("inclusion: the proof does not lead from the entry to the root of the checkpoint")


def check_consistency(old: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> None:
    """Check that a tree begins with another one: that nothing in it was changed since (RFC 9162, 2.1.4.2)."""
    if not 0 < old <= size < 1 << 64 or not _are_hashes(old_root, root, *path):
        raise Refused("consistency: the sizes are out of order, or the proof is too long")
    if old == size:
        if path or old_root != root:
            raise Refused("consistency: two trees of one size, and not the same")
        return
    whole = old & (old - 1) == 0  # the old tree is a subtree of the new one: its root is where the proof begins
    if not path:
        raise Refused("consistency: the proof is empty")
    before = now = old_root if whole else path[0]
    skipped = (old & -old).bit_length() - 1  # the old tree's last leaf is a right child so many times
    for is_left, other in _climb(old - 1 >> skipped, size - 1 >> skipped, path if whole else path[1:]):
        if is_left:
            before = node_hash(other, before)
        now = node_hash(other, now) if is_left else node_hash(now, other)
    if before != old_root or now != root:
        raise Refused("consistency: the later tree does not begin with the earlier one")


def _climb(at: int, last: int, path: Sequence[bytes]) -> Iterator[tuple[bool, bytes]]:
    """Go up from a node to the root; tell of each hash on the way whether it stands left.

    Args:
        at: Index of the node in its level.
        last: Index of the last node of that level.
    """
    for other in path:
        if last == 0:
            raise Refused("proof: it is too long")
        is_left = bool(at & 1) or at == last
        yield is_left, other
        while is_left and not at & 1 and at:
            at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    if last:
        raise Refused("proof: it is too short")


def _are_hashes(*values: bytes) -> bool:
    return len(values) <= 2 + MOST_HASHES and all(len(value) == 32 for value in values)


# -- checkpoints and their signatures ----------------------------------------------------------------------------------


class Note(NamedTuple):
    """A checkpoint: the log's name, number of entries and root, the signed text, and (name, key id and signature)."""

    origin: str
    size: int
    root: bytes
    text: str
    signatures: tuple[tuple[str, bytes], ...] = ()

    @property
    def note(self) -> str:
        """Write it as it is published."""
        lines = (f"\u2014 {name} {encode64(signed)}\n" for name, signed in self.signatures)
        return f"{self.text}\n{''.join(lines)}"


def write_text(origin: str, size: int, root: bytes) -> str:
    """Write the text of a checkpoint, which is what is signed."""
    return f"{origin}\n{size}\n{encode64(root)}\n"


def read_notes(stored: str) -> tuple[list[Note], bool]:
    """Read checkpoints that stand one behind the other, signed or not; tell whether the last is cut short.

    What was cut short is left out; in the midst of others it ends with the line `CUT`.
    """
    notes: list[Note] = []
    text: list[str] = []
    lines = stored.split("\n")
    for line, following in pairwise(lines):
        if CUT in (line, following):
            notes, text = _whole(notes, line), []
        elif line.startswith("\u2014 ") and not text:
            notes[-1:] = [_signed(notes, line)]
        elif line:
            text.append(line)
        elif text:
            notes.append(_note(text))
            text = []
    return _whole(notes, lines[-1]), bool(text or lines[-1])


def _whole(notes: list[Note], cut: str) -> list[Note]:
    """Leave the last checkpoint out if its signature is what was cut short, be it within the dash."""
    unsigned = notes and not notes[-1].signatures
    return notes[:-1] if unsigned and cut.startswith(("\u2014", "\ufffd")) else notes


def read_note(stored: str) -> Note:
    """Read one checkpoint."""
    notes, cut = read_notes(stored)
    if cut or len(notes) != 1:
        raise Refused("checkpoint: there must be one")
    return notes[0]


def _note(lines: Sequence[str]) -> Note:
    if len(lines) < 3:
        raise Refused("checkpoint: origin, size and root are not there")
    origin, size, root = lines[0], lines[1], decode64(lines[2], 32)
    if not (size.isascii() and size.isdecimal() and str(int(size[:20])) == size) or int(size) >= 1 << 64:
        raise Refused("checkpoint: the size is not a number")
    return Note(origin, int(size), root, "".join(f"{line}\n" for line in lines))


def _signed(notes: Sequence[Note], line: str) -> Note:
    parts = line.split(" ")
    if not notes or len(parts) != 3 or len(notes[-1].signatures) >= 16:
        raise Refused("checkpoint: a signature stands where none is expected")
    return notes[-1]._replace(signatures=(*notes[-1].signatures, (parts[1], decode64(parts[2]))))


class Key(NamedTuple):
    """A verifier key: the signer's name, the id that its signatures begin with, and the public key."""

    name: str
    id: bytes
    public: bytes


def make_key(name: str, public: bytes) -> Key:
    """Name a public key of 32 bytes."""
    return Key(name, sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:4], public)


def write_key(key: Key) -> str:
    """Write a verifier key in its public form."""
    return f"{key.name}+{key.id.hex()}+{encode64(_ED25519 + key.public)}"


def read_key(text: str) -> Key:
    """Read a verifier key."""
    name, _, rest = text.strip().partition("+")
    number, _, material = rest.partition("+")
    stored = decode64(material, 33)
    key = make_key(name, stored[1:])
    if stored[:1] != _ED25519 or number != key.id.hex() or not name or len(name.split()) != 1:
        raise Refused("key: it is no Ed25519 key, or it was cut short")
    return key


def check_signature(note: Note, key: Key) -> None:
    """Check that a checkpoint is of the key's log, and signed by the key."""
    if note.origin != key.name:
        raise Refused(f"signature: the checkpoint is of {note.origin!r}, the key of {key.name!r}")
    if not any(
        name == key.name and signed[:4] == key.id and ed25519(key.public, note.text.encode(), signed[4:])
        for name, signed in note.signatures
    ):
        raise Refused("signature: the checkpoint is not signed by the key")


# -- Ed25519: RFC 8032, section 5.1.7, verification alone --------------------------------------------------------------

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_Point = tuple[int, int, int, int]  # X, Y, Z and T, with x = X/Z, y = Y/Z and xy = T/Z
_ZERO: _Point = (0, 1, 1, 0)


def ed25519(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether a signature of 64 bytes is that of a public key over a message."""
    base = _decoded((4 * pow(5, -1, _P) % _P).to_bytes(32, "little")) or _ZERO
    point = _decoded(public) if len(public) == 32 and len(signature) == 64 else None
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or scalar >= _ORDER:
        return False
    challenge = int.from_bytes(sha512(signature[:32] + public + message).digest(), "little") % _ORDER
    x, y, z, t = point
    against: _Point = (_P - x, y, z, _P - t)
    total = _ZERO  # scalar * base - challenge * point, which must be what the signature begins with
    for bit in range(252, -1, -1):
        total = _add(total, total)
        if scalar >> bit & 1:
            total = _add(total, base)
        if challenge >> bit & 1:
            total = _add(total, against)
    inverse = pow(total[2], -1, _P)
    x, y = total[0] * inverse % _P, total[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


def _add(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _decoded(stored: bytes) -> _Point | None:
    value = int.from_bytes(stored, "little")
    sign, y = value >> 255, value & ((1 << 255) - 1)
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if y >= _P or x * x % _P != square or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else _P - x
    return x, y, 1, x * y % _P


# -- bundles -----------------------------------------------------------------------------------------------------------


def check_bundle(bundle: Mapping[str, Any], key: Key | None = None, kept: Sequence[Note] = ()) -> list[str]:
    """Check everything that a bundle claims; give what is proved, a line each.

    Args:
        key: Signs the checkpoint; from a place that the store's owner cannot write.
        kept: Checkpoints from such a place; one of them must be that of the bundle, or the earlier one in it.
    """
    if bundle["format"] != FORMAT:
        raise Refused(f"bundle: the format is not {FORMAT}")
    note = read_note(bundle["checkpoint"])
    proved = [f"checkpoint of {note.origin}: {note.size} entries, root {note.root.hex()}"]
    known = {note[:3]}
    if key is not None:
        check_signature(note, key)
        proved.append(f"signed by {write_key(key)}")
    if "earlier" in bundle:
        before = read_note(bundle["earlier"]["checkpoint"])
        if before.origin != note.origin:
            raise Refused("consistency: the two checkpoints are of different logs")
        check_consistency(before.size, before.root, note.size, note.root, _path(bundle["earlier"]["path"]))
        proved.append(f"nothing was changed since the checkpoint of {before.size} entries")
        known.add(before[:3])
    if kept:
        if known.isdisjoint(one[:3] for one in kept):
            raise Refused("anchors: none of them is a checkpoint of this bundle")
        proved.append("a checkpoint that was kept agrees")
    return [*proved, *(_check_entry(item, note) for item in bundle["entries"])]


def _check_entry(item: Mapping[str, Any], note: Note) -> str:
    stored: str = item["entry"]
    check_inclusion(
        leaf_hash(stored.encode("utf-8", "surrogatepass")), item["seq"], note.size, _path(item["path"]), note.root
    )
    entry = json.loads(stored)
    if entry["seq"] != item["seq"]:
        raise Refused("entry: its number is not its place in the log")
    said = [f"entry {entry['seq']} is in the log: {entry['op']} by {entry['actor']}"]
    for row in item.get("rows", ()):
        written = [digest for table, _, ref, digest in entry["rows"] if (table, ref) == (row["table"], row["id"])]
        if written != [commitment(row)]:
            raise Refused(f"row: {row['table']} {row['id']} is not what entry {entry['seq']} wrote")
        said.append(f"it wrote {row['table']} {row['id']} as the bundle shows it")
    return "; ".join(said)


def commitment(row: Mapping[str, Any]) -> str:
    """Commit to a row: HMAC-SHA256 under its salt of table, id and values as compact JSON, in hex."""
    text = json.dumps([row["table"], row["id"], *row["values"]], ensure_ascii=False, separators=(",", ":"))
    return hmac.digest(bytes.fromhex(row["salt"]), text.encode("utf-8", "surrogatepass"), "sha256").hex()


def _path(stored: Sequence[str]) -> list[bytes]:
    if len(stored) > MOST_HASHES:
        raise Refused("proof: it is too long")
    return [decode64(text, 32) for text in stored]


def encode64(data: bytes) -> str:
    """Write bytes as base64 (RFC 4648, section 4)."""
    return binascii.b2a_base64(data, newline=False).decode()


def decode64(text: str, length: int | None = None) -> bytes:
    """Read base64; one spelling alone is accepted."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:
        raise Refused(f"base64: {error}") from error
    if encode64(data) != text or length not in (None, len(data)):
        raise Refused("base64: the length is wrong, or it is not the usual spelling")
    return data


def main(arguments: Sequence[str]) -> int:
    """Check a bundle and print what is proved."""
    given = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    if len(arguments) % 2 == 0 or set(given) - {"--key", "--anchors"}:
        print(__doc__)
        return 2
    from pathlib import Path

    try:
        with Path(arguments[0]).open(encoding="utf-8") as file:
            bundle = json.loads(file.read(MOST_BYTES))
        kept = read_notes(Path(given["--anchors"]).read_text("utf-8", "replace"))[0] if "--anchors" in given else []
        if "--anchors" in given and not kept:
            raise Refused("anchors: the file holds no checkpoint")
        key = read_key(given["--key"]) if "--key" in given else None
        proved = check_bundle(bundle, key, kept)
        if key is None and not kept:
            proved.append("BUT without --key or --anchors, whoever wrote the bundle may have made its checkpoint too")
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    except (Refused, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        print(_plain(f"NOT PROVED: {error}"))
        return 1
    print("\n".join(map(_plain, proved)))
    return 0


def _plain(line: str) -> str:
    """Escape whatever a terminal could obey: names in a bundle are somebody else's."""
    return line.encode("unicode_escape").decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
