"""Claims about words and content words in every script (T3, T4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import content, content_set, fold, query_terms, terms, vocabulary, words
from assay.text.segment import plain, text_tokens

ANY = st.text(st.characters(), max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Elena's dog", ["elena", "dog"]),
        ("don't stop, can’t won't", ["do", "not", "stop", "can", "not", "will", "not"]),
        ("l’hôpital d'Elena", ["l", "hôpital", "d", "elena"]),
        ("п'ять м’яч", ["пять", "мяч"]),
        ("用Postgres作为数据库", ["用", "postgres", "作为", "为数", "数据", "据库"]),
        ("2024年", ["2024", "年"]),
        ("私は東京に", ["私", "は", "東京", "に"]),
        ("मैंने हिन्दी", ["मैंने", "हिन्दी"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("db.pool_size", ["db", "pool", "size", "db.pool_size"]),
        ("maxRetries HTTPServer PDFs", ["max", "retries", "maxretries", "http", "server", "httpserver", "pdfs"]),
        ("1,000 and 1,00", ["1000", "and", "1", "00"]),
        ("near-duplicate", ["near", "duplicate", "near-duplicate"]),
        ("GDPR und Öl", ["gdpr", "und", "öl"]),
        ("10² m²", ["10", "2", "m", "2"]),
        ("", []),
    ],
)
def test_a_text_is_cut_where_its_script_says(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(ANY)
def test_words_never_fail_and_are_folded(text: str) -> None:
    assert all(word and fold(word) == word for word in words(text))


@given(st.text("abcXYZ' ._-09äö", max_size=40))
def test_case_of_plain_words_does_not_matter(text: str) -> None:
    lower = text.lower()
    assert words(lower) == words(lower.title().lower())


PLAIN = st.text("abcdefginstxyzAEX0123456789.,'\"()", max_size=12)


@given(st.one_of(PLAIN, st.sampled_from(["the", "The", "IT", "us", "Running,", "(x3fa2)", "1024", "A1", "gone."])))
def test_the_short_way_for_plain_words_gives_what_the_rules_give(chunk: str) -> None:
    hidden = chunk + "\u200b"  # drawn as nothing, and dropped, but no plain chunk
    assert not plain(hidden)
    assert terms(chunk) == terms(hidden)
    assert content(chunk) == content(hidden)


def test_a_full_table_of_chunks_starts_anew_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_LEARNED", 3)
    learned = vocabulary._Learned(lambda chunk: (chunk.upper(),))
    words = ["a", "b", "c", "d", "a", "x" * 49]
    assert [learned[word] for word in words] == [(word.upper(),) for word in words]
    assert set(learned) == {"d", "a"}


@given(ANY)
def test_content_is_within_terms_and_queries_ask_for_nothing_else(text: str) -> None:
    assert set(content(text)) <= set(terms(text))
    assert set(query_terms(text)) == set(terms(text))
    assert content_set(text) == frozenset(content(text))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("deployments", "deploy"),
        ("we went there", "going"),
        ("the children ran", "child runs"),
        ("Einstellungen und Datenbanken", "Einstellung der Datenbank"),
        ("configuraciones", "configuracion"),
        ("las configuraciones", "configuración"),
        ("configurações", "configuração"),
        ("journaux", "journal"),
        ("серверы работают", "сервер работает"),
        ("сервери", "сервера"),
        ("الخوادم", "خوادم"),
        ("서버는 배포합니다", "서버를 배포한다"),
        ("εφαρμογές", "εφαρμογή"),
    ],
)
def test_inflected_words_meet(a: str, b: str) -> None:
    assert set(content(a)) & set(content(b))


@pytest.mark.parametrize(
    "text",
    [
        "it is what we have been doing",
        "das ist es, was wir machen",
        "c'est ce que nous avons fait",
        "es lo que hemos hecho",
        "это то, что мы делаем",
        "це те, що ми робимо",
        "هذا هو ما كان",
        "これは それ です",
        "यह है और वह था",
    ],
)
def test_a_text_of_stop_words_has_no_content(text: str) -> None:
    assert content(text) == []


def test_an_acronym_counts_and_a_short_word_is_a_term_only() -> None:
    assert content("CI is up in IT") == ["ci", "it"]
    assert content("db") == []
    assert terms("db") == ["db"]


def test_words_of_another_language_are_not_taken_for_stop_words() -> None:
    assert content("the servers die in the war over the hat") == ["server", "die", "war", "hat"]


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12))
def test_a_plain_english_word_is_read_as_the_rules_for_every_script_would(chunk: str) -> None:
    # The mark at the end is no part of any word, and of no alphabet that has a short way.
    assert list(text_tokens(chunk)) == list(text_tokens(f"{chunk}\N{RIGHT DOUBLE QUOTATION MARK}"))
