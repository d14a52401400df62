"""Read one line of a graduating or a durable section by its grammar."""

from __future__ import annotations

import re
import unicodedata

from assay.model.constants import MAX_CUES
from assay.model.finding import Action, Finding
from assay.model.labels import Mark
from assay.wrap.document.levels import find_levels, is_bar, neutralise, quote_spans
from assay.wrap.document.tags import take_tags
from assay.wrap.document.tree import FactLine, Note, PatternLine

__all__ = ["EXPECTED", "claims_level", "read_fact", "read_pattern", "strip_bullet", "strip_marks"]

EXPECTED = '- name: what holds | 2x [evidence: ep_k3v9q2ma "words copied from the episode"] [no-contradicts]'
_GLYPHS = ("thought:", "!", "?", "✓")
_WRAPPERS = ("**", "__", "*", "_", "`")
_MARKS = {mark.value: mark for mark in Mark}
_CUES = ("— cues:", "– cues:", "-- cues:", "| cues:", "- cues:")
_MAX_NAME = 80


def claims_level(text: str) -> bool:
    """Tell whether a line holds something that reads as a level."""
    return bool(find_levels(text))


def read_pattern(raw: str, line: int, section: str) -> tuple[PatternLine | Note | None, list[Finding]]:
    """Read a line of a graduating section; None means that the line must be written differently."""
    tags = take_tags(raw)
    rest, marks = strip_marks(tags.rest)
    quoted = quote_spans(rest)
    tokens = find_levels(rest)
    token = next((one for one in tokens if not any(start < one.start < end for start, end in quoted)), None)
    if tags.malformed:
        return None, [_refusal("evidence-malformed", "an evidence tag cannot be read", raw, line, section)]
    if token is None:
        if tags.citations or _bare_numeral(rest):
            return None, [
                _refusal("line-unparsable", "the line cites or claims a level and cannot be read", raw, line, section)
            ]
        text, count = neutralise(raw.rstrip())
        return Note(text, line=line), _outside(count, line, section)
    verified, after = _date(rest[token.end :])
    before, hidden = neutralise(rest[: token.start])
    after, extra = neutralise(after)
    name, text = _subject(before, after)
    findings = _token_findings(token.value, token.exact, hidden + extra, token.written, name or text, line, section)
    if not (name or text):
        return Note("", line=line), [
            *findings,
            _report("line-anonymous", "a level without a statement is left out", line, section),
        ]
    level = token.value or 1
    return PatternLine(
        name, text, level, verified, tags.citations, tags.provenance, tags.contradicts, marks, line
    ), findings


def read_fact(raw: str, line: int) -> FactLine | None:
    """Read a bullet of the durable section, with the cues at its end; None for a line that is no bullet."""
    text = strip_bullet(raw.strip())
    if text is None:
        return None
    text, _ = strip_marks(neutralise(text)[0])
    cues: list[str] = []
    folded = text.lower()
    for tail in _CUES:
        place = folded.rfind(tail) if len(folded) == len(text) else text.rfind(tail)
        if place > 0:
            cues = [" ".join(cue.split()) for cue in text[place + len(tail) :].split(",")]
            text = text[:place]
            break
    text = " ".join(text.split())
    named = tuple(dict.fromkeys(cue for cue in cues if cue))[:MAX_CUES]
    return FactLine(text, named, line) if text else None


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
    found: list[Mark] = []
    parts = text.split("(")
    kept = parts[0]
    for part in parts[1:]:
        word, close, tail = part.partition(")")
        mark = _MARKS.get(word.strip().lower()) if close else None
        if mark is None:
            kept += "(" + part
        else:
            found.append(mark)
            kept = kept.rstrip() + (" " + tail.lstrip() if tail.strip() else "")
    return kept, tuple(dict.fromkeys(found))


def _subject(before: str, after: str) -> tuple[str, str]:
    """Give the name and the text of a line from what stands before and after its level."""
    before = _bare(before)
    after = after.strip().lstrip("-—–:,;").strip()
    before = _tidy(before)
    if not before:
        before, after = _tidy(_bare(after)), ""
    name, colon, text = _split_name(before)
    if not name:
        return "", _bare(_tidy(f"{before} {after}"))
    return name, _tidy(f"{text} {after}" if colon else after)


