"""What is measured side by side: ways to hold the turns of a conversation and to answer a question from them."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.conversations import Turn

from assay import Store

ANNEAL = "anneal_memory"
# Gives the names of up to so many turns, best first.
Ask = Callable[[str, int], list[str]]


def assay(turns: Sequence[Turn], stack: ExitStack) -> Ask:
    """Hold the turns in a store of ours, in memory."""
    store = stack.enter_context(Store(":memory:"))
    refs = store.episodes.record_many(
        {
            "content": turn.text,
            "source": turn.speaker,
            "session": turn.session,
            "origin": turn.origin,
            "happened_at": turn.moment,
        }
        for turn in turns
    )
    names = dict(zip(refs, (turn.name for turn in turns), strict=True))
    # As in the other engines, a repetition may answer as well as what it repeats.
    return lambda text, limit: [names[hit.id] for hit in store.recall(text, limit=limit, history=True)]


def fts5(turns: Sequence[Turn], stack: ExitStack) -> Ask:
    """Hold the turns in SQLite's full-text index as it comes: `unicode61`, any word of the question."""
    db = sqlite3.connect(":memory:")
    stack.callback(db.close)
    db.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize='unicode61')")
    db.executemany(
        "INSERT INTO said(rowid, text) VALUES(?, ?)",
        ((at, f"{turn.speaker}: {turn.text}") for at, turn in enumerate(turns)),
    )

    def ask(text: str, limit: int) -> list[str]:
        words = dict.fromkeys(re.findall(r"\w+", text.lower()))
        match = " OR ".join(f'"{word}"' for word in words)
        rows = db.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said) LIMIT ?", (match, limit))
        return [turns[row[0]].name for row in rows] if words else []

    return ask


def anneal(turns: Sequence[Turn], stack: ExitStack) -> Ask:
    """Hold the turns in anneal-memory, and ask with its ranked retrieval."""
    package: Any = importlib.import_module(ANNEAL)
    retrieval: Any = importlib.import_module(f"{ANNEAL}.retrieval")
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    store = package.Store(str(folder / "memory.db"), audit=False)
    names = {store.record(f"{turn.speaker}: {turn.text} #{at}", "observation").id: turn.name
             for at, turn in enumerate(turns)}  # fmt: skip

    def ask(text: str, limit: int) -> list[str]:
        found = retrieval.retrieve_relevant(store, None, text, max_episodes=limit)
        return [names[episode.id] for episode in found.episodes]

    return ask


def brainmem(turns: Sequence[Turn], stack: ExitStack) -> Ask:
    """Hold the turns in brainmem as it comes, consolidated after each session; a fact counts as its sources."""
    package: Any = importlib.import_module("brainmem")
    memory = package.Memory(":memory:")
    stack.callback(memory.db.close)
    names: dict[int, str] = {}
    session = ""
    for turn in turns:
        if turn.session != session:
            memory.consolidate()
            session = turn.session
        kept = memory.encode(f"{turn.speaker}: {turn.text}", session=turn.session)["episode_id"]
        names |= {kept: turn.name} if kept else {}
    while memory.consolidate()["episodes"]:
        continue

    def ask(text: str, limit: int) -> list[str]:
        facts = [fact.id for fact in memory.retrieve(text, k=limit)]
        rows = [memory.db.execute("SELECT provenance FROM facts WHERE id=?", (fact,)).fetchone() for fact in facts]
        sources = (source for row in rows for source in json.loads(row[0] or "[]"))
        return list(dict.fromkeys(names[source] for source in sources if source in names))[:limit]

    return ask


def installed(name: str) -> bool:
    """Tell whether another memory can be imported here; none is ever needed."""
    return importlib.util.find_spec(name) is not None


def others() -> dict[str, Callable[[Sequence[Turn], ExitStack], Ask]]:
    """Name the other memories that are installed here; they are never needed."""
    known = {ANNEAL: anneal, "brainmem": brainmem}
    return {name: engine for name, engine in known.items() if installed(name)}
