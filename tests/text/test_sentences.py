"""Claims about sentences and clipping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import clip, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Version 3.14 is out. See example.com now.", ["Version 3.14 is out.", "See example.com now."]),
        ("Use it, e.g. on Monday, with Dr. Who. Done.", ["Use it, e.g. on Monday, with Dr. Who.", "Done."]),
        ("He said “stop.” Then left.", ["He said “stop.”", "Then left."]),
        ("我们用它。他们不用！真的？", ["我们用它。", "他们不用！", "真的？"]),
        ("यह अच्छा है। वह नहीं।", ["यह अच्छा है।", "वह नहीं।"]),
        ("هل يعمل؟ نعم.", ["هل يعمل؟", "نعم."]),
        ("a line\nanother\r\n\r\nthird", ["a line", "another", "third"]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("J. Doe wrote it. Wait... what", ["J. Doe wrote it.", "Wait...", "what"]),
        ("", []),
    ],
)
def test_a_text_falls_into_its_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.characters(), max_size=80))
def test_sentences_lose_nothing_but_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(st.text(st.characters(), max_size=80), st.integers(-1, 90))
def test_a_clipped_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert len(clipped) <= max(limit, 0) or clipped == text == ""
    assert text.startswith(clipped)


def test_a_text_is_clipped_at_a_sentence_else_at_a_word() -> None:
    assert clip("One two. Three four five.", 18) == "One two. Three"
    assert clip("One two three. Four five.", 19) == "One two three."
    assert clip("alpha beta gamma", 12) == "alpha beta"
    assert clip("alpha beta", 10) == "alpha beta"
    assert clip("部署在周二。批准人是张伟", 8) == "部署在周二。"
    assert clip("กนี่", 3) == "ก"  # a mark is not cut from its letter
    assert clip("x" * 50, 20) == "x" * 20
