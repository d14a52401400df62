"""Replay conversations into memories: record every turn, wrap every session offline, ask the questions, verify.

    python examples/replay.py --data DIR         DIR/locomo/conversations.json, the format of LoCoMo (snap-research)
    python examples/replay.py --chat FILE        a chat of your own: JSON lines with "speaker", "text" and, if you
                                                 like, "date"; or text with `Speaker: words` and `# date` lines

A question counts with the share of its evidence turns among the first five or ten hits. `--json` ends the output
with one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from assay import AssayError, Origin, Store

STEPS = ("record", "wrap", "ask", "verify")
DEPTHS = (5, 10)
AGENTS = {"agent", "ai", "assistant", "bot", "model"}
UNANSWERABLE = 5  # LoCoMo's category of questions that no turn answers


@dataclass(frozen=True)
class Turn:
    """One thing said; `name` is how the questions refer to it."""

    name: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Session:
    """What was said in one sitting, and when it began."""

    began: datetime | None
    turns: Sequence[Turn]


@dataclass(frozen=True)
class Question:
    """A question, and the names of the turns that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    """All sessions of the same people, and what is asked afterwards."""

    name: str
    sessions: Sequence[Session]
    questions: Sequence[Question] = ()


@dataclass
class Tally:
    """What one replay, or several together, came to."""

    conversations: int = 0
    episodes: int = 0
    wraps: int = 0
    audit_valid: bool = True
    found: dict[int, list[float]] = field(default_factory=lambda: {depth: [] for depth in DEPTHS})
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STEPS, 0.0))
    state: str = ""

    def recall(self, depth: int) -> float | None:
        """Average over the questions, or None when nothing was asked."""
        return sum(self.found[depth]) / len(self.found[depth]) if self.found[depth] else None

    def add(self, other: Tally) -> None:
        """Add another replay to this one."""
        self.conversations += other.conversations
        self.episodes += other.episodes
        self.wraps += other.wraps
        self.audit_valid = self.audit_valid and other.audit_valid
        for depth in DEPTHS:
            self.found[depth] += other.found[depth]
        for step in STEPS:
            self.seconds[step] += other.seconds[step]

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time spent in the block to a step."""
        start = time.perf_counter()
        yield
        self.seconds[step] += time.perf_counter() - start


class Progress:
    """A bar on standard error, where somebody is looking."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, max(1, total)
        self.shown = sys.stderr.isatty()

    def step(self, label: str) -> None:
        """Move on by one."""
        self.done += 1
        if self.shown and (self.done % 20 == 0 or self.done == self.total):
            filled = 30 * self.done // self.total
            end = "\n" if self.done == self.total else ""
            print(f"\r[{'#' * filled:30}] {self.done}/{self.total} {label:24.24}", end=end, file=sys.stderr, flush=True)


def replay(conversation: Conversation, path: Path, progress: Progress) -> Tally:
    """Live through a conversation with a memory, then ask."""
    tally = Tally(conversations=1)
    names: dict[str, str] = {}
    with Store(path, project_name=conversation.name) as store:
        for number, session in enumerate(conversation.sessions, 1):
            with tally.timed("record"):
                for place, turn in enumerate(session.turns):
                    moment = session.began and session.began + timedelta(seconds=place)
                    names[record(store, turn, f"{conversation.name}-{number}", moment)] = turn.name
                    progress.step(conversation.name)
            with tally.timed("wrap"):
                tally.wraps += wrap(store, f"{conversation.name}-{number}")
        with tally.timed("ask"):
            for question in conversation.questions:
                hits = [names.get(hit.id) for hit in store.recall(question.text, limit=max(DEPTHS))]
                for depth in DEPTHS:
                    share = len(question.evidence.intersection(hits[:depth])) / len(question.evidence)
                    tally.found[depth].append(share)
        with tally.timed("verify"):
            tally.audit_valid = bool(store.verify())
        tally.episodes = len(names)
        tally.state = state(store)
    return tally


def record(store: Store, turn: Turn, session: str, moment: datetime | None) -> str:
    """Record a turn once, however often the chat is replayed into the same store."""
    origin = Origin.AGENT if turn.speaker.casefold() in AGENTS else Origin.USER
    key = f"{session}.{turn.name}"
    return store.record(
        turn.text, source=turn.speaker, session=session, origin=origin, happened_at=moment, idempotency_key=key
    ).ref


def wrap(store: Store, session: str) -> int:
    """Consolidate a session with the offline composer; say so when it did not work."""
    result = store.wrap(session=session)
    if result.status.value not in {"committed", "empty"}:
        print(f"{session}: {result.status.value}: {result.message}", *result.findings, sep="\n  ", file=sys.stderr)
    return int(result.status.value == "committed")


def state(store: Store) -> str:
    """Describe the continuity in a line."""
    status = store.status()
    levels = ", ".join(f"{count} at {level}x" for level, count in status.by_level.items()) or "none"
    return f"version {status.continuity_version}, {status.continuity_tokens} tokens; beliefs: {levels}"


