"""Short names and digests that the store accepts, whatever a host calls its things."""

from __future__ import annotations

import hashlib

from assay.model.constants import MAX_LABEL_CHARS

__all__ = ["digest", "label"]


def digest(text: str) -> str:
    """Give 40 hex digits of SHA-256, a form that idempotency keys may have."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def label(text: str) -> str:
    """Make a short printable label; one that had to be cut ends in a digest, so that two stay apart."""
    if text.isprintable() and 0 < len(text) <= MAX_LABEL_CHARS:
        return text
    printable = "".join(char if char.isprintable() else "?" for char in text)
    return f"{printable[: MAX_LABEL_CHARS - 17]}~{digest(text)[:16]}"
