"""`store.beliefs`: what the store holds on evidence, and what its operator says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.storage.database import Database

if TYPE_CHECKING:
    from assay.authority.sighting import Sighting
    from assay.beliefs.contradictions import Contradiction
    from assay.govern.reviewing import ToReview
    from assay.govern.worth import Worth
    from assay.model.belief import Belief

__all__ = ["Beliefs"]


class Beliefs:
    """What the store holds on evidence."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> Sequence[Belief]:
        """List every belief, in order of section and place."""
        from assay.beliefs.loading import all_beliefs

        with self._database.read() as reader:
            return all_beliefs(reader)

    def get(self, name: str) -> Belief:
        """Give a belief by name or ref.

        Raises:
            NotFound: There is none, or several begin with this ref.
        """
        from assay.beliefs.loading import find_belief

        with self._database.read() as reader:
            return find_belief(reader, name)

    def crystals(self) -> Sequence[Belief]:
        """List what moved from the document to long-term memory."""
        from assay.beliefs.loading import all_beliefs
        from assay.model.labels import Residence

        with self._database.read() as reader:
            return all_beliefs(reader, Residence.CRYSTAL)

    def set_level(self, name: str, level: int, *, reason: str) -> Belief:
        """Lower a belief; evidence alone raises one.

        Args:
            name: Its name or ref.
            level: 1, or more, below the level that it has.
            reason: Kept in the log.

        Raises:
            Conflict: A wrap is open.
            InvalidInput: The level is not below the present one, or the reason is empty.
            NotFound: There is none, or several begin with this ref.
        """
        from assay.govern.believing import set_level

        return set_level(self._database, name, level, reason=reason)

    def rest(self, name: str, *, reason: str = "") -> Belief:
        """Take a belief out of document and recall; a wrap that names it again brings it back at its level.

        Raises:
            Conflict: A wrap is open.
            InvalidInput: It is pinned.
            NotFound: There is none, or several begin with this ref.
        """
        from assay.govern.believing import rest

        return rest(self._database, name, reason=reason)

    def retire(self, name: str, *, reason: str) -> Belief:
        """Take a belief out of document and recall because it no longer holds; level and evidence stay in its history.

        Raises:
            Conflict: A wrap is open.
            InvalidInput: It is pinned, or the reason is empty.
            NotFound: There is none, or several begin with this ref.
        """
        from assay.govern.believing import retire

        return retire(self._database, name, reason=reason)

    def sever(self, name: str, *, reason: str = "") -> None:
        """End a belief and its evidence for good: a later line of this name is new, and starts at 1x.

        Raises:
            Conflict: A wrap is open.
            NotFound: There is none, or several begin with this ref.
        """
        from assay.govern.believing import sever

        sever(self._database, name, reason=reason)

    def pin(self, text: str, cues: Sequence[str] = ()) -> Belief:
        """Pin a fact: the document shows it word for word until it is unpinned, or a wrap names it in a drop marker.

        Args:
            text: One line.
            cues: Words or phrases, at most 8, on which a briefing recalls it; once more for the same text changes them.

        Raises:
            Conflict: A wrap is open.
            InvalidInput: The text or the cues cannot stand on one line of the document.
        """
        from assay.govern.believing import pin

        return pin(self._database, text, cues)

    def unpin(self, fact: str, *, reason: str) -> Belief:
        """Let a pinned fact go.

        Args:
            fact: Its ref, or its text.
            reason: Kept in the log.

        Raises:
            Conflict: A wrap is open.
            InvalidInput: It is not pinned, or the reason is empty.
            NotFound: There is none, or several begin with this ref.
        """
        from assay.govern.believing import unpin

        return unpin(self._database, fact, reason=reason)

    def probe(self, text: str = "", *, belief: str = "", level: int | None = None, section: str = "") -> str:
        """Watch a statement or a belief: every save reports, by the probe's id, when it has drifted. Gives the id.

        Args:
            text: A statement whose words and values must stand in one line of the document.
            belief: Or the name or ref of a belief, which must stand in it.
            level: Least level of the belief; by default the present one, at least 2.
            section: Look for the statement in the section of this heading only.

        Raises:
            InvalidInput: Not exactly one of text and belief is given, or it cannot be looked for.
            NotFound: There is no such belief, or several begin with this ref.
        """
        from assay.govern.probing import probe

        return probe(self._database, text, belief=belief, level=level, section=section)

    def unprobe(self, ref: str) -> None:
        """Stop watching.

        Raises:
            NotFound: No probe has this id.
        """
        from assay.govern.probing import unprobe

        unprobe(self._database, ref)

    def probes(self) -> Sequence[Sighting]:
        """Look for everything that is watched, now, and say how it stands."""
        from assay.govern.probing import look

        return look(self._database)

    def to_review(self) -> Sequence[ToReview]:
        """List what waits for the operator: beliefs at 2x or more with evidence newer than their last review.

        Those that are contested, rest on words alone or on one source, or share their evidence, come first.
        """
        from assay.govern.reviewing import to_review

        with self._database.read() as reader:
            return to_review(reader)

    def reviewed(self, name: str) -> Belief:
        """Note that the operator looked at a belief; it waits again once more evidence is verified.

        Raises:
            NotFound: There is none, or several begin with this ref.
        """
        from assay.govern.reviewing import reviewed

        return reviewed(self._database, name)

    def worth(self) -> Sequence[Worth]:
        """Report what became of the beliefs and episodes that briefings showed: acted on or not, and how it went.

        Receipts of the newest briefings are counted, and what `Store.result` was told since. No rule reads it.
        """
        from assay.govern.worth import worth

        with self._database.read() as reader:
            return worth(reader)

    def conflicts(self) -> Sequence[Contradiction]:
        """List the beliefs that contradict each other: as a document says, then as their texts compare."""
        from assay.beliefs.contradictions import contradictions
        from assay.beliefs.loading import all_beliefs
        from assay.beliefs.pairs import compared
        from assay.model.labels import Residence

        with self._database.read() as reader:
            beliefs = all_beliefs(reader, Residence.WORKING, Residence.CRYSTAL, Residence.PINNED)
            return contradictions(reader, beliefs, compared(beliefs)[1])

    def dismiss(self, one: str, other: str, *, reason: str) -> None:
        """Say that two beliefs may stand side by side: they are not shown as a conflict any more.

        Raises:
            InvalidInput: The reason is empty, or both names are of one belief.
            NotFound: A name or ref is of none, or of several.
        """
        from assay.govern.believing import dismiss

        dismiss(self._database, one, other, reason=reason)
