"""Claims about the estimate of tokens, against counts of cl100k_base taken once (`cl100k_counts.json`)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import estimate_tokens

COUNTED = json.loads(Path(__file__).with_name("cl100k_counts.json").read_text("utf-8"))["texts"]


@pytest.mark.parametrize("sample", COUNTED, ids=lambda sample: f"{sample['kind']}: {sample['text'][:16]!r}")
def test_an_estimate_is_at_most_5_percent_under_and_25_over(sample: dict[str, Any]) -> None:
    assert sample["tokens"] >= 50
    assert 0.95 * sample["tokens"] <= estimate_tokens(sample["text"]) <= 1.25 * sample["tokens"]


def test_the_counted_texts_are_many_and_of_every_kind() -> None:
    kinds = {sample["kind"] for sample in COUNTED}
    assert len(COUNTED) >= 60
    assert kinds >= {"english", "german", "thai", "chinese", "japanese", "korean", "russian", "arabic"}
    assert kinds >= {"code", "json", "numbers", "markup", "chat"}


def test_over_all_texts_the_estimate_is_close() -> None:
    assert 1.0 <= sum(estimate_tokens(s["text"]) for s in COUNTED) / sum(s["tokens"] for s in COUNTED) <= 1.15


@given(st.text(st.characters(), max_size=80), st.text(st.characters(), max_size=80))
def test_an_estimate_exists_and_more_words_take_more_tokens(a: str, b: str) -> None:
    assert estimate_tokens(a) >= bool(a.strip())
    assert estimate_tokens(f"{a}\n\n{b}") >= max(estimate_tokens(a.strip()), estimate_tokens(b.strip())) - 1


def test_nothing_takes_no_tokens() -> None:
    assert estimate_tokens("") == 0
