"""What the briefings of a store have shown lately: the memory by which a loop is recognised."""

from __future__ import annotations

import json

from assay.episodes import loading
from assay.episodes.recording import text_digest
from assay.model.constants import LOOP_COVER
from assay.model.recall import Briefing
from assay.storage import session_rows
from assay.storage.reader import Reader
from assay.text import sentences, words

__all__ = ["Shown", "fingerprints", "quoted_text"]

_RUN = 5
_RECEIPTS = 50
_MAX_RUNS = 200_000
# Marks the fingerprint of a line that is no item, such as a heading of the block.
_FRAME = "#"


class Shown:
    """Runs of five words, and fingerprints of whole lines, of what was shown; shared by all sessions of a store.

    It follows the receipts, so that another process's briefings count as well. It holds hashes, no text.
    """

    def __init__(self) -> None:
        self._newest = 0
        self._runs: dict[int, str] = {}
        self._lines: set[str] = set()
        self.refs: dict[str, None] = {}

    def follow(self, reader: Reader) -> None:
        """Take in the receipts that were written since the last look."""
        for receipt in session_rows.receipts_after(reader, self._newest, _RECEIPTS):
            if len(self._runs) > _MAX_RUNS:
                self._runs.clear()
                self._lines.clear()
                self.refs.clear()
            self._newest = receipt.number
            self._lines.update(receipt.fingerprints)
            unseen = [ref for ref in receipt.refs if ref not in self.refs]
            for ref in unseen:
                self.refs[ref] = None
            for ref, text in texts_of(reader, unseen).items():
                self.learn(text, ref)

    def learn(self, text: str, ref: str = "") -> None:
        """Take in a text that was shown."""
        for sentence in sentences(text):
            self._runs.update(dict.fromkeys(_runs(words(sentence)), ref))

    def holds(self, reader: Reader, text: str) -> str | None:
        """Give the ref of what a text repeats, "" when that has none, or None when it was not shown.

        A text of fewer than five words repeats nothing: "ok" is no quotation.
        """
        spoken = words(text)
        if len(spoken) < _RUN:
            return None
        asked = _runs(spoken)
        found = [self._runs[run] for run in asked if run in self._runs]
        if len(found) >= LOOP_COVER * len(asked):
            return max(found, key=found.count)
        return "" if text_digest(reader, text).hex() in self._lines else None

    def frames(self, reader: Reader, line: str) -> bool:
        """Tell whether a line is one that the block puts around its items."""
        return bool(self._lines) and _FRAME + text_digest(reader, line).hex() in self._lines


def fingerprints(reader: Reader, briefing: Briefing) -> tuple[str, ...]:
    """Give the fingerprints of a briefing: those of its items, and of the lines around them."""
    frames = [line for line in briefing.text.split("\n")[1:-1] if line and quoted_text(line) is None]
    return (*briefing.fingerprints, *(_FRAME + text_digest(reader, line).hex() for line in frames))


def quoted_text(line: str) -> tuple[str, str] | None:
    """Take the text out of a line rendered as `- ref facts "text"`: the text, and what follows it."""
    start, end = line.find('"'), line.rfind('"')
    if start < 0 or end <= start:
        return None
    try:
        text = json.loads(line[start : end + 1])
    except ValueError:
        return None
    return (text, line[end + 1 :]) if isinstance(text, str) else None


def texts_of(reader: Reader, refs: list[str]) -> dict[str, str]:
    """Give the live texts behind full refs of episodes and beliefs."""
    texts = {
        episode.ref: episode.content for episode in loading.load(reader, [ref for ref in refs if ref[:3] == "ep_"])
    }
    beliefs = [ref for ref in refs if ref[:3] == "be_"]
    return texts | {row["id"]: row["text"] for row in (reader.find("belief", {"id": beliefs}) if beliefs else ())}


def _runs(spoken: list[str]) -> list[int]:
    return [hash(run) for run in zip(*(spoken[start:] for start in range(_RUN)), strict=False)]
