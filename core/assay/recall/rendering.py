"""Rendering stored text as data: one escaped line per item, inside a fence that stored text cannot close."""

from __future__ import annotations

import json
import unicodedata

from assay.model.labels import Trust

__all__ = ["closing", "escaped", "item_line", "label", "opening", "quoted_line"]


def opening(fence: str, title: str) -> str:
    """Give the line that opens a fence."""
    return f'<memory-{fence} note="{title}">'


def closing(fence: str) -> str:
    """Give the line that closes a fence."""
    return f"</memory-{fence}>"


def item_line(ref: str, text: str, *, facts: str = "", trust: Trust = Trust.AGENT) -> str:
    """Render an item as `- ref facts "text"`; what is trusted less than the agent says so."""
    warning = "" if trust.rank >= Trust.AGENT.rank else f" ({trust.value})"
    return f"- {ref}{f' {facts}' if facts else ''}{warning} {escaped(text)}"


def quoted_line(text: str) -> str:
    """Render a line of a document behind `> `, so that it can start nothing of ours."""
    return f"> {escaped(text)[1:-1]}" if _hidden(text) or "<" in text else f"> {text}"


def escaped(text: str) -> str:
    r"""Give a text as one JSON string; what is invisible, and `<`, which begins a fence, become `\u` escapes."""
    quoted = json.dumps(text, ensure_ascii=False).replace("<", r"\u003c")
    if not _hidden(quoted):
        return quoted
    return "".join(json.dumps(char)[1:-1] if _is_hidden(char) else char for char in quoted)


def label(text: str) -> str:
    """Reduce a label such as a source to characters that mean nothing in our rendering."""
    return "".join(char if char.isalnum() or char in ":.@-_" else "_" for char in text[:60])


def _hidden(text: str) -> bool:
    return (not text.isascii() and any(map(_is_hidden, text))) or (text.isascii() and not text.isprintable())


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
