"""Beliefs that bear on a question."""

from __future__ import annotations

import json
from typing import Any

from assay.model.labels import Residence, Trust
from assay.model.recall import Hit
from assay.storage.reader import Reader

__all__ = ["matching_beliefs"]

_MOST = 3
_RECALLED = (Residence.WORKING.value, Residence.CRYSTAL.value, Residence.PINNED.value)


def matching_beliefs(reader: Reader, text: str, limit: int = _MOST) -> tuple[Hit, ...]:
    """Give the beliefs that share words with a text: the largest share of the question first, then the level."""
    from assay.text import content_set

    asked = content_set(text)
    scored: list[tuple[float, int, dict[str, Any]]] = []
    for row in reader.find("belief", {"residence": _RECALLED}):
        spoken = content_set(" ".join([row["name"], row["text"], *json.loads(row["cues"])]))
        shared = len(asked & spoken)
        if shared:
            scored.append((shared / len(asked), row["level"], row))
    scored.sort(key=lambda item: (item[0], item[1], item[2]["id"]), reverse=True)
    return tuple(
        Hit(
            ref=row["id"][:11],
            id=row["id"],
            text=f"{row['name']}: {row['text']}" if row["name"] and row["text"] else row["name"] or row["text"],
            score=share,
            why={"shared words": share},
            trust=Trust.AGENT,
            level=level,
        )
        for share, level, row in scored[:limit]
    )
