"""Single system calls fail, once or from then on: a fault is a typed error, and takes nothing that was acknowledged.

    python -m bench.torture.faults FOLDER        the process that is struck

`strace` lets the n-th call on one of the store's files fail, as a bad or full disk, an interrupt or a process without
descriptors would: on the database, its log, its shared memory, its queue, an anchor, a backup or an export.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.torture import log
from bench.torture.said import Said
from bench.torture.worker import say

from assay import AssayError, Kind, Store

__all__ = ["Fault", "faults", "measure", "strike"]

FILES = (
    *("memory.db", "memory.db-wal", "memory.db-shm", "memory.db-q", "memory.db-journal", "anchors"),
    *("copy.db.part", "copy.db", "copy.db-journal", "lines.jsonl.part", "lines.jsonl", "."),
)
_DISK = ("EIO", "ENOSPC")
ERRORS = {
    "openat": ("EMFILE", "EACCES", "EINTR"),
    "pwrite64": (*_DISK, "EINTR"),
    "write": (*_DISK, "EINTR"),
    "pread64": ("EIO", "EINTR"),
    "fsync": _DISK,
    "fdatasync": _DISK,
    "ftruncate": _DISK,
    "unlink": ("EIO",),
    "rename": _DISK,
    "flock": ("EINTR", "ENOLCK"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """The n-th call of a kind on one file fails, and those behind it if `lasting`."""

    call: str
    error: str
    file: str
    number: int
    lasting: bool = False

    @property
    def kind(self) -> tuple[str, str, str, bool]:
        """Give what it has in common with those of other numbers."""
        return self.call, self.error, self.file, self.lasting


def measure(folder: Path, *, long: bool, each: int = 1) -> dict[str, float]:
    """Let one call fail in each run; count runs that end in another error, lose something or leave damage.

    Args:
        long: Let every call fail, rather than `each` of those of one kind on one file.
    """
    if shutil.which("strace") is None:
        raise SystemExit("calls are made to fail by strace: install it, or leave this part out with --only")
    chosen = list(faults(folder)) if long else _some(list(faults(folder)), each)
    found = {"faults": len(chosen), "struck": 0, "untyped": 0, "lost": 0}
    for number, fault in enumerate(chosen):
        place = folder / f"{number}"
        outcome, problems = strike(place, fault)
        if outcome:
            found[outcome] += 1
        found["lost"] += bool(problems)
        if problems or outcome == "untyped":
            log(f"faults: {fault}: {outcome} {problems[:3]}")
        shutil.rmtree(place)
    return dict(found)


def _some(known: list[Fault], each: int) -> list[Fault]:
    """Choose a few of each kind, with the same dice in every run."""
    random.Random(3).shuffle(known)
    left = Counter({fault.kind: each for fault in known})
    chosen: list[Fault] = []
    for fault in known:
        if left[fault.kind]:
            left[fault.kind] -= 1
            chosen.append(fault)
    return chosen


def faults(folder: Path) -> Iterator[Fault]:
    """Name every fault that can strike: from a run without one, how often each call is made on each file."""
    for file in FILES:
        place, trace = folder / "calls", folder / "trace"
        _run(place, trace, file, f"trace={','.join(ERRORS)}")
        lines = trace.read_text("ascii", "replace").splitlines()
        for call, errors in ERRORS.items():
            for number, line in enumerate((line for line in lines if f" {call}(" in line), 1):
                for error in () if "LOCK_UN" in line else errors:  # to unlock never fails
                    yield Fault(call, error, file, number)
                    if error in ("ENOSPC", "EIO"):
                        yield Fault(call, error, file, number, lasting=True)
        shutil.rmtree(place)


def strike(place: Path, fault: Fault) -> tuple[str, list[str]]:
    """Let a fault strike a store; give `struck`, `untyped` or nothing, and what is wrong with the store afterwards."""
    when = f"{fault.number}{'+' if fault.lasting else ''}"
    done = _run(place, Path("/dev/null"), fault.file, f"inject={fault.call}:error={fault.error}:when={when}")
    said = Said()
    said.hear(done.stdout.splitlines(keepends=True))
    outcome = "untyped" if done.returncode else "struck" if "! " in done.stdout else ""
    if done.returncode:
        log(done.stderr[-2_000:])
    return outcome, _problems(place, said, anchored="a " in done.stdout)


def _run(place: Path, trace: Path, file: str, expression: str) -> subprocess.CompletedProcess[str]:
    place.mkdir()
    call = expression.removeprefix("inject=").split(":")[0].removeprefix("trace=")
    command = ["strace", "-f", "-qq", "-o", str(trace), "-P", str(place / file), "-e", f"trace={call}", "-e"]
    struck = [sys.executable, "-m", "bench.torture.faults", str(place)]
    return subprocess.run([*command, expression, *struck], capture_output=True, text=True, timeout=120, check=False)


def _problems(place: Path, said: Said, *, anchored: bool) -> list[str]:
    try:
        with Store(place / "memory.db") as store:
            store.record("the disk is well again")
            found = said.lost(store) + list(store.verify().problems)
            if anchored:
                found += store.verify(anchors=place / "anchors").problems
            store.audit.anchor(place / "anchors")
            return found + list(store.verify(anchors=place / "anchors").problems)
    except AssayError as error:
        return [repr(error)]


def main() -> None:
    """Do each thing once, and say what returned and what was refused."""
    place = Path(sys.argv[1])
    for done in _steps(place):
        try:
            done()
        except AssayError as error:
            say("!", type(error).__name__)


def _steps(place: Path) -> Iterator[Callable[[], object]]:
    store: list[Store] = []
    refs: list[str] = []
    yield lambda: store.append(Store(place / "memory.db", session="s"))
    if not store:
        return
    memory = store[0]

    def done(sign: str, what: str, _: object) -> None:
        say(sign, what)

    def kept(ref: str) -> None:
        refs.append(ref)
        say("+", ref)

    yield lambda: kept(memory.record("Deploys go out on Tuesday", source="ada").ref)
    yield lambda: kept(memory.record("pool size is 20", state_key="db.pool").ref)
    yield lambda: kept(memory.record("pool size is 40", state_key="db.pool").ref)
    yield lambda: kept(memory.record("Friday deploy rolled back", kind=Kind.OUTCOME, success=False).ref)
    yield lambda: memory.result(refs[0], True) if refs else None
    yield lambda: say("w", memory.wrap().version or 0)
    yield lambda: done("a", "nchored", memory.audit.anchor(place / "anchors"))
    if refs:
        say("?", refs[-1])
        yield lambda: done("-", refs[-1], memory.erase(refs[-1]))
    yield lambda: memory.transfer.backup(place / "copy.db")
    yield lambda: memory.transfer.export_jsonl(place / "lines.jsonl")
    yield lambda: kept(memory.record("the last one").ref)
    yield memory.close


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
