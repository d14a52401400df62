"""What recall and briefing give back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from assay.model.episode import Episode
from assay.model.labels import Trust

__all__ = ["Briefing", "Hit", "Recall"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One episode or belief that answers a query.

    Attributes:
        ref: Shortest unique form of its id, as shown to a model.
        id: Full id.
        score: Relevance, higher is better; the signals in `why` sum to it.
        why: Signal name -> its share of the score.
        trust: Effective trust.
        replaces: Refs of what it took the place of, when the query matched those.
        episode: The episode itself, or None when the hit is a belief.
    """

    ref: str
    id: str
    text: str = field(repr=False)
    score: float
    why: Mapping[str, float]
    trust: Trust
    replaces: tuple[str, ...] = ()
    level: int | None = None
    episode: Episode | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Give the ref and the text on one line."""
        return f"{self.ref} {self.text}"

    def __rich__(self) -> str:
        """Give what `rich` prints: as plain text, markup characters escaped."""
        return str(self).replace("[", r"\[")

    def _repr_html_(self) -> str:
        return f"<p><code>{self.ref}</code> {_escaped(self.text)}</p>"


class Recall(Sequence[Hit]):
    """The hits of one query, best first.

    Attributes:
        patterns: At most three beliefs that bear on the question, besides the hits.
        nothing_relevant: True when nothing passed the bar of relevance; broad recall gives what it has all the same.
        relevance: How much of the question the best hit covers, 0 to 1.
        next: Cursor for the next page, or None at the end.
    """

    __slots__ = ("_hits", "next", "nothing_relevant", "patterns", "relevance")

    def __init__(
        self, hits: Sequence[Hit], *, patterns: Sequence[Hit] = (), nothing_relevant: bool, next: str | None = None,
        relevance: float = 1.0,
    ) -> None:  # fmt: skip
        self._hits = tuple(hits)
        self.patterns = tuple(patterns)
        self.nothing_relevant = nothing_relevant
        self.relevance = relevance
        self.next = next

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        """Give one hit, or a slice of them."""
        return self._hits[index]

    def __len__(self) -> int:
        """Count the hits."""
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        """Iterate best first."""
        return iter(self._hits)

    def __repr__(self) -> str:
        """Show refs and scores, never content."""
        return f"Recall([{', '.join(f'{hit.ref} {hit.score:.2f}' for hit in self._hits)}])"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{hit.ref}</code></td><td>{_escaped(hit.text)}</td><td>{hit.score:.2f}</td></tr>"
            for hit in self._hits
        )
        return f"<table>{rows}</table>"


@dataclass(frozen=True, slots=True)
class Briefing:
    """Memory fitted to a token budget, fenced as data for a prompt.

    Attributes:
        text: The fenced block, or "" when there is nothing to say.
        refs: Full ids of what is shown, in order.
        fingerprints: One per shown line, for the loop guard.
        tokens: Size of `text` in the store's token counter.
        left_out: How many candidates did not fit.
    """

    text: str = field(repr=False)
    refs: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = field(default=(), repr=False)
    tokens: int = 0
    left_out: int = 0

    def __bool__(self) -> bool:
        """Tell whether there is anything to show."""
        return bool(self.text)

    def __str__(self) -> str:
        """Give the block, so that an f-string builds a prompt."""
        return self.text

    def __rich__(self) -> str:
        """Give what `rich` prints: as plain text, markup characters escaped."""
        return self.text.replace("[", r"\[")

    def _repr_html_(self) -> str:
        return f"<pre>{_escaped(self.text)}</pre>"


def _escaped(text: str) -> str:
    import html  # here, because no agent needs it

    return html.escape(text)
