"""Conversations with questions whose answers are known, read from a data folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

UNANSWERABLE = 5  # LoCoMo's category of questions that no turn answers


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said; `name` is how the questions refer to it."""

    name: str
    speaker: str
    text: str
    session: str
    moment: datetime | None = None
    origin: str = "user"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the names of the turns that answer it; none for one that deserves no answer."""

    text: str
    kind: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that was said between the same people, and what is asked afterwards."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Question]


def locomo(folder: Path) -> list[Conversation]:
    """Read LoCoMo (snap-research); a photo is recorded by its caption."""
    file = folder / "locomo" / "conversations.json"
    return [_locomo(item) for item in json.loads(file.read_text("utf-8"))] if file.is_file() else []


def _locomo(item: Mapping[str, Any]) -> Conversation:
    said = item["conversation"]
    turns: list[Turn] = []
    for key in sorted((key for key in said if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
        began = datetime.strptime(said[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(said[key]):
            caption = turn.get("blip_caption")
            text = turn["text"] + (f" [photo: {caption}]" if caption else "")
            turns.append(Turn(turn["dia_id"], turn["speaker"], text, key, began + timedelta(seconds=place)))
    known = {turn.name for turn in turns}
    questions: list[Question] = []
    for asked in item["qa"]:
        # Some entries join several ids in one text, or write `D:1:2`.
        ids = (f"D{int(a)}:{int(b)}" for text in asked["evidence"] for a, b in re.findall(r"D:?(\d+):(\d+)", text))
        evidence = known.intersection(ids)
        if evidence and asked["category"] != UNANSWERABLE:
            questions.append(Question(asked["question"], str(asked["category"]), frozenset(evidence)))
    return Conversation(str(item["sample_id"]), turns, questions)


def beam(folder: Path) -> list[Conversation]:
    """Read BEAM's chats of 100,000 tokens, message by message; what it asks in vain is left out."""
    chats = sorted(folder.glob("beam100k/*/chat.json"), key=lambda path: (len(path.parent.name), path.parent.name))
    return [_beam(chat) for chat in chats]


def _beam(chat: Path) -> Conversation:
    turns = [
        Turn(
            str(message["id"]),
            message["role"],
            re.sub(r"\s*->->.*$", "", message["content"]).strip(),
            f"{batch['batch_number']}.{place}",
            None,
            "user" if message["role"] == "user" else "agent",
        )
        for batch in json.loads(chat.read_text("utf-8"))
        for place, group in enumerate(batch["turns"])
        for message in group
    ]
    known = frozenset(turn.name for turn in turns)
    probes: Mapping[str, Any] = json.loads(chat.with_name("probing_questions.json").read_text("utf-8"))
    questions = [
        Question(probe["question"], kind, evidence)
        for kind, listed in probes.items()
        for probe in listed
        for evidence in [known.intersection(leaves(probe.get("source_chat_ids", ())))]
        if evidence and kind != "abstention"
    ]
    return Conversation(chat.parent.name, [turn for turn in turns if turn.text], questions)


def leaves(value: Any) -> Iterator[str]:
    """Give the leaves of nested lists and objects, as texts."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield str(value)


def json_lines(file: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines; a file that is missing holds none."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line] if file.is_file() else []
