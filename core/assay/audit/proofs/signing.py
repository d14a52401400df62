"""Signing checkpoints with Ed25519, and handing over from one key to the next. Signing needs the extra `signing`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from assay.audit.proofs import verify_proof as proof
from assay.audit.proofs.verify_proof import Key, Note, Refused, encode64, make_key, write_key
from assay.errors import InvalidInput, MissingExtraError, NotAuthorised
from assay.model.episode import JsonValue

__all__ = ["Signer", "check_handover", "check_signer", "hand_over", "sign"]


@dataclass(frozen=True, slots=True)
class Signer:
    """An Ed25519 key that signs checkpoints.

    Attributes:
        public_key: The public key, 32 bytes.
        sign: Gives the signature of a message, 64 bytes; may ask a service that keeps the key.
    """

    public_key: bytes
    sign: Callable[[bytes], bytes]

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a private key: PKCS8 in PEM, as `openssl genpkey -algorithm ed25519` writes it.

        Raises:
            InvalidInput: The file holds no such key, or others may read it.
            MissingExtraError: The extra `signing` is not installed.
        """
        _require()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        file = Path(path).expanduser()
        try:
            shared = os.name == "posix" and file.stat().st_mode & 0o077
            key = load_pem_private_key(file.read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise InvalidInput("signer", f"{file} holds no private key that can be read ({error})") from error
        if shared:
            raise InvalidInput("signer", f"{file} may be read by others: chmod 600 {file}")
        if not isinstance(key, Ed25519PrivateKey):
            raise InvalidInput("signer", f"{file} holds a key of another kind: Ed25519 is needed")
        return cls(key.public_key().public_bytes_raw(), key.sign)

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Self:
        """Make a new key in a new file that its owner alone can read; keep it where the store does not lie.

        Raises:
            InvalidInput: The file is there already, or cannot be written.
            MissingExtraError: The extra `signing` is not installed.
        """
        _require()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        file = Path(path).expanduser()
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise InvalidInput("signer", f"{file} cannot be created ({error.strerror})") from error
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(pem)
            stream.flush()
            os.fsync(stream.fileno())
        return cls.from_file(file)


def sign(note: Note, signer: Signer) -> Note:
    """Add a signature to a checkpoint.

    Raises:
        InvalidInput: What the signer gave is no signature of the checkpoint by its key.
    """
    key = make_key(note.origin, signer.public_key)
    return note._replace(signatures=((key.name, key.id + _checked(signer, note.text.encode())),))


def check_signer(origin: str, key: str | None, signer: Signer | None) -> None:
    """Check that a signer is the one that the store's checkpoints are signed by.

    Raises:
        NotAuthorised: It is not, or there is none.
    """
    if key is not None and (signer is None or write_key(make_key(origin, signer.public_key)) != key):
        raise NotAuthorised(f"checkpoints of this store are signed by {key}: open it with that signer")


def hand_over(origin: str, old: str | None, new: Signer, previous: Signer | None) -> dict[str, JsonValue]:
    """Give what the log says when a key comes into force: the key, signed by itself and by the one before.

    Raises:
        NotAuthorised: The signer before is not that of the key in force.
    """
    check_signer(origin, old, previous)
    key = write_key(make_key(origin, new.public_key))
    statement = _statement(origin, old, key)
    signers = [new] if old is None or previous is None else [new, previous]
    return {"key": key, "signatures": [encode64(_checked(signer, statement)) for signer in signers]}


def check_handover(origin: str, old: str | None, data: Mapping[str, Any]) -> str:
    """Check what an entry says of a key, and give the key.

    Raises:
        Refused: The key was not signed by itself, and by the one before.
    """
    keys = [proof.read_key(text) for text in (data["key"], old) if text is not None]
    signatures: Sequence[str] = data["signatures"]
    statement = _statement(origin, old, data["key"])
    signed = zip(keys, signatures, strict=False)
    if len(keys) != len(signatures) or not all(_is_by(key, origin, statement, text) for key, text in signed):
        raise Refused("key: it is not signed by itself and by the one before it")
    return str(data["key"])


def _is_by(key: Key, origin: str, statement: bytes, signature: str) -> bool:
    return key.name == origin and proof.ed25519(key.public, statement, proof.decode64(signature, 64))


def _statement(origin: str, old: str | None, new: str) -> bytes:
    return f"assay key\n{origin}\n{old or ''}\n{new}\n".encode()


def _checked(signer: Signer, message: bytes) -> bytes:
    signature = signer.sign(message)
    if not proof.ed25519(signer.public_key, message, signature):
        raise InvalidInput("signer", "what it gave is no Ed25519 signature by its public key")
    return signature


def _require() -> None:
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise MissingExtraError("signing", "cryptography")