def read_locomo(folder: Path) -> list[Conversation]:
    """Read the conversations of a data folder."""
    file = folder / "locomo" / "conversations.json"
    if not file.is_file():
        sys.exit(f"{file} is missing: point --data or ASSAY_DATA at a folder that holds it, or replay a --chat")
    return [locomo(item) for item in json.loads(file.read_text("utf-8"))]


def locomo(item: Mapping[str, Any]) -> Conversation:
    """Read one conversation; a photo is recorded by its caption."""
    said = item["conversation"]
    sessions = []
    for key in sorted((key for key in said if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
        turns = [
            Turn(turn["dia_id"], turn["speaker"], turn["text"] + (f" [photo: {caption}]" if caption else ""))
            for turn in said[key]
            for caption in [turn.get("blip_caption")]
        ]
        began = datetime.strptime(said[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        sessions.append(Session(began, turns))
    known = {turn.name for session in sessions for turn in session.turns}
    questions = []
    for asked in item["qa"]:
        # Some entries join several ids in one text, or write `D:1:2`.
        ids = (f"D{int(a)}:{int(b)}" for text in asked["evidence"] for a, b in re.findall(r"D:?(\d+):(\d+)", text))
        evidence = known.intersection(ids)
        if evidence and asked["category"] != UNANSWERABLE:
            questions.append(Question(asked["question"], frozenset(evidence)))
    return Conversation(item["sample_id"], sessions, questions)


def read_chat(file: Path) -> Conversation:
    """Read a chat of one's own; each day is a session."""
    try:
        lines = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{file} cannot be read: {error}")
    said = json_lines(lines) if lines and lines[0].startswith("{") else text_lines(lines)
    days: dict[str, list[Turn]] = {}
    for number, (day, speaker, text) in enumerate(said, 1):
        days.setdefault(day, []).append(Turn(f"turn-{number}", speaker, text))
    name = re.sub(r"[^A-Za-z0-9_-]", "-", file.stem) or "chat"
    return Conversation(name, [Session(moment(day), turns) for day, turns in days.items()])


def json_lines(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Give (day, speaker, text) of each JSON line."""
    for number, line in enumerate(lines, 1):
        try:
            turn = json.loads(line)
            yield str(turn.get("date", ""))[:10], str(turn["speaker"]), str(turn["text"])
        except (ValueError, KeyError, AttributeError) as error:
            sys.exit(f"line {number} is no JSON object with speaker and text: {error}")


def text_lines(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Give (day, speaker, text) of each `Speaker: words` line; a line without a speaker goes on for the last one."""
    day, speaker = "", ""
    for line in lines:
        if line.startswith("#"):
            day = line.lstrip("# ")[:10]
            continue
        named = re.match(r"([^:]{1,60}):\s+(.+)", line)
        speaker, text = (named[1].strip(), named[2]) if named else (speaker or "chat", line)
        yield day, speaker, text


def moment(day: str) -> datetime | None:
    """Read a date such as 2026-01-31; None for now."""
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
    except ValueError:
        sys.exit(f"{day!r} is not a date: write it as 2026-01-31")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("ASSAY_DATA"), metavar="DIR", help="or ASSAY_DATA")
    parser.add_argument("--chat", type=Path, metavar="FILE")
    parser.add_argument("--conversations", type=int, metavar="N", help="replay the first N")
    parser.add_argument("--db", type=Path, metavar="DIR", help="keep one store per conversation here")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    options = parser.parse_args()
    if not options.data and not options.chat:
        parser.error("--data DIR (or ASSAY_DATA) or --chat FILE is needed")
    return options


def main() -> int:
    options = arguments()
    conversations = [read_chat(options.chat)] if options.chat else read_locomo(Path(options.data))
    conversations = conversations[: options.conversations]
    total = Tally()
    progress = Progress(sum(len(session.turns) for item in conversations for session in item.sessions))
    with tempfile.TemporaryDirectory() as temporary:
        for conversation in conversations:
            path = (options.db or Path(temporary)) / f"{conversation.name}.db"
            tally = replay(conversation, path, progress)
            total.add(tally)
            print(line(conversation.name, tally))
            print(f"  continuity {tally.state}")
    print(line("all", total))
    print("seconds:", ", ".join(f"{step} {total.seconds[step]:.1f}" for step in STEPS))
    if options.json:
        print(json.dumps(summary(total)))
    return 0 if total.audit_valid else 1


def line(name: str, tally: Tally) -> str:
    shares = [(depth, tally.recall(depth)) for depth in DEPTHS]
    asked = "".join(f", recall@{depth} {share:.1%}" for depth, share in shares if share is not None)
    audit = "audit valid" if tally.audit_valid else "AUDIT NOT VALID"
    return f"{name}: {tally.episodes} episodes, {tally.wraps} wraps{asked}, {audit}"


def summary(total: Tally) -> dict[str, int | float | bool | None]:
    rounded = {depth: None if share is None else round(share, 4) for depth in DEPTHS for share in [total.recall(depth)]}
    return {
        "conversations": total.conversations,
        "episodes": total.episodes,
        "wraps": total.wraps,
        "recall_at_5": rounded[5],
        "recall_at_10": rounded[10],
        "audit_valid": total.audit_valid,
        "seconds": round(sum(total.seconds.values()), 2),
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssayError as error:
        sys.exit(f"error: {error.code}: {error}")
