"""Whether an episode carries a statement: compared word by word and value by value, in any script."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from assay.beliefs.grounds import Ground
from assay.model.constants import (
    CLAIM_COVER,
    GROUND_COVER,
    GROUND_TOP,
    GROUND_WEIGHT,
    GROUND_WORDS,
    SPAN_CHARS,
    SPAN_WORDS,
)
from assay.text import Value, ValueType, agrees, content, content_set, covers, fold, values, words
from assay.text.lexicon import table
from assay.text.script import SPACELESS, classes

__all__ = ["Weights", "copies", "counted_otherwise", "foreign", "founding", "has_value", "shares_script"]
__all__ += ["shares_words", "states", "unsaid"]

Weights = Callable[[str], float]
_BY_WORDS = (ValueType.NAME, ValueType.PATH, ValueType.HOST, ValueType.ID)
_FOUNDING = 4  # episodes that found one line
_FOREIGN = 3  # new content words in a row that make a statement of its own; in a script without spaces, twice as many
_LEAST = 2
_MOSTLY = 0.6  # share of new words that makes one clause of several such a statement
_ALIKE = 4  # letters that two forms of one word share
_NEAR = 4  # words between a number and what it counts
_JOINTS = r"[,;:.!?()\[\]…—–、。，；：，！？،؛।|]|\s[^\w\s]+\s|\b(?:and|so|then|und|et|y|e|и|та|و)\b"


def copies(episode: str, text: str) -> bool:
    """Tell whether a text holds a run of words of an episode that has two content words (B7 i)."""
    listed = words(text)
    if len(listed) < SPAN_WORDS:
        folded = fold(text)
        return len(folded) >= SPAN_CHARS and len(content_set(text)) >= 2 and folded in fold(episode)
    source = words(episode)
    runs = set(zip(*(source[start:] for start in range(SPAN_WORDS)), strict=False))
    run: list[str] = []
    for start in range(len(listed) - SPAN_WORDS + 1):
        span = listed[start : start + SPAN_WORDS]
        run = ([*run, span[-1]] if run else span) if tuple(span) in runs else []
        if run and len(content_set(" ".join(run))) >= 2:
            return True
    return False


def shares_words(episode: str, text: str, weights: Weights) -> bool:
    """Tell whether a text shares enough words of enough weight with an episode (B7 ii)."""
    shared = [weights(word) for word in content_set(episode) & content_set(text)]
    enough = len(shared) >= GROUND_WORDS and sum(shared) >= GROUND_WEIGHT and max(shared) >= GROUND_TOP
    return enough and covers(episode, text, weights) >= GROUND_COVER


def has_value(text: str, value: Value) -> bool:
    """Tell whether a text states a value; names and identifiers, which are spelled in many ways, by their words."""
    if any(value.matches(other) for other in values(text)):
        return True
    spelled = content_set(value.surface)
    return value.type in _BY_WORDS and bool(spelled) and spelled <= content_set(text)


def foreign(claim: str, known: str, least: int = _LEAST) -> str:
    """Give the part of a claim that is a statement of its own and stands in no known text, or "" (B8).

    Such a part has three new content words in a row, or is a clause of `least` or more that are mostly new, or one
    clause of several that is new altogether: a claim may be reworded, but nothing may ride on what its evidence says.
    """
    listed = content_set(known)
    starts = {word[:_ALIKE] for word in listed if len(word) >= _ALIKE and word.isalpha()}
    clauses = [clause for clause in re.split(_JOINTS, claim) if content(clause)]
    for clause in clauses:
        weighed = [(word, 0.5 if classes(word[0]) in SPACELESS else 1.0) for word in content(clause)]
        new = run = longest = 0.0
        for word, counts in weighed:
            old = word in listed or (len(word) > _ALIKE and word[:_ALIKE] in starts)
            run = 0.0 if old else run + counts
            new += 0.0 if old else counts
            longest = max(longest, run)
        whole = sum(counts for _, counts in weighed)
        several = len(clauses) > 1
        mostly = new >= least and new >= (_MOSTLY if several else 1.0) * whole
        if longest >= _FOREIGN or mostly or (several and new == whole >= 1 and least == _LEAST):
            return clause.strip()
    return ""


def counted_otherwise(claim: str, texts: Sequence[str]) -> str:
    """Give a number of a claim that counts something else than in every text that has it, or "" (B10).

    What a plain number counts is the word behind it; it is the same when that word stands near the number.
    """
    for number, noun in _counts(claim):
        held = [words(text) for text in texts]
        near_it = [
            line[max(0, at - _NEAR) : at + _NEAR + 1] for line in held for at, w in enumerate(line) if w == number
        ]
        if near_it and not any(noun in content_set(" ".join(around)) for around in near_it):
            return f"{number} {noun}"
    return ""


def unsaid(claim: str, known: str) -> str:
    """Give a word of a claim that no known text has in any form, or ""."""
    said, stems = set(words(known)), content_set(known)
    return next((word for word in words(claim) if word not in said and not content_set(word) <= stems - {""}), "")


def _counts(text: str) -> Iterator[tuple[str, str]]:
    listed = words(text)
    for number, behind in pairwise(listed):
        noun = content(behind)
        if number.isdecimal() and noun and behind.isalpha() and behind not in table("units") and behind[0] < "\u2e80":
            yield number, noun[0]


def states(text: str, claim: str) -> bool:
    """Tell whether a text has every value of a claim and denies nothing of it."""
    return all(has_value(text, value) for value in values(claim)) and agrees(claim, text)


def founding(claim: str, grounds: Sequence[Ground], weights: Weights) -> tuple[Ground, ...]:
    """Give the episodes that state a new claim, at most four, the earliest first (B27)."""
    found = [
        ground
        for ground in grounds
        if not ground.blocked
        and shares_words(ground.text, claim, weights)
        and covers(ground.text, claim, weights) >= CLAIM_COVER
        and states(ground.text, claim)
    ]
    return tuple(sorted(found, key=lambda one: one.n)[:_FOUNDING])


def shares_script(a: str, b: str) -> bool:
    """Tell whether two texts have words in one writing system, so that comparing their words means something."""
    return not _scripts(a).isdisjoint(_scripts(b))


def _scripts(text: str) -> set[str]:
    letters = (next((char for char in word if char.isalpha()), "") for word in words(text))
    codes = [ord(char) for char in letters if char]
    return {"latin" if code < 0x250 else "cjk" if code >= 0x2E80 else f"block {code >> 8}" for code in codes}
