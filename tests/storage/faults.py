"""SQLite that fails, or kills its process, at a chosen statement; as a program, it opens a store and is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any


class Faulty(sqlite3.Connection):
    """A connection that fails, or kills its process, at the n-th statement of the process."""

    left = -1
    kill = False

    @classmethod
    def _count(cls) -> None:
        cls.left -= 1
        if cls.left == 0:
            if cls.kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise sqlite3.OperationalError("disk I/O error")

    def execute(self, *args: Any) -> sqlite3.Cursor:
        Faulty._count()
        return super().execute(*args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        Faulty._count()
        return super().executemany(*args)

    def backup(self, *args: Any, **kwargs: Any) -> None:
        Faulty._count()
        super().backup(*args, **kwargs)


class Faults:
    """The module `sqlite3`, opening faulty connections."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sqlite3, name)

    def connect(self, *args: Any, **kwargs: Any) -> sqlite3.Connection:
        return sqlite3.connect(*args, **kwargs, factory=Faulty)


def main() -> None:
    """Open the store at the first argument, or restore the third into it; be killed at the second's statement."""
    from assay import Store
    from assay.storage import connection, copying
    from assay.transfer.restore import restore

    for module in (connection, copying):
        vars(module)["sqlite3"] = Faults()
    Faulty.left, Faulty.kill = int(sys.argv[2]), True
    if len(sys.argv) == 3:
        Store(sys.argv[1]).close()
    else:
        restore(sys.argv[3], sys.argv[1], actor="operator", principal="test", accept_rollback=True)


if __name__ == "__main__":
    main()
