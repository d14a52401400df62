"""What a text denies, and whether two texts contradict each other."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from assay.text.clipping import sentences
from assay.text.lexicon import entries, members
from assay.text.script import SPACELESS, Script, classes
from assay.text.segment import Token, chunk_tokens, text_tokens
from assay.text.vocabulary import content_set, is_stop, term_of

__all__ = ["Negation", "Polarity", "agrees", "polarity"]

SCOPE = 3  # content words that a negator reaches
_SCOPE_PAIRS = 6  # the same in a script without spaces, where a word is two or three pairs of characters
_JUDGED = 64  # sentences of a text that are compared, so that the work stays linear
_REMEMBERED = 2_048  # characters of a text whose polarity is kept
_MARKS = dict.fromkeys(map(ord, ",;:()[]，；：、،؛—–"), " \n ")
_LONGEST = 48  # tokens: a clause that goes on is a list, and is read in pieces
_NO_LETTERS = "m1 _.-/',"
_UNLISTED = "beglyo"  # scripts without a list of negators


@dataclass(frozen=True, slots=True)
class Negation:
    """One negator: the content words it reaches, those of its whole clause, and the antonym pairs it turns."""

    scope: frozenset[str]
    clause: frozenset[str]
    pairs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Polarity:
    """What a text denies, and on which side of each antonym pair it stands.

    `signs` holds (pair, +1 or -1); a negator before an antonym turns its sign. `checked` is false when the text
    has letters but none of a script with lists.
    """

    negations: tuple[Negation, ...]
    signs: frozenset[tuple[int, int]]
    checked: bool

    @property
    def negated(self) -> frozenset[str]:
        """Return the content words under a negator."""
        return frozenset(word for negation in self.negations for word in negation.scope)


def polarity(text: str) -> Polarity:
    """Read negators, their scope (the next three content words, to the end of the clause) and antonyms (T7)."""
    return _kept(text) if len(text) <= _REMEMBERED else _read(text)


def agrees(a: str, b: str) -> bool:
    """Tell whether two texts do not contradict each other (T7). Symmetric.

    Each sentence of the text with fewer sentences is judged with the sentence of the other that shares most
    of its words: no shared content word may be denied in one only, no antonym pair split between them.
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
        if said and not content_set(sentence):
            said[-1] += f" ({sentence})"  # `Ask Ada? No.` is one statement
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
    left, right = polarity(a[1]), polarity(b[1])
    pairs = {pair for pair, _ in left.signs} & {pair for pair, _ in right.signs}
    if pairs != {pair for pair, _ in left.signs & right.signs}:
        return False
    return _denied(left, a[0] & b[0], pairs) == _denied(right, a[0] & b[0], pairs)


def _denied(side: Polarity, shared: frozenset[str], told: set[int]) -> frozenset[str]:
    """Return the shared words that one side denies; what a negator does to a pair that both have, its sign tells."""
    counted = (negation for negation in side.negations if not negation.pairs & told)
    return frozenset(word for one in counted for word in (one.scope & shared) or (one.clause & shared))


def _read(text: str) -> Polarity:
    negations: list[Negation] = []
    signs: set[tuple[int, int]] = set()
    whole: frozenset[str] = frozenset()
    for clause in _clauses(text):
        words = [(place, term_of(token)) for place, token in enumerate(clause) if _says(token)]
        sides = {place: side for place, side in enumerate(_sides(clause)) if side}
        if words or len(clause) > 2:  # a mere `(not)` denies what stands before it
            whole = frozenset(word for _, word in words)
        reach = _SCOPE_PAIRS if any(token.script in SPACELESS for token in clause) else SCOPE
        turned: set[int] = set()
        for place, token in enumerate(clause):
            if (backward := _denies(token)) is None:
                continue
            split = sum(at < place for at, _ in words)
            scope = words[max(0, split - reach) : split] if backward else words[split : split + reach]
            places = sorted([place, *(at for at, _ in scope)])
            reached = sides.keys() & set(range(places[0], places[-1] + 1))
            # Not ^=, and no other negator: French and Russian deny with two words (`ne ... jamais`).
            turned |= {at for at in reached if _denies(clause[at]) is None}
            pairs = frozenset(sides[at][0] for at in reached)
            negations.append(Negation(frozenset(word for _, word in scope), whole, pairs))
        signs.update((pair, -sign if place in turned else sign) for place, (pair, sign) in sides.items())
    letters = classes(text).lower().strip(_NO_LETTERS)
    return Polarity(tuple(negations), frozenset(signs), not letters or bool(letters.strip(_NO_LETTERS + _UNLISTED)))


_kept = lru_cache(maxsize=2_048)(_read)


def _clauses(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each clause, which ends with its sentence, at a comma or the like, and at `but`."""
    for sentence in sentences(text):
        for stretch in sentence.translate(_MARKS).split("\n"):
            clause: list[Token] = []
            for token in text_tokens(stretch):
                if clause and (len(clause) >= _LONGEST or token.word in members("contrast")):
                    yield clause
                    clause = []
                clause.append(token)
            yield clause


def _says(token: Token) -> bool:
    return not token.whole and _denies(token) is None and not is_stop(token)


@cache
def _negators() -> dict[str, bool]:
    """Return each negator, and whether it denies what stands before it."""
    return {word: key.startswith("after") for key, listed in entries("negators") for word in listed}


def _denies(token: Token) -> bool | None:
    """Return None for no negator, else whether it reaches backward."""
    word, table = token.word, _negators()
    if token.script is Script.HAN and word not in members("undenied"):
        return table.get(word, table.get(word[0]))
    if token.script is Script.HANGUL and word[0] in "않없":
        return True
    return table.get(word)


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
