"""Erase: the episode, and every text in the store that was made from it or repeats it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from assay.authority.watching import keep_probes, probes_of
from assay.beliefs.standing import recheck
from assay.episodes import erasing, lineage, loading
from assay.episodes.loading import resolve
from assay.episodes.succession import resettle
from assay.errors import StorageFailure
from assay.model.episode import Episode
from assay.model.explanation import Erasure
from assay.model.times import to_us
from assay.recall import index
from assay.storage import episode_rows, pending_rows, vector_rows
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.traces import holds
from assay.storage.transaction import Transaction
from assay.wrap.rules.sources import line_key

__all__ = ["erase", "finish_erasures"]

_BLANK = "(erased)"
_BEHIND = (":", " |", " (", " - cues:")  # what follows the label of a line, in the folded form


def erase(database: Database, refs: Sequence[str], *, reason: str, actor: str) -> Erasure:
    """Remove episodes and what repeats them, in one transaction; then empty the write-ahead log.

    Raises:
        NotFound: A ref names no live episode.
    """

    def write(tx: Transaction) -> Erasure:
        episodes = loading.load(tx, list(dict.fromkeys(resolve(tx, ref) for ref in refs)))
        ids = [episode.ref for episode in episodes]
        derived = lineage.descendants(tx, ids)
        marks = _Marks(tx, episodes)
        vectors = vector_rows.vectors(tx, [episode.n for episode in episodes])
        tx.entry("erase", actor=actor)
        rewritten = [*_beliefs(tx, ids, marks), *_evidence(tx, ids, marks), *_documents(tx, marks), *_drafts(tx, marks)]
        rewritten += _results(tx, ids, marks)
        for episode in episodes:
            index.remove(tx, episode.n, episode.content, to_us(episode.happened_at), episode.source)
            erasing.erase_episode(tx, episode.ref, reason=reason)
            pending_rows.note(tx, episode.ref, tx.now)
        resettle(tx, derived)
        rewritten += [f"level of belief {name}" for name in recheck(tx, [*ids, *derived])]
        traces.extend([*marks.traces, *vectors.values()])
        return Erasure(tuple(ids), tuple(rewritten), tuple(derived), pending=True)

    traces: list[bytes] = []
    done = database.mutate(write)
    clean = finish_erasures(database, traces)
    return Erasure(done.erased, done.rewritten, done.derived, pending=not clean)


def finish_erasures(database: Database, traces: Sequence[bytes] | None = None) -> bool:
    """Clear the files of what was erased; False while a reader pins the write-ahead log, or the disk refuses.

    Args:
        traces: Bytes that give the erased text away; None when they are no longer known.
    """
    try:
        with database.read() as reader:
            noted = pending_rows.noted(reader)
        if not database.truncate_log():
            return False
        if traces is None or holds(database.path, traces):
            # Pages that SQLite has split or merged keep stale copies of what was moved; secure_delete misses them.
            database.vacuum()
        database.operational(lambda tx: pending_rows.clear(tx, noted))
        return database.truncate_log()
    except StorageFailure:
        return False  # the erasure stands; it stays pending, and is tried again at the next opening or erase


class _Marks:
    """What gives an erased episode away: its text, and its words that no other live episode has."""

    def __init__(self, reader: Reader, episodes: Sequence[Episode]) -> None:
        from assay.text import content_set, fold

        self._fold = fold
        self.texts = [fold(episode.content) for episode in episodes]
        words = {word for text in self.texts for word in _tokens(text) if len(word) >= 4}
        frequency, _ = index.document_frequency(reader, sorted({term for word in words for term in content_set(word)}))
        rare = {word for word in words if all(frequency.get(term, 0) <= 1 for term in content_set(word))}
        self.traces = [episode.content.encode()[:64] for episode in episodes if len(episode.content) >= 8]
        self.words = frozenset(rare - _elsewhere(reader, rare, {episode.ref for episode in episodes}))
        self.traces += [word.encode() for word in self.words if len(word) >= 6]
        self.ids = frozenset(episode.ref for episode in episodes)
        self.ended: set[str] = set()  # labels of the beliefs that stood on nothing else

    def only_source(self, detail: Mapping[str, Any]) -> set[str]:
        """Give the keys of the lines of a version that nothing but erased episodes says."""
        sources: Mapping[str, list[str]] = detail.get("sources", {})
        return {line for line, refs in sources.items() if refs and self.ids.issuperset(refs)}

    def found_in(self, text: str) -> bool:
        """Tell whether a text repeats an erased episode."""
        folded = self._fold(text)
        if any(erased in folded for erased in self.texts if len(erased) >= 8):
            return True
        if any(len(folded) >= 12 and folded.strip("-*> .") in erased for erased in self.texts):
            return True
        return not self.words.isdisjoint(_tokens(folded))


def _tokens(folded: str) -> set[str]:
    return {token.strip(".,;:!?\"'()[]{}<>|") for token in folded.split()}


def _elsewhere(reader: Reader, words: set[str], erased: set[str]) -> set[str]:
    from assay.text import fold

    found: set[str] = set()
    if words:
        for ref, content in episode_rows.texts(reader):
            if ref not in erased:
                found |= words & _tokens(fold(content))
    return found


def _beliefs(tx: Transaction, ids: Sequence[str], marks: _Marks) -> list[str]:
    """Blank the beliefs that stood on the erased episodes alone, or that repeat them."""
    changed: list[str] = []
    touched = {row["belief"] for row in tx.find("evidence", {"episode": list(ids)})}
    for row in tx.find("belief"):
        grounds = {item["episode"] for item in tx.find("evidence", {"belief": row["id"]})}
        alone = row["id"] in touched and grounds <= set(ids)
        if not alone and not any(map(marks.found_in, (row["text"], row["name"], row["cues"]))):
            continue
        marks.ended |= {line_key(row["name"] or row["text"])} if alone else set()
        blank: dict[str, Any] = {"text": _BLANK, "cues": "[]", "residence": "rest", "section": ""}
        if alone or marks.found_in(row["name"]):
            blank |= {"name": "", "name_key": f"erased {row['id']}", "level": 1}
        tx.update("belief", row["id"], blank)
        changed.append(f"belief {row['id']}")
    return changed


def _evidence(tx: Transaction, ids: Sequence[str], marks: _Marks) -> list[str]:
    changed: list[str] = []
    for row in tx.find("evidence"):
        if row["episode"] in ids or marks.found_in(row["explanation"]):
            tx.update("evidence", row["id"], {"explanation": "", "detail": _cleaned(row["detail"], marks)})
            changed.append(f"evidence {row['id']}")
    return changed


def _cleaned(stored: str, marks: _Marks) -> str:
    detail = json.loads(stored)
    return stored if not marks.found_in(stored) else json.dumps({key: detail[key] for key in detail if key == "class"})


def _documents(tx: Transaction, marks: _Marks) -> list[str]:
    """Take the lines that repeat an erased episode out of every version of the document."""
    changed: list[str] = []
    for row in tx.find("document"):
        gone = marks.only_source(json.loads(row["detail"])) | marks.ended
        if (unsaid := _unsaid(row["detail"], marks)) != row["detail"]:
            tx.update("document", row["id"], {"detail": unsaid})
        if (body := _without(row["body"], marks, gone)) != row["body"]:
            tx.update("document", row["id"], {"body": body})
            changed.append(f"document version {row['version']}")
    withheld: dict[str, Any] | None = tx.setting("withheld")
    if withheld is not None and any(marks.found_in(text) for _, text in withheld["lines"]):
        withheld["lines"] = [line for line in withheld["lines"] if not marks.found_in(line[1])]
        tx.put_setting("withheld", withheld)
    probes = probes_of(tx)
    if any(marks.found_in(probe.text) for probe in probes):
        keep_probes(tx, (probe for probe in probes if not marks.found_in(probe.text)))
        changed.append("probes")
    for row in tx.find("wrap"):
        if marks.found_in(row["detail"]):
            tx.update("wrap", row["id"], {"detail": "{}"})
            changed.append(f"wrap {row['n']}")
    return changed


def _unsaid(stored: str, marks: _Marks) -> str:
    """Take the lines that repeat an erased episode out of what a version keeps about its lines."""
    detail: dict[str, Any] = json.loads(stored)
    sources: dict[str, Any] = detail.get("sources", {})
    relayed: list[str] = detail.get("relayed", [])
    gone = marks.only_source(detail)
    detail["sources"] = {line: refs for line, refs in sources.items() if line not in gone and not marks.found_in(line)}
    detail["relayed"] = [line for line in relayed if not marks.found_in(line)]
    return json.dumps(detail, ensure_ascii=False)


def _results(tx: Transaction, ids: Sequence[str], marks: _Marks) -> list[str]:
    """Remove how acting on an erased episode went, and blank the notes that repeat it."""
    changed: list[str] = []
    for row in tx.find("result"):
        if row["subject"] in ids:
            tx.delete("result", row["id"])
        elif row["note"] and marks.found_in(row["note"]):
            tx.update("result", row["id"], {"note": ""})
        else:
            continue
        changed.append(f"result {row['id']}")
    return changed


def _drafts(tx: Transaction, marks: _Marks) -> list[str]:
    changed: list[str] = []
    for row in tx.find("draft"):
        kept = _without(row["body"], marks)
        if kept != row["body"]:
            tx.update("draft", row["id"], {"body": kept})
            changed.append("draft")
    return changed


def _without(body: str, marks: _Marks, gone: Collection[str] = ()) -> str:
    return "\n".join(
        line for line in body.split("\n") if line.startswith("#") or not (marks.found_in(line) or _is_of(line, gone))
    )


def _is_of(line: str, labels: Collection[str]) -> bool:
    """Tell whether a line is one of some notes or facts, or the line of a belief with one of some labels."""
    key = line_key(line) if labels else ""
    return any(key == label or key.startswith(tuple(label + mark for mark in _BEHIND)) for label in labels if label)
