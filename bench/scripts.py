"""Round trips in other languages: is a memory found by a question in its own script?"""

from __future__ import annotations

from pathlib import Path

from assay import Store

_PAIRS = Path(__file__).with_name("scripts.txt")


def pairs() -> list[tuple[str, str, str]]:
    """Give (language, memory, question)."""
    lines = (line for line in _PAIRS.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [(parts[0], parts[1], parts[2]) for line in lines for parts in [line.split(" | ")]]


def measure() -> dict[str, float]:
    """Hold all memories in one store; give for each language the share found among the first three."""
    found: dict[str, list[bool]] = {}
    with Store(":memory:") as store:
        refs = store.episodes.record_many({"content": memory} for _, memory, _ in pairs())
        for ref, (language, _, question) in zip(refs, pairs(), strict=True):
            hits = [hit.id for hit in store.recall(question, limit=3)]
            found.setdefault(language, []).append(ref in hits)
    return {language: round(sum(listed) / len(listed), 4) for language, listed in found.items()}
