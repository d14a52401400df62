"""Facts that change: when the new value is given with its state key, is the old one ever served?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.conversations import Conversation, Turn, beam, json_lines, leaves

from assay import Store
from bench import engines

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Update:
    """A question, the names of the turns that held before, and of those that hold now."""

    question: str
    old: Sequence[str]
    new: Sequence[str]


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Measure every set of updates that the folder holds."""
    found: dict[str, dict[str, float]] = {}
    pairs = json_lines(folder / "memsyco" / "valid_memory_selection.jsonl")
    if pairs:
        turns, updates = _memsyco(pairs)
        found["memsyco"] = _served([(turns, updates)])
    chats = [(chat.turns, _beam(chat, folder)) for chat in beam(folder)]
    if chats:
        found["beam"] = _served(chats)
    return found


def _memsyco(pairs: Sequence[Mapping[str, Any]]) -> tuple[list[Turn], list[Update]]:
    turns: list[Turn] = []
    updates: list[Update] = []
    for status in ("outdated", "current"):
        for pair in pairs:
            turns += [
                Turn(f"{pair['id']}.{status}", "user", item["content"], "")
                for item in pair["memory"]["items"]
                if item["status"] == status
            ]
    known = {turn.name for turn in turns}
    for pair in pairs:
        old, new = f"{pair['id']}.outdated", f"{pair['id']}.current"
        if {old, new} <= known:
            updates.append(Update(pair["question"], [old], [new]))
    return turns, updates


def _beam(chat: Conversation, folder: Path) -> list[Update]:
    file = folder / "beam100k" / chat.name / "probing_questions.json"
    updates: list[Update] = []
    for probe in json.loads(file.read_text("utf-8")).get("knowledge_update", ()):
        ids = probe["source_chat_ids"]
        old, new = list(leaves(ids.get("original_info", []))), list(leaves(ids.get("updated_info", [])))
        if old and new and not set(old) & set(new):
            updates.append(Update(probe["question"], old, new))
    return updates


def _served(sets: Sequence[tuple[Sequence[Turn], Sequence[Update]]]) -> dict[str, float]:
    """Give the share of updates with the current value first, how often a replaced one came, and what FTS5 did."""
    asked = first = replaced = current = plain = 0
    for turns, updates in sets:
        with ExitStack() as stack:
            store = stack.enter_context(Store(":memory:"))
            names = _hold(store, turns, updates)
            plainly = engines.fts5(turns, stack)
            for update in updates:
                served = [names[hit.id] for hit in store.recall(update.question, limit=DEPTH)]
                told = [name for name in served if name in (*update.old, *update.new)]
                asked += 1
                current += any(name in update.new for name in told)
                first += bool(told) and told[0] in update.new
                replaced += any(name in update.old for name in told)
                bare = [name for name in plainly(update.question, len(turns)) if name in (*update.old, *update.new)]
                plain += bool(bare) and bare[0] in update.old
    return {
        "questions": asked,
        "current_served": round(current / asked, 4) if asked else 0.0,
        "current_first": round(first / max(1, current), 4),
        "replaced_served": replaced,
        "fts5_old_first": plain,
    }


def _hold(store: Store, turns: Sequence[Turn], updates: Sequence[Update]) -> dict[str, str]:
    """Record the turns; those of an update under one state key each."""
    keys: dict[str, str] = {}
    for number, update in enumerate(updates):
        for place, name in enumerate(update.old):
            keys.setdefault(name, f"update.{number}.{min(place, len(update.new) - 1)}")
        for place, name in enumerate(update.new):
            keys.setdefault(name, f"update.{number}.{place}")
    refs = store.episodes.record_many(
        {
            "content": turn.text,
            "source": turn.speaker,
            "session": turn.session or None,
            "origin": turn.origin,
            "state_key": keys.get(turn.name),
        }
        for turn in turns
    )
    return dict(zip(refs, (turn.name for turn in turns), strict=True))
