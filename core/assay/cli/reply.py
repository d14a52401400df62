"""What a command answers, and how it is printed: as text for a person, or as one JSON document."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import Enum
from typing import cast

from assay.model.episode import JsonValue

__all__ = ["NO", "UNAVAILABLE", "USAGE", "YES", "Reply", "as_json", "json_text", "one_line", "printable"]

# Exit codes. `doctor` has a scale of its own.
YES = 0
NO = 1  # refused, not found, or the answer is no
USAGE = 2
UNAVAILABLE = 3  # the store cannot be read or written

# Characters of the class Cf that only join letters: Persian, Indic scripts and emoji need them.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a command.

    Attributes:
        data: Printed with `--json`.
        text: Printed without; stored text in it is made printable at the end, as a whole.
        code: The exit code.
    """

    data: Mapping[str, JsonValue]
    text: str
    code: int = YES


def as_json(value: object) -> JsonValue:
    """Turn records, enums, times and containers into plain JSON values; fields keep their names."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, date):  # a datetime as well
        return value.isoformat()
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, frozenset):
        return [*sorted(map(str, cast("frozenset[object]", value)))]
    if isinstance(value, Sequence):
        return [as_json(item) for item in cast("Sequence[object]", value)]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def json_text(data: Mapping[str, JsonValue]) -> str:
    """Write one line of JSON in which every character that a terminal could obey is an escape."""
    return _escaped(json.dumps(data, ensure_ascii=False), keep="")


def printable(text: str) -> str:
    r"""Keep lines and tabs, and show every other control, direction or invisible character as `\u....`."""
    return _escaped(text, keep="\n\t")


def one_line(text: str) -> str:
    """Show a text on one line."""
    return " ".join(text.split())


def _escaped(text: str, keep: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep or not _hidden(char) else json.dumps(char)[1:-1] for char in text)


def _hidden(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN and char not in _JOINERS
