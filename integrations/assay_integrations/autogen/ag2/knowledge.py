"""A knowledge store of AG2 whose memory files are episodes, so that they have a history, a trust and an audit trail."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading

from ag2.knowledge import (
    ChangeCallback,
    ChangeSubscription,
    KnowledgeStore,
    MemoryKnowledgeStore,
    NoopChangeSubscription,
)

from assay import Origin, Store

__all__ = ["AssayKnowledgeStore"]

Paths = list[str]  # within the class, `list` is a verb

_MEMORY = "/memory/"
_TAG = "ag2:knowledge"
_PAGE = 200


class AssayKnowledgeStore(KnowledgeStore):
    """Keeps what is below `/memory/` in a memory, and every other file in a store of the host's own.

    A `write` to a path that exists replaces its text and keeps the earlier ones as history; a `delete` erases them
    all. What is kept is recalled like anything else that the memory holds.

    Args:
        target: A `Store`, or the path of one.
        underlying: Keeps event logs, artifacts, and what the host says of its folders; by default in memory.

    Example:
        agent = Agent("helper", config=config, knowledge=KnowledgeConfig(AssayKnowledgeStore("memory.db")))
    """

    def __init__(self, target: Store | str | os.PathLike[str], *, underlying: KnowledgeStore | None = None) -> None:
        self._owned = not isinstance(target, Store)
        self._store = target if isinstance(target, Store) else Store(target)
        self._files = underlying or MemoryKnowledgeStore()
        self._appending = threading.Lock()

    async def read(self, path: str) -> str | None:
        """Give the text of a file, or None."""
        return await asyncio.to_thread(self._text, path) if _is_memory(path) else await self._files.read(path)

    async def write(self, path: str, content: str) -> None:
        """Give a file another text.

        Raises:
            AssayError: The memory keeps no blank text and none over 64 KiB, or it failed.
        """
        if _is_memory(path):
            await asyncio.to_thread(self._record, path, content)
        else:
            await self._files.write(path, content)

    async def list(self, path: str = "/") -> Paths:
        """Give the names directly in a folder; those of folders end with `/`."""
        folder = _plain(path).rstrip("/") + "/"
        held = await asyncio.to_thread(self._paths, folder)
        names = {
            name + ("/" if below else "") for name, below, _ in (one[len(folder) :].partition("/") for one in held)
        }
        return sorted(names | set(await self._files.list(path)))

    async def delete(self, path: str) -> None:
        """Erase a file, or a folder with all that is in it."""
        await asyncio.to_thread(self._erase, path)
        await self._files.delete(path)

    async def exists(self, path: str) -> bool:
        """Tell whether there is such a file or folder."""
        return await self.read(path) is not None or bool(await self.list(path)) or await self._files.exists(path)

    async def append(self, path: str, content: str) -> int:
        """Put text behind that of a file, and give the byte at which it begins."""
        if not _is_memory(path):
            return await self._files.append(path, content)
        return await asyncio.to_thread(self._append, path, content)

    async def read_range(self, path: str, start: int, end: int | None = None) -> str:
        """Give some bytes of a file as text."""
        if not _is_memory(path):
            return await self._files.read_range(path, start, end)
        return (await self.read(path) or "").encode()[start:end].decode()

    async def on_change(self, path: str, callback: ChangeCallback) -> ChangeSubscription:
        """Tell of changes to files that the host keeps; those of the memory are found by looking again."""
        return NoopChangeSubscription() if _is_memory(path) else await self._files.on_change(path, callback)

    def close(self) -> None:
        """Close the store if it was opened here."""
        if self._owned:
            self._store.close()

    def _text(self, path: str) -> str | None:
        held = self._store.keys.get(_key(path))
        return None if held is None else held.content

    def _record(self, path: str, content: str) -> None:
        where, facts = _key(path), {"path": _plain(path)}
        self._store.record(
            content,
            origin=Origin.AGENT,
            source=_TAG,
            state_key=where,
            tags=[_TAG],
            metadata=facts,
        )

    def _append(self, path: str, content: str) -> int:
        with self._appending:
            held = self._text(path) or ""
            self._record(path, held + content)
        return len(held.encode())

    def _erase(self, path: str) -> None:
        for one in self._paths(_plain(path)):
            for episode in self._store.keys.history(_key(one)):
                self._store.erase(episode)

    def _paths(self, start: str) -> Paths:
        """Give the paths of the memory's files that are a path, or below it."""
        found: set[str] = set()
        after: str | None = None
        while True:
            page = self._store.recall("", tags=[_TAG], history=True, limit=_PAGE, after=after)
            found.update(str(hit.episode.metadata["path"]) for hit in page if hit.episode is not None)
            after = page.next
            if after is None:
                folder = start.rstrip("/") + "/"
                return [path for path in found if path == start or path.startswith(folder)]


def _plain(path: str) -> str:
    return "/" + "/".join(part for part in path.split("/") if part)


def _is_memory(path: str) -> bool:
    """Tell the memory's files from the others, and from what the host writes about its folders."""
    name = _plain(path)
    return f"{name}/".startswith(_MEMORY) and not name.endswith("/SKILL.md")


def _key(path: str) -> str:
    return "ag2:" + hashlib.sha256(_plain(path).encode()).hexdigest()
