"""One call of the command: its arguments, its environment, and the store that it speaks to."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from assay.cli.place import default_path
from assay.errors import InvalidInput, StorageFailure
from assay.model.labels import Origin

if TYPE_CHECKING:
    from assay.audit.proofs.signing import Signer
    from assay.recall.dense.embedding import Embedder
    from assay.store import Store

__all__ = ["Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """What a command is given.

    Attributes:
        options: The parsed arguments.
    """

    options: argparse.Namespace
    environ: Mapping[str, str]
    stdin: TextIO

    @property
    def path(self) -> str:
        """Give the path of the store: `--db`, else `ASSAY_DB`, else the user's data folder."""
        named: str = getattr(self.options, "db", None) or self.environ.get("ASSAY_DB", "")
        return str(Path(named).expanduser() if named else default_path(self.environ))

    @property
    def session(self) -> str | None:
        """Give the session's id: `--session`, else `ASSAY_SESSION_ID`, else none."""
        return getattr(self.options, "session", None) or self.environ.get("ASSAY_SESSION_ID") or None

    def text(self, value: str, name: str) -> str:
        """Give an argument, or for `-` what stands on standard input, without the last line break.

        Raises:
            InvalidInput: Standard input is not UTF-8.
        """
        if value != "-":
            return value
        try:
            return self.stdin.read().removesuffix("\n")
        except UnicodeDecodeError as error:
            raise InvalidInput(name, f"standard input is not UTF-8 (byte {error.start})") from error

    def file(self, value: str, name: str) -> str:
        """Give the content of a file, or for `-` of standard input.

        Raises:
            InvalidInput: It cannot be read, or is not UTF-8.
        """
        if value == "-":
            return self.text(value, name)
        try:
            return Path(value).read_text("utf-8")
        except OSError as error:
            raise InvalidInput(name, f"{value} cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(name, f"{value} is not UTF-8 (byte {error.start})") from error

    def reading(self) -> Store:
        """Open the store to read it.

        Raises:
            StorageFailure: There is none, or it cannot be read.
        """
        return self._open(read_only=True)

    def writing(self, *, embedder: Embedder | None = None) -> Store:
        """Open the store to change it.

        Raises:
            StorageFailure: There is none, or it cannot be written.
        """
        return self._open(read_only=False, embedder=embedder)

    def _open(self, *, read_only: bool, embedder: Embedder | None = None) -> Store:
        from assay.store import Store

        # A mistyped path must not become an empty memory: `assay init` alone creates one.
        if not Path(self.path).exists():
            raise StorageFailure(f"{self.path} does not exist: create it with `assay init`, or name another with --db")
        # Whoever has a shell can call this command, a model as well: what it records is the agent's word.
        return Store(
            self.path,
            read_only=read_only,
            session=self.session,
            principal="cli",
            origin=Origin.AGENT,
            signer=None if read_only else self._signer(),
            embedder=embedder,
        )

    def _signer(self) -> Signer | None:
        file = self.environ.get("ASSAY_SIGNING_KEY", "")
        if not file:
            return None
        from assay.audit.proofs.signing import Signer

        return Signer.from_file(file)
