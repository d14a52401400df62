"""Read one line of a graduating or a durable section by its grammar."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from assay.model.constants import MAX_CUES
from assay.model.labels import Mark
from assay.recall.rendering import escaped
from assay.wrap.document.levels import BARS, OPENERS, levels, neutralise, outside_quotes, plain
from assay.wrap.document.tags import take_tags
from assay.wrap.document.tree import FactLine, Note, PatternLine

__all__ = ["EXPECTED", "Remark", "is_name", "quiet", "read_fact", "read_note", "read_pattern"]

EXPECTED = '- name: what holds | 2x [evidence: ep_k3v9q2ma "words copied from the episode"] [no-contradicts]'
_GLYPHS = ("thought:", "!", "?", "✓")
_WRAPPERS = ("**", "__", "*", "_", "`")
_LAYERS = frozenset(f"-*+•–0123456789!?✓_`{BARS}")  # what a layer around a statement begins with, but for a word
Remark = tuple[str, str, str]
"""What was wrong with a line, or put right in it: the rule, the fact, and what to do about it."""

_CUES = ("— cues:", "– cues:", "-- cues:", "| cues:", "- cues:")
_RELAYED = " (relayed)"
_MAX_NAME = 80
_REMEMBERED = 1_024  # lines that are read once: a document is read again with every save
_MAX_LAYERS = 50
_MARKS = re.compile(
    rf"\s{{0,8}}\(\s{{0,8}}({'|'.join(mark.value for mark in Mark)})\s{{0,8}}\)\s{{0,8}}", re.IGNORECASE
)
_DATE = re.compile(r"\s{0,8}\(([0-9]{4}-[0-9]{2}-[0-9]{2})\)")
_SPEAKS = re.compile(rf"[\[{re.escape(OPENERS)}]")
_WORD = re.compile(r"[\w.-]*")
_NUMERAL = re.compile(r"\|\s{0,8}[0-9]{1,9}\s{0,8}\([0-9]{4}-[0-9]{2}-[0-9]{2}\)")


def quiet(lines: Iterable[str]) -> list[bool]:
    """Tell of each line, at a glance, whether it is a note as it stands: without tag, level or mark."""
    return [
        _SPEAKS.search(line) is None or (plain(line) and "[" not in line and "(relayed)" not in line) for line in lines
    ]


@lru_cache(maxsize=_REMEMBERED)
def read_pattern(raw: str) -> tuple[PatternLine | Note | None, tuple[Remark, ...]]:
    """Read a line of a graduating section; None means that the line must be written differently."""
    tags = take_tags(raw)
    rest, marks = strip_marks(tags.rest)
    token = next(outside_quotes(rest, levels(rest)), None)
    if tags.malformed or (token is None and (tags.citations or _NUMERAL.search(rest))):
        rule, what = ("evidence-malformed", "the tag") if tags.malformed else ("line-unparsable", "the line")
        message = f"{what} cannot be read: {escaped(raw.strip()[:80])}"
        return None, ((rule, message, f"write it as: {EXPECTED}"),)
    if token is None:
        return read_note(raw)
    verified, after = _date(rest[token.end :])
    (before, hidden), (after, extra) = neutralise(rest[: token.start]), neutralise(after)
    name, text = _subject(before, after)
    text, spliced = neutralise(text)  # what the level kept apart must not read as another one
    told: list[Remark] = []
    if token.value is None:
        fix = "write the level as digits and x, such as 2x"
        told.append(("level-malformed", f"{token.written!r} is no level", fix))
    elif not token.exact:
        told.append(("marker-normalised", f"the level is written as `| {token.written}x`", ""))
    if hidden + extra + spliced:
        told.append(("marker-extra", "a further level on the line does not count", "write one level on each line"))
    if not (name or text):
        return Note(""), (*told, ("line-anonymous", "a level without a statement is left out", ""))
    claimed = token.value or 1, verified, tags.citations, tags.provenance, tags.contradicts, marks
    return PatternLine(name, text, *claimed), tuple(told)


@lru_cache(maxsize=_REMEMBERED)
def read_note(raw: str) -> tuple[Note, tuple[Remark, ...]]:
    """Read any other line as it stands; what reads as a level in it is made unreadable as one."""
    raw = raw.rstrip()
    end = len(raw)
    while raw.endswith(_RELAYED, 0, end):
        end -= len(_RELAYED)
        while end and raw[end - 1].isspace():
            end -= 1
    kept = raw[:end]
    text, count = neutralise(kept)
    fix = "write levels only on lines of a graduating section, outside quotes and code"
    told = (("marker-outside", f"{count} levels where none can be earned", fix),) if count else ()
    return Note(text, kept != raw), told


@lru_cache(maxsize=_REMEMBERED)
def read_fact(raw: str) -> tuple[FactLine | None, tuple[Remark, ...]]:
    """Read a bullet of the durable section, with the cues at its end; None for a line that is no bullet."""
    text = strip_bullet(raw.strip())
    if text is None:
        return None, ()
    note, told = read_note(strip_marks(text)[0])
    text, mark, tail = note.text, "", ""
    for cue_mark in _CUES if "cues:" in text else ():
        if not mark and note.text.rfind(cue_mark) > 0:
            text, mark, tail = note.text.rpartition(cue_mark)
    cues = dict.fromkeys(cue for one in tail.split(",") if (cue := " ".join(one.split())))
    text = " ".join(text.split())
    return (FactLine(text, tuple(cues)[:MAX_CUES]) if text else None), told


def strip_bullet(text: str) -> str | None:
    """Take the bullet off a line, or give None when it has none."""
    if text[:1] in ("-", "*", "+", "•", "–") and text[1:2].isspace():
        return text[2:].strip()
    digits = len(text) - len(text.lstrip("0123456789"))
    if 0 < digits <= 3 and text[digits : digits + 1] in (".", ")") and text[digits + 1 : digits + 2].isspace():
        return text[digits + 2 :].strip()
    return None


def strip_marks(text: str) -> tuple[str, tuple[Mark, ...]]:
    """Take the engine's own marks, such as `(carried-forward)`, out of a line."""
    if "(" not in text:
        return text, ()
    names = [match[1].lower() for match in _MARKS.finditer(text)]
    return (_MARKS.sub(" ", text).strip(), tuple(dict.fromkeys(map(Mark, names)))) if names else (text, ())


