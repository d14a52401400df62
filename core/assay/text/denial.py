"""What a text denies, and whether two texts contradict each other."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

from assay.text.clipping import sentences
from assay.text.frames import ENDS, frames, is_remark, pieces
from assay.text.lexicon import entries, members, table
from assay.text.names import language
from assay.text.script import SPACELESS, Script
from assay.text.segment import Token, chunk_tokens
from assay.text.vocabulary import content_set, is_stop, term_of

__all__ = ["Negation", "Polarity", "agrees", "polarity"]

SCOPE = 3  # content words that a negator reaches
_SCOPE_PAIRS = 6  # the same in a script without spaces, where a word is two or three pairs of characters
_JUDGED = 64  # sentences of a text that are compared, so that the work stays linear
_REMEMBERED = 2_048  # characters of a text whose polarity is kept
_LONGEST = 48  # tokens of a clause that are read together


@dataclass(frozen=True, slots=True)
class Negation:
    """One negator: the content words it reaches, those of its clause and before it, and the pairs it turns."""

    scope: frozenset[str]
    clause: frozenset[str]
    before: frozenset[str]
    pairs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Polarity:
    """What a text denies, and on which side of each antonym pair it stands.

    `signs` holds (pair, +1 or -1); a negator before an antonym turns its sign.
    `plain` holds the words of each clause without a negator.
    """

    negations: tuple[Negation, ...]
    signs: frozenset[tuple[int, int]]
    plain: tuple[frozenset[str], ...] = ()

    @property
    def before(self) -> frozenset[str]:
        """Return the content words that stand before a negator in its clause."""
        return frozenset(word for negation in self.negations for word in negation.before)


def polarity(text: str, spoken: str = "") -> Polarity:
    """Read negators, their scope (the next three content words, to the end of the clause) and antonyms (T7).

    Args:
        spoken: Language of the text, in which a word of another one may deny nothing (Portuguese `no`).
    """
    return _kept(text, spoken) if len(text) <= _REMEMBERED else _read(text, spoken)


def agrees(a: str, b: str) -> bool:
    """Tell whether two texts do not contradict each other (T7). Symmetric.

    Each sentence of the text with fewer sentences is judged with the sentence of the other that shares most
    of its words: no shared content word may be denied in one only, no antonym pair split between them, and what
    was once so, would be so or is asked agrees with its like alone (`frames`).
    A negator whose words are not shared denies the shared words of its clause (`deploys are not allowed`).
    """
    left, right = sorted((_units(a, b), _units(b, a)), key=len)
    agreed = all(_matched(unit, right) for unit in left)
    return agreed and (len(left) < len(right) or all(_matched(unit, left) for unit in right))


_Unit = tuple[frozenset[str], str]  # a sentence with its content words


def _units(text: str, other: str) -> list[_Unit]:
    wanted = content_set(other)
    said: list[str] = []
    for sentence in sentences(text):
        answers = said and said[-1].endswith("?") and not wanted.isdisjoint(content_set(sentence))
        if said and (answers or is_remark(sentence)):
            said[-1] = f"{said[-1].rstrip(ENDS)} ({sentence})"  # `Ask Ada? No.` is one statement
        else:
            said.append(sentence)
    units = {(content_set(sentence), sentence) for sentence in said}
    ranked = sorted(units, key=lambda unit: (-len(unit[0] & wanted), unit[1]))
    return [unit for unit in ranked[:_JUDGED] if unit[0] & wanted]


def _matched(unit: _Unit, others: list[_Unit]) -> bool:
    # Of sentences that share as much the shorter is the closer one; of equals, one that agrees is enough.
    close = [(len(unit[0] & other[0]), -len(other[0])) for other in others]
    best = max(close, default=(0, 0))
    closest = (other for other, closeness in zip(others, close, strict=True) if closeness == best)
    return not best[0] or any(_compatible(unit, other) for other in closest)


def _compatible(a: _Unit, b: _Unit) -> bool:
    if frames(a[1], a[0] & b[0]) != frames(b[1], a[0] & b[0]):
        return False
    spoken = language(f"{a[1]} {b[1]}")
    left, right = polarity(a[1], spoken), polarity(b[1], spoken)
    pairs = {pair for pair, _ in left.signs} & {pair for pair, _ in right.signs}
    if pairs != {pair for pair, _ in left.signs & right.signs}:
        return False
    mine, theirs = _denied(left, a[0] & b[0], pairs), _denied(right, a[0] & b[0], pairs)
    # A verb stands before its negator or behind it (`lauscht nicht auf`, `nicht auf ... lauscht`).
    ordered = mine - theirs <= right.before and theirs - mine <= left.before
    return mine == theirs or (ordered and not mine.isdisjoint(theirs))


def _denied(side: Polarity, shared: frozenset[str], told: set[int]) -> frozenset[str]:
    """Return the shared words that one side denies; what a negator does to a pair that both have, its sign tells.

    Where a plain clause says them all, a remark on fewer than half of them denies none (`No nuts, Ada dislikes nuts`).
    """
    said = any(shared <= plain for plain in side.plain)
    remarks = [one for one in side.negations if said and 2 * len(one.clause & shared) <= len(shared)]
    counted = (one for one in side.negations if not one.pairs & told and one not in remarks)
    return frozenset(word for one in counted for word in (one.scope & shared) or (one.clause & shared))


def _read(text: str, spoken: str) -> Polarity:
    idle = dict(entries("undenied")).get(spoken, ())
    negations: list[Negation] = []
    signs: set[tuple[int, int]] = set()
    whole: frozenset[str] = frozenset()
    plain: list[frozenset[str]] = []
    for clause in _clauses(text):
        read = ((place, _denies(token)) for place, token in enumerate(clause) if token.word not in idle)
        denying = {place: backward for place, backward in read if backward is not None}
        said = (at for at, token in enumerate(clause) if not (at in denying or token.whole or is_stop(token)))
        words = [(at, term_of(clause[at])) for at in said]
        sides = {place: side for place, side in enumerate(_sides(clause)) if side}
        if words or len(clause) > 2:  # a mere `(not)` denies what stands before it
            whole = frozenset(word for _, word in words)
            plain += [] if denying else [frozenset(map(term_of, clause))]
        reach = _SCOPE_PAIRS if any(token.script in SPACELESS for token in clause) else SCOPE
        turned: set[int] = set()
        for place, backward in denying.items():
            split = sum(at < place for at, _ in words)
            scope = words[max(0, split - reach) : split] if backward else words[split : split + reach]
            places = sorted([place, *(at for at, _ in scope)])
            reached = sides.keys() & set(range(places[0], places[-1] + 1))
            # Not ^=, and no other negator: French and Russian deny with two words (`ne ... jamais`).
            turned |= reached - denying.keys()
            pairs = frozenset(sides[at][0] for at in reached)
            ahead = frozenset(word for at, word in words if at < place)
            negations.append(Negation(frozenset(word for _, word in scope), whole, ahead, pairs))
        signs.update((pair, -sign if place in turned else sign) for place, (pair, sign) in sides.items())
    return Polarity(tuple(negations), frozenset(signs), tuple(plain))


_kept = lru_cache(maxsize=2_048)(_read)


def _clauses(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each clause; a long one is a list, and is read in parts."""
    for piece in (piece for sentence in sentences(text) for piece in pieces(sentence)):
        clause = list(chain.from_iterable(map(chunk_tokens, piece)))
        yield from (clause[start : start + _LONGEST] for start in range(0, len(clause) or 1, _LONGEST))


def _denies(token: Token) -> bool | None:
    """Return None for no negator, else whether it reaches backward."""
    word, negators = token.word, table("negators")
    key = negators.get(word)
    if token.script is Script.HAN and word not in members("undenied"):
        key = negators.get(word, negators.get(word[0]))
    return None if key is None else key.startswith("after")


@cache
def _antonyms() -> dict[str, tuple[int, int]]:
    """Return the pair and sign of each form: its word or two words, and its stem."""
    table: dict[str, tuple[int, int]] = {}
    for pair, (_, listed) in enumerate(entries("antonyms")):
        for place, form in enumerate(listed):
            side = (pair, 1 if place < listed.index("/") else -1)
            table.setdefault(form, side)
            tokens = chunk_tokens(form)
            if len(tokens) == 1 and not is_stop(tokens[0]):
                table.setdefault(term_of(tokens[0]), side)
    return table


def _sides(clause: list[Token]) -> Iterator[tuple[int, int] | None]:
    table, previous = _antonyms(), ""
    for token in clause:
        found = table.get(f"{previous} {token.word}") or table.get(token.word) or table.get(term_of(token))
        yield None if token.whole else found
        previous = token.word
