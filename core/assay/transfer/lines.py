"""An export, line by line: JSON objects, one row in each, between a line that says what it is and one that ends it.

A line of an episode has the arguments of `Store.record` by their names. Times are ISO 8601, flags true or false, and
what a row keeps as JSON stands in the line as JSON. What is derived from the store's secret is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from math import isinf
from pathlib import Path
from typing import Any, Final, TypeGuard

from assay.errors import InvalidInput
from assay.model.times import from_us, parse_time, to_us

__all__ = ["FORMAT", "HIDDEN", "LONGEST", "dump", "is_text", "parse", "records", "to_line", "to_row"]

FORMAT: Final = 1
LONGEST: Final = 8 * 1024 * 1024  # bytes of a line: a document of the largest size, every character escaped
HIDDEN: Final = {"episode": frozenset({"text_hash", "key_hash"}), "wrap": frozenset({"token_hash"})}
_NAMES: Final = {"id": "ref", "happened": "happened_at", "recorded": "recorded_at", "idem": "idempotency_key"}
_COLUMNS: Final = {name: column for column, name in _NAMES.items()}
_TIMES: Final = frozenset(
    (
        *("happened", "recorded", "erased", "effective_from", "made", "created"),
        *("verified", "lease_until", "prepared", "ended"),
    )
)
_FLAGS: Final = frozenset(("success", "quarantined", "inferred", "worked"))
_JSON: Final = frozenset(("tags", "metadata", "marks", "cues", "window", "schema", "detail", "value"))
_MOST: Final = 2**63

dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def to_line(table: str, row: dict[str, Any]) -> str:
    """Write a row as a line, without its line break."""
    hidden = HIDDEN.get(table, ())
    record = {_NAMES.get(name, name): _shown(name, value) for name, value in row.items() if name not in hidden}
    return dump({"type": table, **record})


def parse(line: bytes, number: int) -> dict[str, Any]:
    """Read a line.

    Raises:
        InvalidInput: It is too long, not UTF-8, or no JSON object.
    """
    if len(line) > LONGEST:
        raise refusal(number, f"longer than {LONGEST:,} bytes")
    try:
        record = json.loads(line.decode(), parse_constant=_no_number, parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise refusal(number, f"not JSON in UTF-8 ({error})") from error
    if not isinstance(record, dict):
        raise refusal(number, "not a JSON object")
    return record  # pyright: ignore[reportUnknownVariableType]


def records(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the lines of a file by their numbers; the last line of an export must account for those before it.

    Raises:
        InvalidInput: The file cannot be read, or it is an export that was cut short or changed.
    """
    digest, number, is_export = sha256(), 0, False
    try:
        with Path(path).open("rb") as file:
            while line := file.readline(LONGEST + 1):
                number += 1
                if not (is_export or line.strip()):
                    continue
                record = parse(line, number)
                is_export = is_export or (number == 1 and record.get("type") == "assay")
                if is_export and record.get("type") == "end":
                    if record.get("lines") != number - 1 or record.get("sha256") != digest.hexdigest() or file.read(1):
                        raise refusal(number, "the last line does not account for those before it")
                    return
                digest.update(line)
                yield number, record
    except OSError as error:
        raise InvalidInput("file", f"{path} cannot be read ({error.strerror})") from error
    if is_export:
        raise refusal(number, "the file ends early")


def to_row(record: dict[str, Any], columns: dict[str, tuple[bool, bool]], table: str, number: int) -> dict[str, Any]:
    """Turn a line into the row that it was written from, but for what is hidden.

    Args:
        columns: For each column whether it holds whole numbers, and whether it may be empty.

    Raises:
        InvalidInput: A name is missing or unknown, or a value has another type.
    """
    given = {_COLUMNS.get(name, name): value for name, value in record.items() if name != "type"}
    wanted = {"id", *columns} - HIDDEN.get(table, frozenset())
    if given.keys() != wanted:
        names = sorted(_NAMES.get(name, name) for name in given.keys() ^ wanted)
        raise refusal(number, f"{table}: {', '.join(names)} missing or unknown")
    return {
        name: _stored(name, value, *columns.get(name, (False, False)), number=number) for name, value in given.items()
    }


def refusal(number: int, why: str) -> InvalidInput:
    """Give the error that names a line."""
    return InvalidInput("file", f"line {number}: {why}; nothing was written")


def _shown(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _TIMES:
        return from_us(value).isoformat()
    if name in _FLAGS:
        return bool(value)
    if name in _JSON:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _stored(name: str, value: Any, whole: bool, empty: bool, *, number: int) -> Any:
    if value is None and empty:
        return None
    try:
        if name in _TIMES:
            value = to_us(parse_time(name, value)) if isinstance(value, str) else None
        elif name in _FLAGS:
            value = int(value) if isinstance(value, bool) else None
        elif name in _JSON and (name == "value" or not isinstance(value, str)):
            value = json.dumps(value, ensure_ascii=False)
    except (InvalidInput, ValueError, RecursionError) as error:
        raise refusal(number, str(error)) from error
    fits = isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST
    if not (fits if whole else is_text(value)):
        raise refusal(number, f"{_NAMES.get(name, name)} is not what it should be")
    return value


def is_text(value: Any) -> TypeGuard[str]:
    """Tell whether a value is text that can be stored: no NUL, no half of a surrogate pair."""
    if not isinstance(value, str) or "\0" in value:
        return False
    return value.isascii() or value.encode("utf-8", "replace").decode() == value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _number(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number
