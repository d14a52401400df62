"""What a caller asks to record, checked before anything is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar, cast

from assay.errors import InvalidInput, TooLarge
from assay.model.constants import MAX_IDS_PER_CALL, MAX_LABEL_CHARS, MAX_METADATA_BYTES, MAX_METADATA_DEPTH
from assay.model.episode import JsonValue
from assay.model.labels import Kind, Origin, Trust, Verdict
from assay.model.times import parse_time, to_us

__all__ = ["Checked", "Draft", "as_draft", "as_label", "as_member", "checked"]

E = TypeVar("E", bound=Enum)

_NOTHING: Final[Mapping[str, JsonValue]] = MappingProxyType({})


# Both are tuples: one of each is made for every record, and a frozen dataclass takes several times as long to make.
class Draft(NamedTuple):
    """The arguments of a record, as they came.

    Attributes:
        trust: None for the store's default.
        supersedes: Refs that the new episode takes the place of.
        inferred: Whether `derived_from` was inferred by the session rather than stated.
    """

    content: str
    kind: Kind = Kind.OBSERVATION
    origin: Origin = Origin.HOST
    source: str = ""
    session: str | None = None
    run: str | None = None
    trust: Trust | None = None
    success: bool | None = None
    state_key: str | None = None
    derived_from: Sequence[str] = ()
    supersedes: Sequence[str] = ()
    tags: Sequence[str] = ()
    metadata: Mapping[str, JsonValue] = _NOTHING
    happened_at: datetime | date | str | None = None
    idempotency_key: str | None = None
    verdict: Verdict | None = None
    target: str | None = None
    inferred: bool = False

    def __repr__(self) -> str:
        """Show no content."""
        return f"Draft(kind={self.kind!r}, source={self.source!r})"


class Checked(NamedTuple):
    """A draft in the form of the row's columns."""

    draft: Draft
    content: str
    source: str
    session: str | None
    run: str | None
    state_key: str | None
    tags: str
    metadata: str
    happened: int | None

    def __repr__(self) -> str:
        """Show no content."""
        return f"Checked({self.draft!r})"


_CLOSED: dict[str, type[Enum]] = {"kind": Kind, "origin": Origin, "trust": Trust, "verdict": Verdict}
_ARGUMENTS = frozenset(Draft._fields)
_KEY_CHARS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:-")
_KEY_LENGTH = 128
_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode


