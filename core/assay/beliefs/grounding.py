"""Whether an episode carries a statement: compared word by word and value by value, in any script."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from assay.text import Value, ValueType, agrees, content_set, covers, fold, values, words

__all__ = ["Weights", "copies", "founding", "has_value", "shares_script", "shares_words"]

Weights = Callable[[str], float]
_BY_WORDS = (ValueType.NAME, ValueType.PATH, ValueType.HOST, ValueType.ID)
_FOUNDING = 4  # episodes that found one line


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


def founding(claim: str, grounds: Sequence[Ground], weights: Weights) -> tuple[Ground, ...]:
    """Give the episodes that state a new claim, at most four, the earliest first (B27)."""
    wanted = values(claim)
    found = [
        ground
        for ground in grounds
        if not ground.blocked
        and shares_words(ground.text, claim, weights)
        and covers(ground.text, claim, weights) >= CLAIM_COVER
        and all(has_value(ground.text, value) for value in wanted)
        and agrees(claim, ground.text)
    ]
    return tuple(sorted(found, key=lambda one: one.n)[:_FOUNDING])


def shares_script(a: str, b: str) -> bool:
    """Tell whether two texts have words in one writing system, so that comparing their words means something."""
    return not _scripts(a).isdisjoint(_scripts(b))


def _scripts(text: str) -> set[str]:
    letters = (next((char for char in word if char.isalpha()), "") for word in words(text))
    codes = [ord(char) for char in letters if char]
    return {"latin" if code < 0x250 else "cjk" if code >= 0x2E80 else f"block {code >> 8}" for code in codes}
