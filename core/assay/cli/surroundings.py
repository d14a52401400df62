"""What can be told of the place where a store lies; each check gives the problem, or "" when there is none."""

from __future__ import annotations

import os
import shutil
import stat
from fnmatch import fnmatch
from pathlib import Path

__all__ = ["disk", "file_system", "kept", "leftovers", "modes", "synced"]

_BESIDE = ("", "-wal", "-shm", "-q")
_KEPT = ("v*-backup-*", "before-restore-*", "damaged*")
_LEFT = ("*.part", "restoring*")
_MOUNTS = Path("/proc/self/mounts")
_NETWORK = frozenset(
    (
        *("9p", "afs", "afpfs", "ceph", "cifs", "davfs", "fuse.sshfs", "glusterfs"),
        *("lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"),
    )
)
_SYNCED = ("dropbox", "google drive", "icloud drive", "mobile documents", "nextcloud", "onedrive", "syncthing")
_MIN_FREE = 100 * 1024 * 1024


def modes(path: Path) -> str:
    """Find files of the store that others may read, and a folder that others may write in."""
    if os.name != "posix":
        return ""
    files = [file for file in (Path(f"{path}{end}") for end in _BESIDE) if file.exists()]
    loose = [file.name for file in files if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    problems = [f"others may read {', '.join(loose)}: chmod 600"] if loose else []
    if path.parent.stat().st_mode & stat.S_IWOTH and not path.parent.stat().st_mode & stat.S_ISVTX:
        problems.append(f"everybody may write in {path.parent}: chmod 700")
    return "; ".join(problems)


def file_system(path: Path, mounts: Path = _MOUNTS) -> str:
    """Find a network file system, whose locks and flushes cannot be relied on; Linux tells, others do not."""
    if not mounts.exists():
        return ""
    best, kind = "", ""
    for line in mounts.read_text("utf-8", "replace").splitlines():
        _, point, found, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, found
    return (
        f"{kind} at {best}: its locks cannot be relied on; keep the store on a local disk" if kind in _NETWORK else ""
    )


def synced(path: Path) -> str:
    """Find a folder that a service copies while the store is being written."""
    for part in path.parts[:-1]:
        if part.casefold().startswith(_SYNCED):
            return f"{part} is copied while it changes: keep the store elsewhere and copy backups there"
    return ""


def disk(path: Path) -> str:
    """Find too little space: a write-ahead log can grow as large as the file."""
    free = shutil.disk_usage(path.parent).free
    needed = max(_MIN_FREE, path.stat().st_size)
    return f"{free:,} bytes are left, {needed:,} are advised" if free < needed else ""


def leftovers(path: Path) -> str:
    """Find what an interrupted call left beside the store."""
    left = _beside(path, _LEFT)
    return f"an interrupted call left {', '.join(left)}: remove it unless a call is going on" if left else ""


def kept(path: Path) -> list[str]:
    """Name the copies of earlier states that lie beside the store."""
    names = _beside(path, _KEPT)
    logs = {f"{name}-wal" for name in names}  # of a store that is kept as well; a restore may have kept one alone
    return [name for name in names if name not in logs and not name.endswith((".part", "-shm"))]


def _beside(path: Path, patterns: tuple[str, ...]) -> list[str]:
    names = (file.name for file in path.parent.iterdir() if file.name.startswith(f"{path.name}."))
    return sorted(name for name in names if any(fnmatch(name[len(path.name) + 1 :], one) for one in patterns))