def checked(draft: Draft, *, scrub: Callable[[str], str]) -> Checked:
    """Check every argument that needs no store.

    Args:
        scrub: Takes the secrets out of a text.

    Raises:
        InvalidInput: With the name of the argument and what it may be.
    """
    content = scrub(_text(draft.content))
    if draft.idempotency_key is not None and not _is_key(draft.idempotency_key):
        raise InvalidInput("idempotency_key", "1 to 128 characters of 0-9 A-Z a-z . _ : -")
    if draft.success is not None and not isinstance(draft.success, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("success", "True, False or None")
    if draft.success is not None and draft.kind is not Kind.OUTCOME:
        raise InvalidInput("success", "only an outcome has it: pass kind=Kind.OUTCOME")
    if len(draft.derived_from) + len(draft.supersedes) > MAX_IDS_PER_CALL:
        raise InvalidInput("derived_from", f"more than {MAX_IDS_PER_CALL} refs in one call")
    if (draft.target is not None) != (draft.verdict not in (None, Verdict.NEW)):
        raise InvalidInput("verdict", "echo, refines and conflicts need a target, and only they have one")
    happened = None if draft.happened_at is None else to_us(parse_time("happened_at", draft.happened_at))
    if draft.tags != () and (isinstance(draft.tags, str) or not isinstance(draft.tags, Sequence)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("tags", "a list of short texts")
    if draft.metadata is not _NOTHING and not isinstance(draft.metadata, (dict, Mapping)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("metadata", "a dictionary of JSON values")
    tags = [as_label("tags", tag) for tag in draft.tags]
    return Checked(
        draft,
        content,
        as_label("source", draft.source) if draft.source else "",
        None if draft.session is None else as_label("session", draft.session),
        None if draft.run is None else as_label("run", draft.run),
        None if draft.state_key is None else _state_key(draft.state_key),
        json.dumps(tags, ensure_ascii=False) if tags else "[]",
        _metadata(draft.metadata, scrub) if draft.metadata else "{}",
        happened,
    )


def as_draft(event: Mapping[str, Any], *, origin: Origin, session: str | None) -> Draft:
    """Read the arguments of a record from a mapping.

    Args:
        origin: Of an event that names none; `session` likewise.

    Raises:
        InvalidInput: An argument is unknown or missing, or none of a closed set.
    """
    unknown = sorted(event.keys() - _ARGUMENTS)
    given: dict[str, Any] = {"origin": origin, "session": session}
    given |= {name: value for name, value in event.items() if value is not None}
    if unknown or "content" not in given:
        raise InvalidInput(unknown[0] if unknown else "content", "each event takes the arguments of `Store.record`")
    for name in _CLOSED.keys() & given.keys():
        given[name] = as_member(name, given[name], _CLOSED[name])
    return Draft(**given)


def as_member(field_name: str, value: str | E, members: type[E]) -> E:
    """Read a member of a closed set from itself or its value.

    Raises:
        InvalidInput: With the values that are allowed.
    """
    if isinstance(value, members):
        return value
    try:
        return members(value)
    except ValueError as error:
        allowed = ", ".join(str(member.value) for member in members)
        raise InvalidInput(field_name, f"{str(value)[:40]!r} is none of {allowed}") from error


def as_label(field_name: str, value: str) -> str:
    """Check a short text such as a source or a session id: 1 to 200 characters, no control characters.

    Raises:
        InvalidInput: It is not such a text.
    """
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(field_name, f"a text is needed, not {type(value).__name__}")
    if not 0 < len(value) <= MAX_LABEL_CHARS or not value.isprintable():
        raise InvalidInput(field_name, f"1 to {MAX_LABEL_CHARS} printable characters")
    return value


def _is_key(key: object) -> bool:
    return isinstance(key, str) and 0 < len(key) <= _KEY_LENGTH and _KEY_CHARS.issuperset(key)


def _text(content: str) -> str:
    if not isinstance(content, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("content", f"a text is needed, not {type(content).__name__}")
    if not content or content.isspace():
        raise InvalidInput("content", "it is empty: say what happened")
    if "\0" in content:
        raise InvalidInput("content", "it holds a NUL character: remove it")
    try:
        if not content.isascii():
            content.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("content", "it holds half of a surrogate pair: decode the text as UTF-8 first") from error
    return content


def _state_key(value: str) -> str:
    from assay.text import fold

    key = fold(as_label("state_key", value)).strip()
    if not key:
        raise InvalidInput("state_key", "it is empty")
    return key


def _metadata(metadata: Mapping[str, JsonValue], scrub: Callable[[str], str]) -> str:
    _check_depth(metadata, MAX_METADATA_DEPTH)
    try:
        text = _as_json(metadata)
        if scrub(text) != text:  # the text is scrubbed to find out; what is kept must stay JSON
            text = _as_json(_scrubbed(metadata, scrub))
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise InvalidInput("metadata", f"only JSON values can be kept ({error})") from error
    if size > MAX_METADATA_BYTES:
        raise TooLarge("metadata", size, MAX_METADATA_BYTES, "bytes")
    return text


def _scrubbed(value: Any, scrub: Callable[[str], str], name: str = "") -> Any:
    """Take the secrets out of every text in a JSON value; a name such as `password` tells that its value is one."""
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return {scrub(str(key)): _scrubbed(one, scrub, str(key)) for key, one in named.items()}
    if isinstance(value, (list, tuple)):
        return [_scrubbed(one, scrub, name) for one in cast("Sequence[Any]", value)]
    if not isinstance(value, str):
        return value
    clean, assigned = scrub(value), f'{name}="{value}"'
    return "[redacted:credential]" if clean == value and scrub(assigned) != assigned else clean


def _check_depth(value: Any, left: int) -> None:
    if left < 0:
        raise InvalidInput("metadata", f"nested deeper than {MAX_METADATA_DEPTH}")
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, Any]", value).values())
    if isinstance(value, (list, tuple)):
        for child in cast("Sequence[Any]", value):
            _check_depth(child, left - 1)
