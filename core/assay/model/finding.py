"""What a check found in a document that a model handed in, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from assay.model.episode import JsonValue

__all__ = ["Action", "Finding", "Severity"]


class Severity(StrEnum):
    """How serious a finding is for whoever reads the result."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Action(StrEnum):
    """What a finding does, from the strongest: nothing is written, a level is held or lowered, a mark, a report."""

    REFUSE = "refuse"
    LOWER = "lower"
    MARK = "mark"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of one check.

    Attributes:
        rule: Stable id, such as `citation-unknown`.
        line: Line in the text as handed in, from 1; 0 when it concerns the whole.
        subject: The belief or heading concerned.
        message: The fact, with the values found.
        fix: An instruction that a model can carry out without other knowledge.
        fixable: Whether another text could avoid it in this wrap.
    """

    rule: str
    action: Action
    message: str
    fix: str = ""
    section: str = ""
    line: int = 0
    subject: str = ""
    fixable: bool = False
    data: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def severity(self) -> Severity:
        """Give error for a refusal, warning for a lowered or marked line, else info."""
        if self.action is Action.REFUSE:
            return Severity.ERROR
        return Severity.INFO if self.action is Action.REPORT else Severity.WARNING
