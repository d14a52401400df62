"""A process of its own that does everything a store can do, and says after each call that it returned.

    python -m bench.torture.worker PATH NAME SEED [COUNT] [FULL | NORMAL]

A line is one `write` to the pipe: `+ ID` recorded, `? ID` about to be erased, `- ID` erased, `w VERSION` wrapped.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from itertools import count as counting

from assay import Kind, Store

__all__ = ["work"]


def say(sign: str, what: object) -> None:
    """Tell it in one system call: either the whole line arrives or nothing."""
    os.write(1, f"{sign} {what}\n".encode())


def work(store: Store, name: str, dice: random.Random) -> Callable[[int], None]:
    """Give what does the step of a number: mostly it records, and sometimes it replaces, wraps or erases."""
    mine: list[str] = []

    def record(number: int, **more: object) -> None:
        text = f"{name} saw event {number}: the pool holds {dice.randrange(1000)} connections"
        mine.append(store.record(text, source=name, session=name, **more).ref)  # type: ignore[arg-type]
        say("+", mine[-1])

    def erase() -> None:
        ref = mine.pop(dice.randrange(len(mine)))
        say("?", ref)
        store.erase(ref)
        say("-", ref)

    def wrap() -> None:
        wrapped = store.wrap(session=name)
        if wrapped.version is not None:
            say("w", wrapped.version)

    def step(number: int) -> None:
        chance = dice.random()
        if chance < 0.06 and len(mine) > 3:
            erase()
        elif chance < 0.10:
            wrap()
        elif chance < 0.12:
            store.audit.checkpoint()
        elif chance < 0.25:
            record(number, state_key=f"{name}.pool")
        elif chance < 0.35:
            record(number, kind=Kind.OUTCOME, success=dice.random() < 0.5)
        elif chance < 0.40 and mine:
            mine.append(store.correct(mine[-1], f"{name} corrects event {number}").ref)
            say("+", mine[-1])
        else:
            record(number)

    return step


def main() -> None:
    """Work until the count is reached, or until somebody pulls the plug."""
    path, name, seed, count, mode = [*sys.argv[1:], "", "FULL"][:5]
    with Store(path, synchronous="NORMAL" if mode == "NORMAL" else "FULL") as store:
        step = work(store, name, random.Random(int(seed)))
        for number in range(int(count)) if count else counting():
            step(number)


if __name__ == "__main__":
    main()
