"""B6, B7: a citation needs an explanation, and the explanation must be in the episode."""

from __future__ import annotations

from assay.beliefs.grounding import copies, shares_words
from assay.model.finding import Finding
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["explained", "grounding"]


def explained(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Drop citations that do not say what the episode shows."""
    fix = 'after the refs, quote words of the episode: [evidence: REF "words copied from it"]'
    message = "the citation does not say what the episode shows"
    explained = [pair for pair in pairs if pair.explanation]
    return Step.kept(pairs, explained, lambda: case.found("explanation-missing", message, fix))


def grounding(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Drop citations whose explanation is not in the episode: no copied span, and too few shared words of weight."""
    grounded = [
        pair
        for pair in pairs
        if copies(pair.ground.text, pair.explanation)
        or shares_words(pair.ground.text, pair.explanation, window.weights)
    ]

    def otherwise() -> Finding:
        refs = ", ".join(window.shown.get(pair.ground.ref, pair.ground.ref) for pair in pairs)
        fix = f"quote words that stand in {refs}, or cite the episode that says it"
        return case.found("ungrounded", f"the explanation does not occur in {refs}", fix)

    return Step.kept(pairs, grounded, otherwise)
