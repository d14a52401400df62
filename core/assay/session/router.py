"""Which store an event belongs to: one for all, one per user, or what the host's own function says."""

from __future__ import annotations

import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import InvalidInput, MissingUser
from assay.model.labels import Trust
from assay.session.faults import FaultLog
from assay.session.home import Home
from assay.session.keys import SessionKey, user_folder
from assay.session.policy import SessionOptions
from assay.session.session import Session
from assay.store import Store

__all__ = ["StoreRouter", "Target"]

Target = Store | str | os.PathLike[str] | Callable[[SessionKey], Store]

_PLACE = "{user}"
_ID_FILE = "user-id"
_MAX_LIVE = 4_096
# A hook must not hold a host's run for the 30 seconds that a program may wait for its turn to write.
_TIMEOUT = 5.0


class StoreRouter:
    """Gives each session its store.

    Args:
        target: A `Store`; a path, which is a store for one user; a path with `{user}`, which is a folder per
            user (`memory/{user}.db` -> `memory/<slug>-<16 hex of sha256>/memory.db`); or a function of the key.
        max_open: Stores kept open; beyond that the least recently used idle one is closed.

    Raises:
        InvalidInput: A path in which `{user}` is not a name of its own.
    """

    label = "router"
    raises = False

    def __init__(self, target: Target, *, max_open: int = 64) -> None:
        self.faults = FaultLog()
        self._target = target
        self._template = _template(target)
        self._max_open = max_open
        self._lock = threading.Lock()
        self._homes: OrderedDict[object, Home] = OrderedDict()
        self._live: OrderedDict[tuple[str | None, ...], Session] = OrderedDict()
        self._user: str | None = None

    @classmethod
    def of(cls, target: Target | StoreRouter) -> StoreRouter:
        """Give a router itself, or a new one for any other target."""
        return target if isinstance(target, StoreRouter) else cls(target)

    @property
    def needs_user(self) -> bool:
        """Tell whether the target holds a store per user."""
        return self._template is not None

    def session(
        self,
        key: SessionKey,
        *,
        run: str | None = None,
        options: SessionOptions | None = None,
        host: str = "python",
    ) -> Session:
        """Give the live session of a key and a run: the same object each time; the disk is not touched.

        Args:
            run: The host's run id, where it has one: it keeps concurrent runs of one session apart.
            host: Name of the framework, for the source of what it reports itself.

        Raises:
            MissingUser: The target holds a store per user and the key names none, or a second user came to a
                store that serves one.
        """
        options = options or SessionOptions()
        self._check_user(key, options)
        place = (key.user, key.session, run)
        with self._lock:
            session = self._live.get(place)
            if session is None:
                session = Session(
                    self._home(key), key, run=run, options=options, host=host, shared=self._shares(options)
                )
                self._live[place] = session
                for stale in [old for old, other in self._live.items() if other.settled][: len(self._live) - _MAX_LIVE]:
                    del self._live[stale]
            self._live.move_to_end(place)
            if session.key != key:
                return session.named(key.agent)
            return session

    def users(self, *, after: str | None = None, limit: int = 100) -> tuple[str, ...]:
        """List the users who have a store, in the order of their folders.

        Args:
            after: The last user of the page before.
        """
        if self._template is None:
            raise InvalidInput("target", "it has no {user}: there is one store, and no list of users")
        start = user_folder(after) if after is not None else ""
        folders = sorted(path for path in self._root().glob("*/" + _ID_FILE) if path.parent.name > start)
        return tuple(path.read_text("utf-8") for path in folders[:limit])

    def erase_user(self, user: str) -> bool:
        """Close and delete a user's store with everything in its folder; False when there is none."""
        if self._template is None:
            raise InvalidInput("target", "it has no {user}: close the store and delete its file")
        with self._lock:
            home = self._homes.pop(user, None)
            for place in [place for place in self._live if place[0] == user]:
                del self._live[place]
        if home is not None:
            home.close()
        folder = self._root() / user_folder(user)
        if not (folder / _ID_FILE).is_file():
            return False
        shutil.rmtree(folder)
        return True

    def close(self) -> None:
        """Close every store that the router opened."""
        with self._lock:
            homes = list(self._homes.values())
            self._homes.clear()
            self._live.clear()
        for home in homes:
            home.close()

    def __enter__(self) -> StoreRouter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_user(self, key: SessionKey, options: SessionOptions) -> None:
        if self._template is not None:
            if not key.user or key.user.isspace():
                raise MissingUser("this memory is kept per user and no user id was given: pass the host's user id")
        elif key.user is not None and not self._shares(options):
            self._user = self._user or key.user
            if key.user != self._user:
                raise MissingUser(_SECOND_USER)

    def _shares(self, options: SessionOptions) -> bool:
        """Tell whether several users may speak in one store."""
        own_choice = callable(self._target) and not isinstance(self._target, Store)
        return own_choice or options.record.user_trust is Trust.EXTERNAL

    def _home(self, key: SessionKey) -> Home:
        home = self._homes.get(key.user if self._template or callable(self._target) else None)
        ...
        return home
