"""Exceptions of the engine: each has a machine-readable `code` and says what to do."""

from __future__ import annotations

__all__ = [
    "AssayError",
    "Busy",
    "Closed",
    "Conflict",
    "Damaged",
    "ForeignDatabase",
    "InvalidInput",
    "MissingExtraError",
    "MissingUser",
    "NewerSchema",
    "NotAuthorised",
    "NotFound",
    "OutcomeUnknown",
    "ReadOnly",
    "StorageFailure",
    "TooLarge",
]


class AssayError(Exception):
    """Base of every error that Assay raises on purpose."""

    code: str = "assay-error"


class InvalidInput(AssayError, ValueError):
    """An argument cannot be accepted; nothing was written.

    Attributes:
        field: The name of the argument.
    """

    code = "invalid-input"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class TooLarge(InvalidInput):
    """A text or a structure is over its limit; nothing was written.

    Attributes:
        size: What was given, in the unit of the limit.
        limit: The limit that was passed.
    """

    code = "text-too-large"

    def __init__(self, field: str, size: int, limit: int, unit: str) -> None:
        super().__init__(field, f"{size:,} {unit}, the limit is {limit:,}: shorten it or split it into several records")
        self.size = size
        self.limit = limit


class NotFound(AssayError, LookupError):
    """A ref names nothing in this store, or more than one thing.

    Attributes:
        ref: The ref that was asked for.
    """

    code = "not-found"

    def __init__(self, ref: str, message: str) -> None:
        super().__init__(f"{ref[:80]!r}: {message}")
        self.ref = ref


class Conflict(AssayError):
    """The store has moved on, or holds something that this call contradicts; nothing was written."""

    code = "conflict"


class NotAuthorised(AssayError, PermissionError):
    """The caller lacks the authority for this change; nothing was written."""

    code = "not-authorised"


class MissingUser(AssayError, ValueError):
    """A store per user was asked for and no user id was given, or a second user came to a single-user store."""

    code = "missing-user"


class MissingExtraError(AssayError, ModuleNotFoundError):
    """An optional dependency is not installed.

    Attributes:
        extra: The pip extra that brings it.
    """

    code = "missing-extra"

    def __init__(self, extra: str, missing: str) -> None:
        super().__init__(f"{missing} is not installed; run: pip install 'assay-memory[{extra}]'")
        self.extra = extra


class StorageFailure(AssayError):
    """The disk or the database failed; nothing was written."""

    code = "storage-failure"


class Busy(StorageFailure, TimeoutError):
    """Another writer held the store until the deadline; nothing was written. Try again."""

    code = "busy"


class OutcomeUnknown(StorageFailure):
    """The disk failed while a commit was being written: reopen the store to see whether it holds `ids`.

    Attributes:
        ids: What the transaction was writing.
    """

    code = "outcome-unknown"

    def __init__(self, message: str, ids: tuple[str, ...]) -> None:
        super().__init__(message)
        self.ids = ids


class ReadOnly(StorageFailure):
    """The store was opened read-only, or the folder cannot be written."""

    code = "read-only"


class ForeignDatabase(StorageFailure):
    """The file is not a store of Assay, or its schema was altered."""

    code = "foreign-database"


class NewerSchema(StorageFailure):
    """The store was written by a newer version of Assay.

    Attributes:
        found: The schema version of the file.
        known: The newest schema version of this code.
    """

    code = "newer-schema"

    def __init__(self, path: str, found: int, known: int) -> None:
        advice = "upgrade with pip install -U assay-memory"
        super().__init__(f"{path} has schema {found}, this version knows {known}: {advice}")
        self.found = found
        self.known = known


class Damaged(StorageFailure):
    """The database file is damaged; `assay doctor` tells what is readable."""

    code = "damaged"


class Closed(AssayError):
    """The store was closed; open a new one."""

    code = "closed"
