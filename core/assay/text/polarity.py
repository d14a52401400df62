"""What a text denies, and whether two texts contradict each other."""

from dataclasses import dataclass
from functools import lru_cache

from assay.text.clauses import Clause, clauses
from assay.text.content import content_set
from assay.text.sentences import sentences

__all__ = ["Negation", "Polarity", "agrees", "polarity"]

SCOPE = 3  # content words that a negator reaches
_SCOPE_PAIRS = 6  # the same in a script without spaces, where a word is two or three pairs of characters
_JUDGED = 64  # sentences of a text that are compared, so that the work stays linear


@dataclass(frozen=True, slots=True)
class Negation:
    """One negator: the content words it reaches, those of its whole clause, and the antonym pairs it turns."""

    scope: frozenset[str]
    clause: frozenset[str]
    pairs: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Polarity:
    """What a text denies, and on which side of each antonym pair it stands.

    `signs` holds (pair, +1 or -1); a negator before an antonym turns its sign. `checked` is false when the text
    has letters but none in a language with a list.
    """

    negations: tuple[Negation, ...]
    signs: frozenset[tuple[int, int]]
    checked: bool = True

    @property
    def negated(self) -> frozenset[str]:
        """Return the content words under a negator."""
        return frozenset().union(*(negation.scope for negation in self.negations))


def polarity(text: str) -> Polarity:
    """Read negators, their scope (the next three content words, to the end of the clause) and antonyms (T7)."""
    return _polarity(text) if len(text) <= 2_048 else _read(text)


def agrees(a: str, b: str) -> bool:
    """Tell whether two texts do not contradict each other (T7). Symmetric.

    Each sentence of the text with fewer sentences is judged with the sentence of the other that shares most
    of its words: no shared content word may be denied in one only, no antonym pair split between them.
    A negator whose words are not shared denies the shared words of its clause (`deploys are not allowed`).
    """
    left, right = _units(a, b), _units(b, a)
    if len(left) > len(right):
        left, right = right, left
    agreed = all(_matched(unit, right) for unit in left)
    return agreed and (len(left) < len(right) or all(_matched(unit, left) for unit in right))


def _units(text: str, other: str) -> list[tuple[frozenset[str], str]]:
    wanted = content_set(other)
    units = {(content_set(sentence), sentence) for sentence in sentences(text)}
    ranked = sorted(units, key=lambda unit: (-len(unit[0] & wanted), unit[1]))
    return [unit for unit in ranked[:_JUDGED] if unit[0] & wanted]


def _matched(unit: tuple[frozenset[str], str], others: list[tuple[frozenset[str], str]]) -> bool:
    overlaps = [len(unit[0] & other[0]) for other in others]
    best = max(overlaps, default=0)
    if not best:
        return True
    # The shorter of two sentences that share as much is the closer one; of equals, one that agrees is enough.
    tied = [other for other, overlap in zip(others, overlaps, strict=True) if overlap == best]
    shortest = min(len(other[0]) for other in tied)
    return any(_compatible(unit, other) for other in tied if len(other[0]) == shortest)


def _compatible(a: tuple[frozenset[str], str], b: tuple[frozenset[str], str]) -> bool:
    left, right = polarity(a[1]), polarity(b[1])
    shared_pairs = {pair for pair, _ in left.signs} & {pair for pair, _ in right.signs}
    for pair in shared_pairs:
        if not {sign for which, sign in left.signs if which == pair} & {s for w, s in right.signs if w == pair}:
            return False
    shared = a[0] & b[0]
    return _denied(left, shared, shared_pairs) == _denied(right, shared, shared_pairs)


def _denied(side: Polarity, shared: frozenset[str], told: set[int]) -> frozenset[str]:
    """Return the shared words that one side denies; negators of an antonym that both have are told by its sign."""
    denied: set[str] = set()
    for negation in side.negations:
        if negation.pairs & told:
            continue
        denied |= (negation.scope & shared) or (negation.clause & shared)
    return frozenset(denied)


@lru_cache(maxsize=2_048)
def _polarity(text: str) -> Polarity:
    return _read(text)


def _read(text: str) -> Polarity:
    negations: list[Negation] = []
    signs: set[tuple[int, int]] = set()
    lettered = checked = False
    for clause in clauses(text):
        lettered = lettered or bool(clause.words)
        checked = checked or clause.listed
        turned = _negations(clause, negations)
        signs.update((pair, -sign if place in turned else sign) for place, pair, sign in clause.antonyms)
    return Polarity(tuple(negations), frozenset(signs), checked or not lettered)


def _negations(clause: Clause, found: list[Negation]) -> set[int]:
    """Add the negations of a clause to those found; return the places whose antonym they turn."""
    turned: set[int] = set()
    whole = frozenset(word for _, word in clause.words)
    reach = _SCOPE_PAIRS if clause.spaceless else SCOPE
    for place, backward in clause.negators:
        if backward:
            near = [(at, word) for at, word in clause.words if at < place][-reach:]
        else:
            near = [(at, word) for at, word in clause.words if at > place][:reach]
        first, last = (near[0][0], place) if backward and near else (place, near[-1][0] if near else place)
        reached = {(at, pair) for at, pair, _ in clause.antonyms if first <= at <= last}
        turned ^= {at for at, _ in reached if at != place}
        found.append(Negation(frozenset(word for _, word in near), whole, frozenset(pair for _, pair in reached)))
    return turned
