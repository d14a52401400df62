"""Beliefs that bear on a question."""

from __future__ import annotations

import json
from typing import Any

from assay.model.constants import COMMON_SHARE, DURABLE_HITS
from assay.model.labels import Residence, Trust
from assay.model.recall import Hit
from assay.model.refs import belief_ref
from assay.recall.index import document_frequency
from assay.storage.reader import Reader

__all__ = ["matching_beliefs"]

_MOST = 3
_RECALLED = (Residence.WORKING.value, Residence.CRYSTAL.value)


def matching_beliefs(reader: Reader, text: str, limit: int = _MOST) -> tuple[Hit, ...]:
    """Give the beliefs that share words with a text: the largest share of the question first, then the level.

    At most two pinned facts stand behind them: those with a cue in the text, or with two of its words.
    """
    from assay.text import content_set

    asked = content_set(text)
    scored: list[tuple[float, int, dict[str, Any]]] = []
    for row in reader.find("belief", {"residence": _RECALLED}):
        shared = len(asked & content_set(" ".join([row["name"], row["text"], *json.loads(row["cues"])])))
        if shared:
            scored.append((shared / len(asked), row["level"], row))
    scored.sort(key=lambda item: (item[0], item[1], item[2]["id"]), reverse=True)
    return tuple(_hit(row, share) for share, _, row in scored[:limit]) + _facts(reader, asked)


def _facts(reader: Reader, asked: frozenset[str]) -> tuple[Hit, ...]:
    """Give the pinned facts that a question calls for; a word that many episodes have calls for none (J1)."""
    from assay.text import content_set
    from assay.text.compare import IDF_MIN_DOCUMENTS

    rows = reader.find("belief", {"residence": Residence.PINNED.value})
    frequency, documents = document_frequency(reader, sorted(asked)) if rows else ({}, 0)
    common = {word for word, count in frequency.items() if count > COMMON_SHARE * documents}
    telling = asked - common if documents >= IDF_MIN_DOCUMENTS else asked
    scored: list[tuple[int, str, dict[str, Any]]] = []
    for row in rows:
        cues = telling & content_set(" ".join(json.loads(row["cues"])))
        words = telling & content_set(row["text"])
        if (cues or len(words) > 1) and (len(asked) <= 2 or len(cues | words) > 1):
            scored.append((len(cues | words), row["id"], row))
    scored.sort(key=lambda item: (-item[0], item[1]))
    return tuple(_hit(row, shared / len(asked)) for shared, _, row in scored[:DURABLE_HITS])


def _hit(row: dict[str, Any], share: float) -> Hit:
    return Hit(
        ref=belief_ref(row["id"]),
        id=row["id"],
        text=f"{row['name']}: {row['text']}" if row["name"] and row["text"] else row["name"] or row["text"],
        score=share,
        why={"shared words": share},
        trust=Trust.AGENT,
        level=row["level"],
    )
