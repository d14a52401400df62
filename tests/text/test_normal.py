"""Claims about canonical, folded and look-alike forms (T1, T2)."""

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import canon, fold, skeleton

ANY = st.text(st.characters(), max_size=60)  # lone surrogates, controls and unassigned characters included


@given(ANY)
@pytest.mark.parametrize("form", [canon, fold, skeleton])
def test_a_form_of_a_form_is_itself(form: Callable[[str], str], text: str) -> None:
    assert form(form(text)) == form(text)


@pytest.mark.parametrize("form", [canon, fold, skeleton])
def test_a_form_of_every_single_character_is_stable(form: Callable[[str], str]) -> None:
    unstable = []
    # The first plane whole, where the forms differ most; the rest, most of it unassigned, by every 61st.
    for code in (*range(0x10000), *range(0x10000, sys.maxunicode + 1, 61), *range(0xE0000, 0xE0200)):
        once = form("a" + chr(code) + "1")
        if form(once) != once:
            unstable.append(hex(code))
    assert unstable == []


@given(ANY)
def test_canonical_text_can_be_stored(text: str) -> None:
    stored = canon(text)
    stored.encode("utf-8")
    assert not any(unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t" for char in stored)


@pytest.mark.parametrize("mark", ["\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_every_line_break_is_one_line_feed(mark: str) -> None:
    assert canon(f"one{mark}two") == "one\ntwo"


@pytest.mark.parametrize("space", ["\xa0", "\u2003", "\u202f", "\u3000"])
def test_every_space_is_one_blank(space: str) -> None:
    assert canon(f"one{space}two") == "one two"


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\ufeff", "\U000e0041", "\x00", "\x07", "\u00ad", "\u200d"])
def test_what_cannot_be_seen_goes(hidden: str) -> None:
    assert canon(f"pass{hidden}word") == "password"


def test_a_joiner_stays_between_letters_that_need_it_and_nowhere_else() -> None:
    assert canon("می\u200cروم") == "می\u200cروم"
    assert canon("क्\u200dष") == "क्\u200dष"
    assert canon("\u200cمی\u200c روم\u200d") == "می روم"


def test_fold_knows_turkish_german_and_width() -> None:
    assert fold("İSTANBUL") == fold("istanbul") == fold("ıstanbul")
    assert fold("STRASSE") == fold("Straße")
    assert fold("ＡＰＩ　１２") == "api 12"


def test_a_raised_digit_is_never_read_into_the_number_before_it() -> None:
    assert fold("10²") != fold("102")
    assert fold("1½") != fold("11/2")


def test_names_that_look_alike_have_one_skeleton() -> None:
    assert skeleton("pоstgrеs") == skeleton("postgres")  # Cyrillic о and е
    assert skeleton("3×") == skeleton("3х") == skeleton("3✕") == "3x"
    assert skeleton("a — b") == skeleton("a - b")
    assert skeleton("٣x") == skeleton("３x") == "3x"
    assert skeleton("postgres") != skeleton("postgras")
