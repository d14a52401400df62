"""Secrets taken out of text before it is stored."""

from collections import Counter
from functools import cache
from math import log2
from re import Match

from assay.text.lexicon import lines, pattern

__all__ = ["redact"]

_RANDOM_BITS = 2.5  # bits a character, at and above which an assigned value counts as random


def redact(text: str) -> tuple[str, int]:
    """Replace secrets by `[redacted:<kind>]`; return the text and how many were replaced (E1).

    Found are private keys, keys of common providers, JSON web tokens, bearer tokens, passwords in URLs, and values
    assigned to a name such as `password` or `api_key` when they look random. Idempotent.
    """
    count = 0
    lower = text.casefold()
    called = {rule for mark, signs in _signs().items() if mark in lower for sign, rule in signs if sign in lower}
    for _, kind, form in sorted(called) if called else ():
        text, found = _cut_keys(text, form) if kind == "private-key" else _replace(kind, form, text)
        count += found
    return text, count


@cache
def _signs() -> dict[str, list[tuple[str, tuple[int, str, str]]]]:
    """Return each string that a text with a secret must hold, with the rank, kind and expression it calls for.

    They stand under the rare character that they hold, if they do: most texts are spared half of them.
    """
    signs: dict[str, list[tuple[str, tuple[int, str, str]]]] = {}
    for rank, line in enumerate(lines("secrets")):
        kind, listed, form = line.split("\t")
        for sign in listed.split():
            mark = next((mark for mark in "-_" if mark in sign), "")
            signs.setdefault(mark, []).append((sign, (rank, kind, form)))
    return signs


def _replace(kind: str, form: str, text: str) -> tuple[str, int]:
    count = 0

    def one(match: Match[str]) -> str:
        nonlocal count
        value = match["secret"]
        if "[redacted:" in value or (kind == "credential" and not _looks_random(value)):
            return match[0]
        count += 1
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return f"{match[0][:start]}[redacted:{kind}]{match[0][end:]}"

    return pattern(form).sub(one, text), count


def _cut_keys(text: str, form: str) -> tuple[str, int]:
    """Cut out each private key to its last line; one that is cut off is a secret to the end of the text."""
    kept: list[str] = []
    place = 0
    for match in pattern(form).finditer(text):
        if match.start() >= place:
            kept.append(text[place : match.start()])
            end = text.find("-----END", match.end())
            close = text.find("-----", end + 8) + 5 if end >= 0 else 0
            place = close if close > end >= 0 else len(text)
    return "[redacted:private-key]".join([*kept, text[place:]]), len(kept)


def _looks_random(value: str) -> bool:
    """Tell a secret from a word, a path, a variable or a placeholder assigned to a telling name."""
    plain = value.strip("\"'`").rstrip(".)]}>")
    if len(plain) < 6 or " " in plain or plain[0] in "$<{[(/~%*." or value[-1] in "([{" or "://" in plain:
        return False
    letters = "".join(filter(str.isalnum, plain))
    kinds = sum(any(map(test, plain)) for test in (str.islower, str.isupper, str.isdigit)) + (letters != plain)
    if letters.isalpha() or "(" in plain:
        return value[0] in "\"'" and kinds >= 3  # unquoted, it is an expression such as `user.password`
    bits = -sum(n / len(plain) * log2(n / len(plain)) for n in Counter(plain).values())
    return not letters.isdigit() and kinds >= 2 and bits >= _RANDOM_BITS
