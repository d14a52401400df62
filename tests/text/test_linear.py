"""Claim T11: every primitive runs in time linear in the text, whatever the text."""

import time
from collections.abc import Callable

import pytest

from assay import text as primitives

NASTY = {
    "letters": "a",
    "words": "deploy ",
    "distinct": "".join(f"w{n}x " for n in range(100)),
    "capitals": "aB",
    "digits": "1",
    "groups": "1,000",
    "dots": "a.",
    "stops": ". ",
    "slashes": "/a",
    "joiners": "_-",
    "apostrophes": "a'",
    "not": "not ",
    "sentences": "The pool is not full. ",
    "han": "不部署",
    "thai": "ที่",
    "marks": "\u0301",
    "joined": "क्\u200dष",
    "spaces": " ",
    "lines": "\n",
    "at": "a@",
    "scheme": "a://",
    "user": "://a:",
    "jwt": "eyJaaaaaaaaaaaa.",
    "begin": "-----BEGIN PRIVATE KEY-----",
    "assign": "password=",
    "quote": "password='",
    "bearer": "bearer ",
    "brackets": "((((",
    "emoji": "👩\u200d👩",
}
TESTED: dict[str, Callable[[str], object]] = {
    name: getattr(primitives, name)
    for name in (
        *("canon", "fold", "skeleton", "words", "content", "terms", "values", "polarity"),
        *("sentences", "redact", "estimate_tokens"),
    )
} | {
    "clip": lambda text: primitives.clip(text, len(text) // 2),
    "agrees": lambda text: primitives.agrees(text, text + " x"),
}


def taken(function: Callable[[str], object], text: str) -> float:
    start = time.perf_counter()
    function(text)
    return time.perf_counter() - start


@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.parametrize("name", TESTED)
def test_eight_times_the_text_takes_about_eight_times_as_long(name: str, kind: str) -> None:
    piece = NASTY[kind]
    short, long = (piece * (size // len(piece)) for size in (2_500, 20_000))
    TESTED[name](short)
    # A text up to 2,048 characters may come from a cache, and time below 1 ms is noise. A quadratic step would show
    # as a ratio of 64. The best of three counts.
    ratios = []
    for _ in range(3):
        ratios.append(taken(TESTED[name], long) / max(taken(TESTED[name], short), 0.001))
        if ratios[-1] < 32:
            break
    assert min(ratios) < 32


@pytest.mark.parametrize("name", TESTED)
def test_a_megabyte_of_any_bytes_is_read(name: str) -> None:
    text = bytes(range(256)).decode("latin-1") * 4096
    assert taken(TESTED[name], text) < 30


def test_nearness_of_long_texts_takes_time_in_proportion() -> None:
    def near(text: str) -> bool:
        return primitives.near(text, f"x {text}")

    short, long = ("".join(f"The pool of w{n} is not {n} MB. " for n in range(size)) for size in (100, 800))
    assert min(taken(near, long) / taken(near, short) for _ in range(3)) < 32
