"""Bracketed tags of a line: evidence, provenance, stance, and the markers that ask for a move."""

from __future__ import annotations

from dataclasses import dataclass

from assay.wrap.document.tree import Citation, Move, MoveVerb

__all__ = ["Tags", "take_moves", "take_tags"]

_EVIDENCE = frozenset({"evidence", "provenance", "contradicts"})
_MOVES = frozenset(verb.value for verb in MoveVerb)
_OPENERS = frozenset('"“„«「『‹＂')
_CLOSERS = frozenset('"”“»」』›＂')


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of one line, and the line without them.

    Attributes:
        malformed: The first tag that could not be read, or "".
    """

    rest: str
    citations: tuple[Citation, ...] = ()
    provenance: tuple[str, ...] = ()
    contradicts: tuple[str, ...] | None = None
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class _Tag:
    keyword: str
    start: int
    end: int
    body: str


def take_tags(text: str) -> Tags:
    """Take the evidence, provenance and stance tags out of a line."""
    kept: list[str] = []
    citations: list[Citation] = []
    provenance: list[str] = []
    stance: list[str] | None = None
    malformed = ""
    place = 0
    for tag in _find(text, _EVIDENCE | {"no-contradicts"}):
        if tag.end < 0:
            malformed = malformed or text[tag.start :]
            continue
        kept.append(text[place : tag.start])
        place = tag.end
        if tag.keyword == "evidence":
            citation = _citation(tag.body)
            if citation is None:
                malformed = malformed or text[tag.start : tag.end]
            else:
                citations.append(citation)
        elif tag.keyword == "provenance":
            provenance += _ids(tag.body)
        else:
            names = [name.strip() for name in tag.body.replace(";", ",").split(",") if name.strip()]
            stance = (stance or []) + names
    kept.append(text[place:])
    rest = _escape(" ".join(" ".join(kept).split()), _EVIDENCE)
    return Tags(rest, tuple(citations), tuple(provenance), None if stance is None else tuple(stance), malformed)


def take_moves(text: str, line: int) -> tuple[str, list[Move], list[str]]:
    """Take the move markers out of a line that are not quoted in a tag.

    Returns:
        The line without them, the moves, and the markers that could not be read.
    """
    if "[" not in text:
        return text, [], []
    kept: list[str] = []
    moves: list[Move] = []
    unread: list[str] = []
    place = 0
    for tag in _find(text, _EVIDENCE | _MOVES):
        if tag.keyword in _EVIDENCE or tag.end < 0:
            continue
        kept.append(text[place : tag.start].rstrip())
        place = tag.end
        move = _move(MoveVerb(tag.keyword), tag.body, text[tag.start : tag.end], line)
        if move is None:
            unread.append(text[tag.start : tag.end])
        else:
            moves.append(move)
    kept.append(text[place:])
    return _escape("".join(kept).rstrip(), _MOVES), moves, unread


def _find(text: str, keywords: frozenset[str]) -> list[_Tag]:
    """Find tags with one of the keywords, left to right and not nested; an unclosed one has the end -1."""
    found: list[_Tag] = []
    place = text.find("[")
    while place >= 0:
        keyword, body = _keyword(text, place)
        end = place + 1
        if keyword in keywords:
            close = body - 1 if keyword == "no-contradicts" else _close(text, body)
            found.append(_Tag(keyword, place, close + 1 if close >= 0 else -1, text[body:close] if close >= 0 else ""))
            if close < 0:
                break
            end = close + 1
        place = text.find("[", end)
    return found


def _keyword(text: str, bracket: int) -> tuple[str, int]:
    """Give the keyword after a bracket and where the body of the tag begins."""
    end = bracket + 1
    while end < len(text) and end - bracket < 20 and (text[end].isalpha() or text[end] in "- "):
        end += 1
    word = text[bracket + 1 : end].strip().casefold()
    if word == "no-contradicts" and text[end : end + 1] == "]":
        return word, end + 1
    return (word, end + 1) if text[end : end + 1] in (":", "：") else ("", end)


def _close(text: str, body: int) -> int:
    """Give the place of the bracket that ends a tag: the first one after a closing quote, or before any quote."""
    quoted = -1
    for place in range(body, len(text)):
        char = text[place]
        if char in _OPENERS and quoted < 0:
            quoted = place
        elif char == "]":
            if quoted < 0:
                return place
            last = place - 1
            while text[last].isspace():
                last -= 1
            if last > quoted and text[last] in _CLOSERS and text[last - 1] != "\\":
                return place
    return -1


def _citation(body: str) -> Citation | None:
    start = next((place for place, char in enumerate(body) if char in _OPENERS), len(body))
    ids = _ids(body[:start])
    if not any("_" in one or any(char.isdigit() for char in one) for one in ids):
        return None
    quoted = body[start:].strip()
    explanation = quoted[1:-1].replace('\\"', '"').replace("\\\\", "\\") if quoted else ""
    return Citation(tuple(ids), " ".join(explanation.split()))


def _ids(text: str) -> list[str]:
    words = text.replace(",", " ").replace(";", " ").split()
    stripped = (word.strip("()<>`'#.:").lower() for word in words)
    return [word for word in dict.fromkeys(stripped) if word]


def _move(verb: MoveVerb, body: str, written: str, line: int) -> Move | None:
    body = " ".join(body.split())
    if verb is MoveVerb.DROP_DURABLE:
        return Move(verb, (body,), text=written, line=line) if body else None
    start = next((place for place, char in enumerate(body) if char in _OPENERS), len(body))
    reason = body[start + 1 :].rstrip().rstrip("".join(_CLOSERS)).strip() if start < len(body) else ""
    head = body[:start].strip()
    target = ""
    joint = {MoveVerb.SUPERSEDES: " by ", MoveVerb.RENAME: " to ", MoveVerb.MERGE: " into "}.get(verb)
    if joint is not None:
        head, found, target = head.partition(joint)
        target = target.strip()
        if not found or not target:
            return None
    subjects = tuple(name.strip() for name in (head.split(",") if verb is MoveVerb.MERGE else [head]) if name.strip())
    return Move(verb, subjects, target, reason, written, line=line) if subjects else None


def _escape(text: str, keywords: frozenset[str]) -> str:
    """Open what still reads as a tag with a parenthesis, so that no later reading finds one."""
    if "[" not in text:
        return text
    parts = text.split("[")
    out = [parts[0]]
    for part in parts[1:]:
        keyword, _ = _keyword("[" + part, 0)
        out.append(("(" if keyword in keywords else "[") + part)
    return "".join(out)
