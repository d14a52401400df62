"""Proofs by the published vectors, and against the definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Store
from assay.audit.proofs.tiles import Tree, extend
from assay.audit.proofs.verify_proof import (
    Note,
    Refused,
    check_consistency,
    check_inclusion,
    check_signature,
    ed25519,
    leaf_hash,
    make_key,
    node_hash,
    read_key,
    read_note,
    read_notes,
    write_key,
    write_text,
)
from assay.storage import audit_rows

# The tree that the implementations of Certificate Transparency test against: eight leaves, and its proofs.
LEAVES = [bytes.fromhex(leaf) for leaf in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
INCLUSIONS = {
    (0, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (5, 8): (
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 3): ("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",),
    (1, 5): (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}
CONSISTENCIES = {
    (1, 8): INCLUSIONS[0, 8],
    (6, 8): (
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 5): (
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}


def unhex(values: tuple[str, ...]) -> list[bytes]:
    return [bytes.fromhex(value) for value in values]


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Give a tree over the eight leaves, which take the place of a store's entries."""
    return over(LEAVES)


def over(leaves: list[bytes]) -> Tree:
    store = Store(":memory:")

    def write(tx: object) -> None:
        tx.write("DELETE FROM audit")  # type: ignore[attr-defined]
        tx.write_many("INSERT INTO audit VALUES(?, ?)", enumerate(leaves))  # type: ignore[attr-defined]
        extend(tx, len(leaves))  # type: ignore[arg-type]

    store._database.mutate(write)
    with store._database.read() as reader:
        return Tree(reader)  # the one connection of a store in memory stays open


@pytest.mark.parametrize(("index", "size"), INCLUSIONS)
def test_t8_published_inclusion_proofs(tree: Tree, index: int, size: int) -> None:
    path = unhex(INCLUSIONS[index, size])
    check_inclusion(leaf_hash(LEAVES[index]), index, size, path, bytes.fromhex(ROOTS[size]))
    assert tree.inclusion(index, size) == path


@pytest.mark.parametrize(("old", "size"), CONSISTENCIES)
def test_t8_published_consistency_proofs(tree: Tree, old: int, size: int) -> None:
    path = unhex(CONSISTENCIES[old, size])
    check_consistency(old, bytes.fromhex(ROOTS[old]), size, bytes.fromhex(ROOTS[size]), path)
    assert tree.consistency(old, size) == path


@pytest.mark.parametrize("size", ROOTS)
def test_t8_published_roots(tree: Tree, size: int) -> None:
    assert tree.root(0, size).hex() == ROOTS[size]


def definition(hashes: list[bytes]) -> bytes:
    """RFC 9162, 2.1.1, word for word, over leaf hashes."""
    if len(hashes) == 1:
        return hashes[0]
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return node_hash(definition(hashes[:half]), definition(hashes[half:]))


@pytest.fixture(scope="module")
def large() -> tuple[Tree, list[bytes]]:
    leaves = [b"%d" % number for number in range(70_000)]
    return over(leaves), [leaf_hash(leaf) for leaf in leaves]


def test_tiles_are_those_that_c2sp_counts(large: tuple[Tree, list[bytes]]) -> None:
    # c2sp.org/tlog-tiles on a tree of 70,000: 273 full tiles and 1 + a partial one of 17 + a partial one of 1. The
    # partial tile of level 0 is not kept: the entries are.
    reader = large[0]._reader
    rows = reader.execute("SELECT level, n, length(hashes) / 32 FROM tile WHERE level > 0 OR n IN (0, 272)")
    assert sorted(rows) == [(0, 0, 256), (0, 272, 256), (1, 0, 256), (1, 1, 17), (2, 0, 1)]
    assert audit_rows.tile_count(reader, 0) == 273


@given(data=st.data())
def test_every_proof_from_tiles_is_good(large: tuple[Tree, list[bytes]], data: st.DataObject) -> None:
    tree, hashes = large
    size = data.draw(st.integers(1, 70_000) | st.integers(65_500, 65_600))
    old, index = data.draw(st.integers(1, size)), data.draw(st.integers(0, size - 1))
    root = tree.root(0, size)
    check_inclusion(hashes[index], index, size, tree.inclusion(index, size), root)
    check_consistency(old, tree.root(0, old), size, root, tree.consistency(old, size))


@pytest.mark.parametrize("size", [1, 255, 256, 257, 65_536, 65_537, 70_000])
def test_a_root_from_tiles_is_that_of_the_definition(large: tuple[Tree, list[bytes]], size: int) -> None:
    tree, hashes = large
    assert tree.root(0, size) == definition(hashes[:size])


def test_a_proof_reads_few_tiles_however_long_the_log(large: tuple[Tree, list[bytes]]) -> None:
    tree = Tree(large[0]._reader)
    tree.inclusion(30_000, 69_888)
    assert len(tree._tiles) <= 6