def _tidy(text: str) -> str:
    """Collapse spaces, and drop bars at the end: the level would stand behind them."""
    text = " ".join(text.split())
    while text and is_bar(text[-1]):
        text = text[:-1].rstrip()
    return text


def _split_name(text: str) -> tuple[str, str, str]:
    """Split `name: text`; the name is one word that begins with a letter."""
    end = 0
    while end < len(text) and (text[end].isalnum() or text[end] in "_.-" or unicodedata.category(text[end])[0] == "M"):
        end += 1
    name = unicodedata.normalize("NFKC", text[:end])
    if (
        not name
        or not name[0].isalpha()
        or len(name) > _MAX_NAME
        or not all(c.isalnum() or c in "_.-" or unicodedata.category(c)[0] == "M" for c in name)
    ):
        return "", "", text
    tail = text[end:]
    if not tail.strip():
        return name, "", ""
    if tail[0] == "：" or (tail[0] == ":" and (len(tail) == 1 or tail[1].isspace())):
        return name, ":", tail[1:].strip()
    return "", "", text


def _bare(text: str) -> str:
    """Take bullets, glyphs and emphasis off the front of a line."""
    while True:
        stripped = text.strip()
        text = strip_bullet(stripped + " ") or stripped
        for glyph in _GLYPHS:
            if text.startswith(glyph):
                text = text[len(glyph) :].lstrip()
        while text and is_bar(text[0]):
            text = text[1:].lstrip()
        for wrapper in _WRAPPERS:
            close = text.find(wrapper, len(wrapper)) if text.startswith(wrapper) else -1
            if close > 0:
                text = text[len(wrapper) : close] + text[close + len(wrapper) :]
                break
        if text == stripped:
            return text


def _date(text: str) -> tuple[str, str]:
    stripped = text.lstrip()
    day = stripped[1:11]
    if stripped[:1] == "(" and stripped[11:12] == ")" and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        return day, stripped[12:]
    return "", text


def _bare_numeral(text: str) -> bool:
    """Tell whether a bar, a number and a date stand where a level should."""
    return re.search(r"\|\s{0,8}[0-9]{1,9}\s{0,8}\([0-9]{4}-[0-9]{2}-[0-9]{2}\)", text) is not None


def _token_findings(
    value: int | None, exact: bool, extra: int, written: str, label: str, line: int, section: str
) -> list[Finding]:
    findings: list[Finding] = []
    if value is None:
        findings.append(
            Finding(
                "level-malformed",
                Action.LOWER,
                f"{written!r} is no level",
                "write the level as digits followed by x, such as 2x",
                section,
                line,
                label,
                True,
            )
        )
    elif not exact:
        findings.append(_report("marker-normalised", f"the level is written as `| {written}x`", line, section))
    if extra:
        findings.append(
            Finding(
                "marker-extra",
                Action.MARK,
                f"{extra} further level markers on the line do not count",
                "write one level on each line",
                section,
                line,
                label,
            )
        )
    return findings


def _outside(count: int, line: int, section: str) -> list[Finding]:
    if not count:
        return []
    fix = "write levels only on lines of a graduating section, outside quotes and code"
    return [
        Finding("marker-outside", Action.MARK, f"{count} level markers where none can be earned", fix, section, line)
    ]


def _report(rule: str, message: str, line: int, section: str) -> Finding:
    return Finding(rule, Action.REPORT, message, section=section, line=line)


def _refusal(rule: str, what: str, raw: str, line: int, section: str) -> Finding:
    shown = ascii_safe(raw.strip())
    return Finding(rule, Action.REFUSE, f"{what}: {shown}", f"write it as: {EXPECTED}", section, line, fixable=True)


def ascii_safe(text: str, limit: int = 80) -> str:
    """Show at most 80 characters of a text, with controls and invisible characters escaped."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut)
