"""Bracketed tags of a line: evidence, provenance, stance, and the markers that ask for a move."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from assay.wrap.document.tree import Citation, Move, MoveVerb

__all__ = ["Tags", "take_moves", "take_tags"]

_OPENERS = '"“„«「『‹＂'
_CLOSERS = '"”“»」』›＂'
_BLANK = r"[ \t]{0,4}"
_EVIDENCE = re.compile(
    rf"\[{_BLANK}(evidence|provenance|contradicts){_BLANK}[:：]|\[{_BLANK}(no-contradicts){_BLANK}\]", re.IGNORECASE
)
_VERBS = "|".join(verb.value for verb in MoveVerb)
_MOVES = re.compile(rf"\[{_BLANK}({_VERBS}){_BLANK}[:：]", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([\"\\])")
_ANY = re.compile(rf"{_EVIDENCE.pattern}|{_MOVES.pattern}", re.IGNORECASE)
_JOINTS = {MoveVerb.SUPERSEDES: " by ", MoveVerb.RENAME: " to ", MoveVerb.MERGE: " into "}


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of one line, and the line without them.

    Attributes:
        malformed: Whether an evidence tag could not be read.
    """

    rest: str
    citations: tuple[Citation, ...] = ()
    provenance: tuple[str, ...] = ()
    contradicts: tuple[str, ...] | None = None
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class _Tag:
    """A tag from its bracket to the end; `end` is -1 when nothing closes it."""

    keyword: str
    start: int
    end: int
    body: str


def take_tags(text: str) -> Tags:
    """Take the evidence, provenance and stance tags out of a line."""
    if "[" not in text:
        return Tags(" ".join(text.split()))
    kept: list[str] = []
    citations: list[Citation | None] = []
    provenance: list[str] = []
    stance: list[str] | None = None
    place = 0
    for tag in _find(text, _EVIDENCE):
        if tag.end < 0:
            citations.append(None)
            continue
        kept.append(text[place : tag.start])
        place = tag.end
        if tag.keyword == "evidence":
            citations.append(_citation(tag.body))
        elif tag.keyword == "provenance":
            provenance += _ids(tag.body)
        else:
            stance = stance or []
            stance += [name for one in re.split("[,;]", tag.body) if (name := one.strip())]
    rest = _inert(" ".join(" ".join([*kept, text[place:]]).split()), _EVIDENCE)
    good = tuple(one for one in citations if one is not None)
    return Tags(rest, good, tuple(provenance), None if stance is None else tuple(stance), len(good) < len(citations))


@lru_cache(maxsize=1_024)
def take_moves(text: str) -> tuple[str, tuple[Move, ...], tuple[str, ...]]:
    """Take the move markers out of a line that are not quoted in a tag.

    Returns:
        The line without them, the moves, and the markers that could not be read.
    """
    if _MOVES.search(text) is None:
        return text.rstrip(), (), ()
    kept: list[str] = []
    moves: list[Move] = []
    unread: list[str] = []
    place = 0
    for tag in _find(text, _ANY):
        if tag.end < 0 or _MOVES.match(text, tag.start) is None:
            continue
        kept.append(text[place : tag.start].rstrip())
        place = tag.end
        written = text[tag.start : tag.end]
        move = _move(MoveVerb(tag.keyword), tag.body, written)
        if move is None:
            unread.append(written)
        else:
            moves.append(move)
    return _inert("".join([*kept, text[place:]]).rstrip(), _MOVES), tuple(moves), tuple(unread)


def _find(text: str, pattern: re.Pattern[str]) -> Iterator[_Tag]:
    """Find tags, left to right and not nested; behind one that nothing closes none is sought."""
    end = 0
    while (match := pattern.search(text, end)) is not None:
        keyword = next(one for one in match.groups() if one).lower()
        close = match.end() - 1 if keyword == "no-contradicts" else _close(text, match.end())
        yield _Tag(keyword, match.start(), close + 1 if close >= 0 else -1, text[match.end() : max(close, match.end())])
        if close < 0:
            return
        end = close + 1


def _close(text: str, body: int) -> int:
    """Give the place of the bracket that ends a tag: the first one after a closing quote, or before any quote."""
    place = text.find("]", body)
    quoted = next((at for at in range(body, max(place, body)) if text[at] in _OPENERS), -1)
    while quoted >= 0 <= place:
        last = place - 1
        while text[last].isspace():
            last -= 1
        before = text[max(body, last - 99) : last]
        escaped = (len(before) - len(before.rstrip("\\"))) % 2 == 1
        if last > quoted and text[last] in _CLOSERS and not escaped:
            break
        place = text.find("]", place + 1)
    return place


def _citation(body: str) -> Citation | None:
    start = next((place for place, char in enumerate(body) if char in _OPENERS), len(body))
    ids = _ids(body[:start])
    if not any("_" in one or any(char.isdigit() for char in one) for one in ids):
        return None
    explanation = _ESCAPED.sub(r"\1", body[start:].strip()[1:-1])
    return Citation(tuple(ids), " ".join(explanation.split()))


def _ids(text: str) -> list[str]:
    stripped = (word.strip("()<>`'#.:").lower() for word in re.split(r"[,;\s]", text))
    return [word for word in dict.fromkeys(stripped) if word]


def _move(verb: MoveVerb, body: str, written: str) -> Move | None:
    body = " ".join(body.split())
    if verb is MoveVerb.DROP_DURABLE:
        return Move(verb, (body,), text=written) if body else None
    start = next((place for place, char in enumerate(body) if char in _OPENERS), len(body))
    reason = body[start + 1 :].rstrip(_CLOSERS + " ").strip()
    head, _, target = body[:start].strip().partition(_JOINTS.get(verb, "\0"))
    subjects = tuple(name.strip() for name in (head.split(",") if verb is MoveVerb.MERGE else [head]) if name.strip())
    if not subjects or (verb in _JOINTS and not target.strip()):
        return None
    return Move(verb, subjects, target.strip(), reason, written)


def _inert(text: str, pattern: re.Pattern[str]) -> str:
    """Open what still reads as a tag with a parenthesis, so that no later reading finds one."""
    return pattern.sub(lambda match: f"({match[0][1:]}", text)
