"""Secrets are erased from every tier, and every file is searched for what is left of them."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from pathlib import Path

from bench.torture import log

from assay import Kind, Store

__all__ = ["left_in", "measure", "secrets"]

_SHAPES = (
    lambda number: f"Velquorin{number}zimpathos",
    lambda number: f"4471{number:06d}9038",
    lambda number: f"秘密藍圖{chr(0x4E00 + number * 7)}{chr(0x5E00 + number * 5)}鳳凰",
    lambda number: f"سرية{chr(0x0628 + number % 20)}مخطوطة{number}",
    lambda number: f"sk_live_Q{number}x9Tz{number * 31}",
)


def measure(folder: Path, *, long: bool, count: int = 100) -> dict[str, float]:
    """Erase `count` secrets; count the files and codings that still hold one of them."""
    rounds = 3 if long else 1
    residue = pending = 0
    for number in range(rounds):
        left, waits = _round(folder / str(number), count, random.Random(number))
        residue, pending = residue + left, pending + waits
    return {"secrets": rounds * count, "residue": residue, "pending": pending}


def secrets(count: int) -> list[str]:
    """Give texts of several kinds and scripts, none of which stands anywhere else."""
    return [_SHAPES[number % len(_SHAPES)](number) for number in range(count)]


def _round(folder: Path, count: int, dice: random.Random) -> tuple[int, int]:
    folder.mkdir()
    hidden = secrets(count)
    with Store(folder / "memory.db") as store:
        refs = [ref for number, secret in enumerate(hidden) for ref in _spread(store, number, secret)]
        before = sum(1 for secret in hidden if any(left_in(folder, secret)))
        if before < count:
            raise AssertionError(f"only {before} of {count} secrets were stored: the search would prove nothing")
        dice.shuffle(refs)
        for ref in refs:
            store.erase(ref)
        pending = store.status().erase_pending
        residue = sum(1 for secret in hidden for _ in _report(folder, secret))
        if not store.verify():
            raise AssertionError(f"the log does not verify after the erasures: {store.verify()}")
    return residue + sum(1 for secret in hidden for _ in _report(folder, secret)), pending


def _spread(store: Store, number: int, secret: str) -> list[str]:
    """Bring a secret into the tiers: text, metadata, a state key's value, a result, a belief, the continuity."""
    shown = f"the code of the vault is {secret}"
    first = store.record(f"{shown}, says the log", session=f"a{number}", metadata={"code": secret})
    again = store.record(f"{shown}, says the note", session=f"b{number}", state_key=f"vault.{number}", tags=["vault"])
    worked = store.record(f"opened with {secret}", kind=Kind.OUTCOME, success=True, derived_from=[first])
    store.recall(secret)
    store.briefing(f"what is the code of the vault, {secret}?", session=f"a{number}", run="r")
    if number % 10 == 9:
        cited = f'[evidence: {again.ref} "{shown}"] [no-contradicts]'
        line = f"- vault{number}: {shown} | 1x {cited}"
        store.wrap(lambda prompt: f"## State\n{shown}\n\n## Patterns\n{line}\n\n## Decisions\n\n## Context\n{shown}\n")
    else:
        store.wrap()
    return [first.ref, again.ref, worked.ref]


def _report(folder: Path, secret: str) -> Iterator[str]:
    for place in left_in(folder, secret):
        log(f"erase: {secret!r} is left in {place}")
        yield place


def left_in(folder: Path, secret: str) -> Iterator[str]:
    """Name each file that holds a secret, in any coding that a tier may use."""
    codings = dict(_codings(secret))
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        yield from (f"{path.name} as {name}" for name, coded in codings.items() if coded in data)


def _codings(secret: str) -> Iterator[tuple[str, bytes]]:
    plain = secret.encode()
    yield "utf-8", plain
    yield "utf-16-le", secret.encode("utf-16-le")
    yield "utf-16-be", secret.encode("utf-16-be")
    yield "json", json.dumps(secret)[1:-1].encode()
    yield "hex", plain.hex().encode()
    yield "HEX", plain.hex().upper().encode()
    for shift in range(3):  # a secret inside a longer text begins at any third byte; its ends are cut off
        coded = base64.b64encode(b"\0" * shift + plain)
        yield f"base64+{shift}", coded[4 if shift else 0 : -4]
