"""How good a ranked list is, given what should be in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from bench.conversations import Conversation

from bench import engines

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, what should be found and what each engine found."""

    conversation: str
    question: str
    kind: str
    wanted: frozenset[str]
    found: dict[str, list[str]]

    def recall(self, engine: str, depth: int) -> float:
        """Give the share of the evidence among the first hits."""
        return len(self.wanted.intersection(self.found[engine][:depth])) / len(self.wanted)

    def ndcg(self, engine: str, depth: int = DEPTH) -> float:
        """Give the discounted gain of the first hits over the best there is (Järvelin and Kekäläinen, 2002)."""
        gain = sum(1 / math.log2(at + 2) for at, name in enumerate(self.found[engine][:depth]) if name in self.wanted)
        return gain / sum(1 / math.log2(at + 2) for at in range(min(depth, len(self.wanted))))

    def line(self) -> dict[str, Any]:
        """Give what is kept of it in the file of answers."""
        return {
            "conversation": self.conversation,
            "question": self.question,
            "kind": self.kind,
            "wanted": sorted(self.wanted),
            "found": self.found,
        }


def ask(conversations: Sequence[Conversation], *, side_by_side: bool) -> list[Answer]:
    """Ask every question of every conversation, each engine holding that conversation alone."""
    makers = {"assay": engines.assay, "fts5": engines.fts5} | (engines.others() if side_by_side else {})
    answers: list[Answer] = []
    for conversation in conversations:
        with ExitStack() as stack:
            asked = {name: make(conversation.turns, stack) for name, make in makers.items()}
            answers += [
                Answer(
                    conversation.name,
                    question.text,
                    question.kind,
                    question.evidence,
                    {name: engine(question.text, DEPTH) for name, engine in asked.items()},
                )
                for question in conversation.questions
            ]
    return answers


def summary(answers: Sequence[Answer]) -> dict[str, float]:
    """Average over the questions; `top1` is what a prompt gets that holds one item."""
    if not answers:
        return {}
    named = [name for name in answers[0].found if name != "assay"]
    first = [answer for answer in answers if answer.found["assay"]]
    hits = sum(answer.found["assay"][0] in answer.wanted for answer in first)
    found = {
        "questions": len(answers),
        "r5": fmean(answer.recall("assay", 5) for answer in answers),
        "r10": fmean(answer.recall("assay", 10) for answer in answers),
        "ndcg10": fmean(answer.ndcg("assay") for answer in answers),
        **{f"{name}_r10": fmean(answer.recall(name, 10) for answer in answers) for name in named},
        "top1_precision": hits / max(1, len(first)),
        "top1_recall": fmean(answer.recall("assay", 1) for answer in answers),
    }
    return {name: round(value, 4) for name, value in found.items()}
