"""Which store an event belongs to: one for all, one per user, or what the host's own function says."""

from __future__ import annotations

import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from assay.errors import InvalidInput, MissingUser
from assay.model.labels import Trust
from assay.session.conversation import SECOND_USER, Conversation
from assay.session.faults import FaultLog
from assay.session.home import Home
from assay.session.keys import SessionKey, user_folder
from assay.session.policy import SessionOptions
from assay.session.session import Session
from assay.store import Store

__all__ = ["StoreRouter", "Target"]

Target = Store | str | os.PathLike[str] | Callable[[SessionKey], Store]

Place = tuple[str | None, ...]

_USER = "{user}"
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
    raises = False  # which options apply is known to its sessions alone

    def __init__(self, target: Target, *, max_open: int = 64) -> None:
        self.faults = FaultLog()
        self._target = target
        self._folders = _folders(target)
        self._max_open = max_open
        self._lock = threading.RLock()
        # A home lives as long as a session or the list of open ones refers to it, so that a store has at most one.
        self._homes: WeakValueDictionary[Place, Home] = WeakValueDictionary()
        self._open: OrderedDict[Place, Home] = OrderedDict()
        self._live: OrderedDict[Place, Conversation] = OrderedDict()
        self._user: str | None = None

    @classmethod
    def of(cls, target: Target | StoreRouter) -> StoreRouter:
        """Give a router itself, or a new one for any other target."""
        return target if isinstance(target, StoreRouter) else cls(target)

    def session(
        self,
        key: SessionKey,
        *,
        run: str | None = None,
        options: SessionOptions | None = None,
        host: str = "python",
    ) -> Session:
        """Give the session of a key and a run; its state is shared by all who ask for the same pair.

        The disk is not touched.

        Args:
            run: The host's run id, where it has one: it keeps concurrent runs of one session apart.
            host: Name of the framework, for the source of what it reports itself.

        Raises:
            MissingUser: The target holds a store per user and the key names none, or a second user came to a
                store that serves one.
        """
        options = options or SessionOptions()
        several = self._serves_several(options)
        self._check_user(key, several)
        place: Place = (key.user, key.session, run)
        with self._lock:
            conversation = self._live.get(place)
            if conversation is None:
                home = self._home(key)
                conversation = Conversation(home, key, run=run, several_users=several)
                self._live[place] = conversation
                if len(self._live) > _MAX_LIVE:
                    self._live.popitem(last=False)
            self._live.move_to_end(place)
        return Session(conversation, options, key.agent, host=host)

    def path(self, user: str) -> Path:
        """Give the file of a user's store, whether or not it exists."""
        if self._folders is None:
            raise InvalidInput("target", "it has no {user}: there is no file per user")
        return self._folders.root / user_folder(user) / self._folders.file

    def users(self, *, after: str | None = None, limit: int = 100) -> tuple[str, ...]:
        """List the users who have a store, in the order of their folders.

        Args:
            after: The last user of the page before.
        """
        if self._folders is None:
            raise InvalidInput("target", "it has no {user}: there is one store, and no list of users")
        start = user_folder(after) if after is not None else ""
        known = sorted(path for path in self._folders.root.glob(f"*/{_ID_FILE}") if path.parent.name > start)
        return tuple(path.read_text("utf-8", "surrogatepass") for path in known[:limit])

    def erase_user(self, user: str) -> bool:
        """Close and delete a user's store with everything in its folder; False when there is none."""
        if self._folders is None:
            raise InvalidInput("target", "it has no {user}: close the store and delete its file")
        with self._lock:
            home = self._homes.pop((user,), None)
            self._open.pop((user,), None)
            for place in [place for place in self._live if place[0] == user]:
                del self._live[place]
        if home is not None:
            home.close()
        folder = self._folders.root / user_folder(user)
        if not (folder / _ID_FILE).is_file():
            return False
        shutil.rmtree(folder)
        return True

    def close(self) -> None:
        """Close every store that the router opened; its sessions raise `Closed` from then on."""
        with self._lock:
            homes = list(self._homes.values())
            self._homes.clear()
            self._open.clear()
            self._live.clear()
        for home in homes:
            home.close()

    def __enter__(self) -> StoreRouter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_user(self, key: SessionKey, several: bool) -> None:
        if self._folders is not None:
            if not key.user or key.user.isspace():
                raise MissingUser("this memory is kept per user and no user id was given: pass the host's user id")
        elif key.user is not None and not several:
            self._user = self._user or key.user
            if key.user != self._user:
                raise MissingUser(SECOND_USER)

    def _serves_several(self, options: SessionOptions) -> bool:
        return self._folders is not None or callable(self._target) or options.record.user_trust is Trust.EXTERNAL

    def _home(self, key: SessionKey) -> Home:
        if self._folders is not None:
            place: Place = (key.user,)
        else:
            place = (key.user, key.session) if callable(self._target) else ()
        home = self._homes.get(place)
        if home is None:
            owned = not (callable(self._target) or isinstance(self._target, Store))
            home = Home(partial(self._open_store, key), owned=owned, on_open=lambda opened: self._opened(place, opened))
            self._homes[place] = home
        return home

    def _opened(self, place: Place, home: Home) -> None:
        """Close the stores that were not used for longest, as far as no call is using them."""
        with self._lock:
            self._open[place] = home
            self._open.move_to_end(place)
            surplus = list(self._open.items())[: max(0, len(self._open) - self._max_open)]
        for stale, other in surplus:
            if other.close_if_idle():
                with self._lock:
                    self._open.pop(stale, None)

    def _open_store(self, key: SessionKey) -> Store:
        if isinstance(self._target, Store):
            return self._target
        if callable(self._target):
            return self._target(key)
        if self._folders is None:
            return Store(self._target, timeout=_TIMEOUT, principal="adapter")
        user = key.user or ""
        folder = self._folders.root / user_folder(user)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / _ID_FILE).write_text(user, "utf-8", "surrogatepass")
        return Store(self.path(user), timeout=_TIMEOUT, principal="adapter")


@dataclass(frozen=True, slots=True)
class _Folders:
    """Where the users' folders are, and the store's file within each."""

    root: Path
    file: Path


def _folders(target: Target) -> _Folders | None:
    if isinstance(target, Store) or callable(target):
        return None
    parts = Path(target).parts
    places = [number for number, part in enumerate(parts) if _USER in part]
    if not places:
        return None
    place = places[0]
    last = place == len(parts) - 1
    if len(places) > 1 or not (parts[place] == _USER or (last and parts[place].startswith(_USER + "."))):
        raise InvalidInput("target", "{user} must be the name of a folder or of the file, as in 'memory/{user}.db'")
    file = Path("memory" + parts[place].removeprefix(_USER)) if last else Path(*parts[place + 1 :])
    return _Folders(Path(*parts[:place]), file)
