"""Read one line of a graduating or a durable section by its grammar."""

from __future__ import annotations

import re
import unicodedata

from assay.model.constants import MAX_CUES
from assay.model.finding import Finding
from assay.model.labels import Mark
from assay.recall.rendering import escaped
from assay.wrap.document.levels import BARS, find_levels, neutralise, quote_spans
from assay.wrap.document.tags import take_tags
from assay.wrap.document.tree import FactLine, Note, PatternLine
from assay.wrap.findings import found

__all__ = [
    "EXPECTED",
    "claims_level",
    "is_name",
    "read_fact",
    "read_note",
    "read_pattern",
    "strip_bullet",
    "strip_marks",
]

EXPECTED = '- name: what holds | 2x [evidence: ep_k3v9q2ma "words copied from the episode"] [no-contradicts]'
_GLYPHS = ("thought:", "!", "?", "✓")
_WRAPPERS = ("**", "__", "*", "_", "`")
_CUES = ("— cues:", "– cues:", "-- cues:", "| cues:", "- cues:")
_RELAYED = " (relayed)"
_MAX_NAME = 80
_MAX_LAYERS = 50
_MARKS = re.compile(
    rf"\s{{0,8}}\(\s{{0,8}}({'|'.join(mark.value for mark in Mark)})\s{{0,8}}\)\s{{0,8}}", re.IGNORECASE
)
_DATE = re.compile(r"\s{0,8}\(([0-9]{4}-[0-9]{2}-[0-9]{2})\)")
_NUMERAL = re.compile(r"\|\s{0,8}[0-9]{1,9}\s{0,8}\([0-9]{4}-[0-9]{2}-[0-9]{2}\)")


def claims_level(text: str) -> bool:
    """Tell whether a line holds something that reads as a level."""
    return bool(find_levels(text))


def read_pattern(raw: str, line: int, section: str) -> tuple[PatternLine | Note | None, list[Finding]]:
    """Read a line of a graduating section; None means that the line must be written differently."""
    tags = take_tags(raw)
    rest, marks = strip_marks(tags.rest)
    quoted = quote_spans(rest)
    outside = (one for one in find_levels(rest) if not any(start < one.start < end for start, end in quoted))
    token = next(outside, None)
    if tags.malformed or (token is None and (tags.citations or _NUMERAL.search(rest))):
        rule, what = ("evidence-malformed", "the tag") if tags.malformed else ("line-unparsable", "the line")
        message = f"{what} cannot be read: {escaped(raw.strip()[:80])}"
        return None, [found(rule, message, f"write it as: {EXPECTED}", section=section, line=line)]
    if token is None:
        return read_note(raw, line, section)
    verified, after = _date(rest[token.end :])
    (before, hidden), (after, extra) = neutralise(rest[: token.start]), neutralise(after)
    name, text = _subject(before, after)
    text, spliced = neutralise(text)  # what the level kept apart must not read as another one
    findings: list[Finding] = []

    def report(rule: str, message: str, fix: str = "") -> None:
        findings.append(found(rule, message, fix, section=section, line=line, subject=name or text))

    if token.value is None:
        report("level-malformed", f"{token.written!r} is no level", "write the level as digits and x, such as 2x")
    elif not token.exact:
        report("marker-normalised", f"the level is written as `| {token.written}x`")
    if hidden + extra + spliced:
        report("marker-extra", "a further level on the line does not count", "write one level on each line")
    if not (name or text):
        report("line-anonymous", "a level without a statement is left out")
        return Note("", line=line), findings
    level = token.value or 1
    return PatternLine(
        name, text, level, verified, tags.citations, tags.provenance, tags.contradicts, marks, line
    ), findings


def read_note(raw: str, line: int, section: str) -> tuple[Note, list[Finding]]:
    """Read any other line as it stands; what reads as a level in it is made unreadable as one."""
    raw = raw.rstrip()
    end = len(raw)
    while raw.endswith(_RELAYED, 0, end):
        end -= len(_RELAYED)
        while end and raw[end - 1].isspace():
            end -= 1
    plain = raw[:end]
    text, count = neutralise(plain)
    fix = "write levels only on lines of a graduating section, outside quotes and code"
    message = f"{count} levels where none can be earned"
    findings = [found("marker-outside", message, fix, section=section, line=line)] if count else []
    return Note(text, plain != raw, line), findings


def read_fact(raw: str, line: int, section: str) -> tuple[FactLine | None, list[Finding]]:
    """Read a bullet of the durable section, with the cues at its end; None for a line that is no bullet."""
    text = strip_bullet(raw.strip())
    if text is None:
        return None, []
    note, findings = read_note(strip_marks(text)[0], line, section)
    text, mark, tail = note.text, "", ""
    for cue_mark in _CUES:
        if not mark and note.text.rfind(cue_mark) > 0:
            text, mark, tail = note.text.rpartition(cue_mark)
    cues = dict.fromkeys(cue for one in tail.split(",") if (cue := " ".join(one.split())))
    text = " ".join(text.split())
    return (FactLine(text, tuple(cues)[:MAX_CUES], line) if text else None), findings


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
    names = [match[1].lower() for match in _MARKS.finditer(text)]
    return (_MARKS.sub(" ", text).strip(), tuple(dict.fromkeys(map(Mark, names)))) if names else (text, ())


def _subject(before: str, after: str) -> tuple[str, str]:
    """Give the name and the text of a line from what stands before and after its level."""
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
    word = next((text[:end] for end, char in enumerate(text) if not _nameable(char)), text)
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
        text = strip_bullet(stripped + " ") or stripped
        for glyph in _GLYPHS:
            if text.startswith(glyph):
                text = text[len(glyph) :].lstrip()
        text = text.lstrip(f"{BARS} ") if text[:1] in BARS else text
        for wrapper in _WRAPPERS:
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