def _subject(before: str, after: str) -> tuple[str, str]:
    """Give the name and the text of a line from what stands before and after its level."""
    if not (before or after):
        return "", ""
    before, after = _bare(before), after.strip().lstrip("-—–:,;")
    if not before:
        before, after = _bare(after), ""
    name, colon, text = _split_name(before)
    if not name:
        return "", _bare(f"{before} {after}")
    return name, _tidy(f"{text} {after}" if colon else after)


def _tidy(text: str) -> str:
    """Collapse spaces, and drop bars at the end: the level would stand behind them."""
    return " ".join(text.split()).rstrip(f"{BARS} ")


def _split_name(text: str) -> tuple[str, str, str]:
    """Split `name: text`; the name is one word that begins with a letter."""
    match = _WORD.match(text)
    end = match.end() if match else 0
    # Marks, which a pattern has no class for, and signs that stand for letters.
    while end < len(text) and all(map(_nameable, unicodedata.normalize("NFKC", text[end]))):
        end += 1
    word = text[:end]
    name, tail = unicodedata.normalize("NFKC", word), text[len(word) :]
    if not name or not name[0].isalpha() or len(name) > _MAX_NAME or not all(map(_nameable, name)):
        return "", "", text
    if not tail.strip():
        return name, "", ""
    colon = tail[0] == "：" or (tail[0] == ":" and (len(tail) == 1 or tail[1].isspace()))
    return (name, ":", tail[1:].strip()) if colon else ("", "", text)


def is_name(text: str) -> bool:
    """Tell whether a text is one word that can name a line."""
    return _split_name(text) == (unicodedata.normalize("NFKC", text), "", "")


def _nameable(char: str) -> bool:
    return char.isalnum() or char in "_.-" or unicodedata.category(char)[0] == "M"


def _bare(text: str) -> str:
    """Take bullets, glyphs and emphasis off the front of a line; nothing is said under too many of them."""
    text = _tidy(text)
    for _ in range(_MAX_LAYERS):
        stripped = text
        if text[:1] not in _LAYERS and not text.startswith("thought:"):
            if (text := _tidy(text)) == stripped:
                return text
            continue
        text = strip_bullet(stripped + " ") or stripped
        for glyph in _GLYPHS if text.startswith(_GLYPHS) else ():
            if text.startswith(glyph):
                text = text[len(glyph) :].lstrip()
        text = text.lstrip(f"{BARS} ") if text[:1] in BARS else text
        for wrapper in _WRAPPERS if text.startswith(_WRAPPERS) else ():
            close = text.find(wrapper, len(wrapper)) if text.startswith(wrapper) else -1
            if close > 0:
                text = text[len(wrapper) : close] + text[close + len(wrapper) :]
                break
        if text == stripped and (text := _tidy(text)) == stripped:
            return text
    return ""


def _date(text: str) -> tuple[str, str]:
    match = _DATE.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)
