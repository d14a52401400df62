"""B8-B10: the claim itself, and every value in it, must be in the evidence."""

from __future__ import annotations

from collections.abc import Iterable

from assay.model.constants import CLAIM_COVER
from assay.model.finding import Action, Finding
from assay.text import Value, ValueType, content_set, covers, values, words
from assay.wrap.rules.case import Case, Pair, Step, Window

__all__ = ["claimed", "name_is_label", "valued"]


def claimed(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation when what the line says is not what the grounded episodes say."""
    grounds = [pair.ground.text for pair in pairs]
    if case.line.text:
        past = [ground.text for ground in case.history.counted] if case.history else []
        if covers("\n".join([*grounds, *past]), case.line.text, window.weights) >= CLAIM_COVER:
            return Step(pairs)
    elif name_is_label(case, grounds):
        message = "the name cannot be compared with the evidence, so the line is checked by its citation alone"
        return Step(pairs, findings=(case.finding("name-unchecked", Action.REPORT, message),))
    elif any(content_set(case.claim) & content_set(text) for text in grounds):
        return Step(pairs)
    fix = "say in the line what the cited episodes say, in their words, or cite the episodes that say it"
    finding = case.finding(
        "claim-ungrounded", Action.LOWER, "the cited episodes do not speak of what the line claims", fix
    )
    return Step((), failed="claim-ungrounded", findings=(finding,))


def name_is_label(case: Case, grounds: Iterable[str]) -> bool:
    """Tell whether a line without text has a name that no cited episode could contain, such as one in another script."""
    mine = content_set(case.claim)
    return not case.line.text and (not mine or all(not _scripts(case.claim) & _scripts(text) for text in grounds))


def valued(case: Case, pairs: tuple[Pair, ...], window: Window) -> Step:
    """Void the citation when a number, date, name or other value of the line stands in no grounded episode."""
    grounds = [pair.ground.text for pair in pairs]
    past = [ground.text for ground in case.history.counted] if case.history else []
    label = " ".join(case.line.name.replace("_", " ").split())
    wanted = [(value, [*grounds, *past]) for value in values(case.line.text)]
    wanted += [(value, grounds) for value in values(label) if value.type is not ValueType.NAME]
    wanted += [(value, grounds) for pair in pairs for value in values(pair.explanation)]
    findings: list[Finding] = []
    for value, texts in wanted:
        if not any(_states(text, value) for text in texts):
            findings.append(_unsupported(case, value, texts))
            break
    return Step((), failed="value-unsupported", findings=tuple(findings)) if findings else Step(pairs)


def _states(text: str, value: Value) -> bool:
    if any(value.matches(other) for other in values(text)):
        return True
    # Names, and identifiers written in words, are compared by their words: they are spelled in many ways.
    mine = content_set(value.surface)
    return (
        value.type in (ValueType.NAME, ValueType.PATH, ValueType.HOST, ValueType.ID)
        and bool(mine)
        and mine <= content_set(text)
    )


def _unsupported(case: Case, value: Value, texts: list[str]) -> Finding:
    alike = [other.surface for text in texts for other in values(text) if other.type is value.type]
    nearest = f"; the nearest there is {alike[0][:40]!r}" if alike else ""
    message = f"{value.surface[:40]!r} stands in none of the cited episodes{nearest}"
    return case.finding(
        "value-unsupported", Action.LOWER, message, "write the value as the cited episode has it, or leave it out"
    )


def _scripts(text: str) -> frozenset[str]:
    """Give the writing systems of the words of a text, as far as comparing words needs them."""
    found: set[str] = set()
    for word in words(text):
        char = next((one for one in word if one.isalpha()), "")
        if char:
            code = ord(char)
            found.add("latin" if code < 0x250 else "cjk" if code >= 0x2E80 else f"block {code >> 8}")
    return frozenset(found)