def test_without_tiles_the_entries_give_the_same_proofs(large: tuple[Tree, list[bytes]]) -> None:
    leaves = [b"%d" % number for number in range(700)]
    with_tiles, without = over(leaves), over(leaves)
    without._reader.execute("DELETE FROM tile")
    for index in (0, 255, 256, 699):
        assert with_tiles.inclusion(index, 700) == without.inclusion(index, 700)
    assert with_tiles.consistency(513, 700) == without.consistency(513, 700)


# -- notes and keys ----------------------------------------------------------------------------------------------------

# c2sp.org/signed-note, "Example".
SIGNED = (
    "This is an example message.\n\n\u2014 example.com/foo"
    " Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
GO_VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"  # golang.org/x/mod/sumdb/note


def test_the_published_signed_note_verifies() -> None:
    key = read_key(VKEY)
    signature = SIGNED.rsplit(" ", 1)[1].strip()
    (signed,) = read_notes(f"example.com/foo\n1\n{'A' * 43}=\n\n\u2014 example.com/foo {signature}\n")[0][0].signatures
    assert signed[1][:4] == key.id
    assert ed25519(key.public, b"This is an example message.\n", signed[1][4:])
    assert not ed25519(key.public, b"This is another message.\n", signed[1][4:])


@pytest.mark.parametrize("text", [VKEY, GO_VKEY])
def test_published_verifier_keys_are_read_and_written(text: str) -> None:
    assert write_key(read_key(text)) == text


def test_a_mangled_verifier_key_is_refused() -> None:
    for at in range(len(GO_VKEY)):
        for mangled in (GO_VKEY[:at] + GO_VKEY[at + 1 :], GO_VKEY[:at] + chr(ord(GO_VKEY[at]) ^ 1) + GO_VKEY[at + 1 :]):
            with pytest.raises(Refused):
                read_key(mangled)
    for bad in (  # golang.org/x/mod/sumdb/note: a longer key, and another algorithm, each with the right key id
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ):
        with pytest.raises(Refused):
            read_key(bad)


# RFC 8032, 7.1: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("public", "message", "signature"), RFC_8032)
def test_the_vectors_of_rfc_8032(public: str, message: str, signature: str) -> None:
    key, text, signed = (bytes.fromhex(value) for value in (public, message, signature))
    assert ed25519(key, text, signed)
    assert not ed25519(key, text + b"x", signed)
    for at in range(0, 64, 7):
        assert not ed25519(key, text, signed[:at] + bytes([signed[at] ^ 1]) + signed[at + 1 :])
    order = 2**252 + 27742317777372353535851937790883648493
    larger = (int.from_bytes(signed[32:], "little") + order).to_bytes(32, "little")
    assert not ed25519(key, text, signed[:32] + larger), "a scalar that is not reduced makes a second signature"
    for bad in (b"", key[:31], b"\xff" * 32, bytes([2]) + bytes(31)):
        assert not ed25519(bad, text, signed)


# golang.org/x/mod/sumdb/tlog: the text of a tree.
GO_TREE = "go.sum database tree\n123456789012\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0=\n"


def test_the_text_of_a_checkpoint_is_the_published_one() -> None:
    assert write_text("go.sum database tree", 123456789012, leaf_hash(b"hello world")) == GO_TREE
    note = read_note(GO_TREE + "\n")
    assert (note.size, note.root) == (123456789012, leaf_hash(b"hello world"))


@pytest.mark.parametrize(
    "bad",
    [
        *(
            "",
            "\n",
            "origin\n1\n",
            GO_TREE,
            GO_TREE[:-1],
            GO_TREE.replace("123", "0123"),
            GO_TREE.replace("123", "+123"),
        ),
        *(
            GO_TREE.replace("123456789012", text) + "\n"
            for text in ("0xabc", "-1", "\u0661", "9" * 30, "", str(1 << 64))
        ),
        *(GO_TREE.replace("TszzRg", text) + "\n" for text in ("TszzR", "TszzRgAAAA", "Tszz!g")),
        *(GO_TREE + "\n\u2014 name\n", "\u2014 name AAAA\n\n" + GO_TREE + "\n"),
    ],
)
def test_what_is_no_checkpoint_is_refused(bad: str) -> None:
    with pytest.raises(Refused):
        read_note(bad)


@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.binary(min_size=32, max_size=32), st.booleans()), max_size=5))
def test_checkpoints_that_stand_one_behind_the_other_are_read_back(items: list[tuple[int, bytes, bool]]) -> None:
    notes = [
        Note("a/log", size, root, write_text("a/log", size, root), (("a/log", root + root),) if signed else ())
        for size, root, signed in items
    ]
    assert read_notes("".join(note.note for note in notes)) == (notes, False)


def test_a_signature_is_of_one_log_and_one_key() -> None:
    public, message, signature = (bytes.fromhex(value) for value in RFC_8032[1])
    key = make_key("a/log", public)
    note = Note("a/log", 1, bytes(32), "", (("a/log", key.id + signature),))._replace(text=message.decode())
    check_signature(note, key)
    other = (("b/log", key.id + signature),)
    for wrong in (note._replace(origin="b/log"), note._replace(signatures=()), note._replace(signatures=other)):
        with pytest.raises(Refused):
            check_signature(wrong, key)
