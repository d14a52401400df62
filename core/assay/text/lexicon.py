"""Word lists, read from the files beside the code when first asked for."""

from functools import cache

__all__ = ["entries", "members"]


@cache
def entries(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Read `data/<name>.txt` as pairs of a key and its words.

    A line is `key: word word ...`; a line without a key gets the empty key. `#` opens a comment line,
    and `_` inside a word stands for a space.
    """
    from pathlib import Path

    text = (Path(__file__).with_name("data") / f"{name}.txt").read_text(encoding="utf-8")
    found: list[tuple[str, tuple[str, ...]]] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, colon, rest = line.partition(": ")
        listed = rest if colon else line
        found.append((key if colon else "", tuple(word.replace("_", " ") for word in listed.split())))
    return tuple(found)


@cache
def members(name: str) -> frozenset[str]:
    """Return every word of a list, whatever its key."""
    return frozenset(word for _, listed in entries(name) for word in listed)
