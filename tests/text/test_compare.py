"""Claims about overlap and weight (T5, T9, T10)."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import agrees, content, covers, near, weight

ANY = st.text(st.characters(), max_size=80)
VOCABULARY = ["deploy", "friday", "never", "not", "allowed", "denied", "pool", "is", "20", "40", ".", ",", "Ada"]
SAID = st.lists(st.sampled_from(VOCABULARY), max_size=14).map(" ".join)

SAME = [
    ("Deploys go out on Tuesday.", "deploys go out on tuesday"),
    ("The release pipeline deploys the billing service", "Release pipeline deploys billing service!"),
    ("Die Deployments laufen dienstags über Jenkins", "die Deployments laufen über Jenkins dienstags"),
    ("周二部署新版本", "周二部署新版本。"),
]
DIFFERENT = [
    ("The request timeout for billing is 30 seconds", "The request timeout for billing is 60 seconds"),
    ("Deploys of the billing are allowed on Friday", "Deploys of the billing are not allowed on Friday"),
    ("Deploys are enabled for the billing service", "Deploys are disabled for the billing service"),
    ("Set the limit to 10²", "Set the limit to 102"),
    ("The pool uses Python 3.1 today", "The pool uses Python 3.10 today"),
    ("周二允许部署新版本", "周二不允许部署新版本"),
    ("Деплой по пятницам разрешён", "Деплой по пятницам не разрешён"),
    ("Bob wrote the parser", "Ada wrote the tokenizer"),
    ("", "something"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_the_same_statement_is_near(a: str, b: str) -> None:
    assert near(a, b)
    assert near(b, a)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_a_changed_value_or_a_denial_is_never_near(a: str, b: str) -> None:
    assert not near(a, b)
    assert not near(b, a)


@given(SAID, SAID)
def test_near_and_agrees_are_symmetric(a: str, b: str) -> None:
    assert near(a, b) == near(b, a)
    assert agrees(a, b) == agrees(b, a)


@given(ANY, ANY)
def test_comparing_any_two_texts_answers(a: str, b: str) -> None:
    assert near(a, b) == near(b, a)
    assert near(a, a)
    assert 0.0 <= covers(a, b) <= 1.0
    assert covers(a, a) == (1.0 if content(a) else 0.0)


def test_covers_is_the_weighted_share_of_the_second_text() -> None:
    assert covers("Postgres pool is large", "Postgres timeout") == 0.5
    assert covers("Postgres pool", "Postgres timeout", {"postgr": 0.25}) == 0.2
    assert covers("Postgres pool", "Postgres timeout", lambda word: 0.0) == 0.0
    assert covers("anything", "it is") == 0.0


def test_a_word_weighs_by_how_rare_it_is() -> None:
    assert weight("postgr", df=0, documents=99) == 1.0
    assert weight("postgr", df=9, documents=99) == pytest.approx(math.log(10) / math.log(100))
    assert weight("postgr", df=100, documents=99) == 0.0


@pytest.mark.parametrize("text", ["thing", "Problem", "система", "时间", "수"])
def test_in_a_small_store_a_general_word_weighs_a_quarter(text: str) -> None:
    for word in content(text):
        assert weight(word, df=1, documents=49) == 0.25
    assert weight("postgr", df=1, documents=49) == 1.0
    assert weight("postgr", df=1, documents=0) == 1.0
