"""True statements in twenty languages, what two sessions say of each, and what makes them false."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Statement", "statements"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim with the two episodes that support it.

    Attributes:
        denied: The claim's opposite, "" in a language without a list of what denies.
        changed: The claim with another value, "" where it has none.
    """

    language: str
    claim: str
    first: str
    second: str
    denied: str
    changed: str


def statements() -> list[Statement]:
    """Read the corpus: each row of the file in every of its fills."""
    rows = (Path(__file__).parent / "data" / "statements.tsv").read_text("utf-8").splitlines()
    found: list[Statement] = []
    for row in (row for row in rows if not row.startswith("#")):
        language, claim, first, second, denied, fills = row.split("\t")
        for subject, value, other in (fill.split(",") for fill in fills.split(";")):
            told, once, twice, never = (text.format(x=subject, n=value) for text in (claim, first, second, denied))
            changed = claim.format(x=subject, n=other) if value else ""
            found.append(Statement(language, told, once, twice, never, changed))
    return found
