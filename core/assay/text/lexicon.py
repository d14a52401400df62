"""Word lists and patterns, read from the files beside the code when first asked for."""

from functools import cache
from re import Pattern

__all__ = ["alternatives", "entries", "lines", "members", "pattern", "table"]


@cache
def lines(name: str) -> tuple[str, ...]:
    """Read the lines of `data/<name>.txt`, without comments (`#`) and blank ones."""
    # Not by pathlib: its import would cost a process that only records more than all of this.
    with open(f"{__file__.removesuffix('lexicon.py')}data/{name}.txt", encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()
    return tuple(line for line in text.split("\n") if line.strip() and not line.startswith("#"))


@cache
def entries(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each line `key: word word ...` as its key ("" without one) and words; `_` in a word is a space."""
    split = [line.partition(": ") for line in lines(name)]
    return tuple(
        (key if colon else "", tuple(word.replace("_", " ") for word in (rest if colon else key).split()))
        for key, colon, rest in split
    )


@cache
def members(name: str) -> frozenset[str]:
    """Return every word of a list, whatever its key."""
    return frozenset(word for _, listed in entries(name) for word in listed)


@cache
def table(name: str) -> dict[str, str]:
    """Return the key of each word of a list."""
    return {word: key for key, listed in entries(name) for word in listed}


@cache
def alternatives(name: str) -> str:
    """Return the expressions of a list as one, each a group of the name that stands before its tab."""
    return "|".join("(?P<{}>{})".format(*line.split("\t")) for line in lines(name))


@cache
def pattern(source: str) -> Pattern[str]:
    """Compile an expression when it is first used: compiling at import would slow every cold start."""
    import re

    return re.compile(source)
