"""What adapters read alike in the messages of their hosts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from assay.session import arguments_of, field_of, question_in


def test_the_newest_message_with_the_recorded_words_is_the_question() -> None:
    users = {1: "when?", 3: "who?", 5: "when?", 7: "a result that another hook put behind"}
    assert question_in(users, "when?", 8) == (5, "when?")


def test_without_the_recorded_words_the_newest_message_of_the_person_is_the_question() -> None:
    assert question_in({1: "when?", 3: "who?"}, "said elsewhere", 4) == (3, "who?")


def test_where_nobody_asks_a_briefing_stands_at_the_end() -> None:
    assert question_in({}, "when?", 4) == (4, None)


@pytest.mark.parametrize(
    ("written", "meant"),
    [('{"a": 1}', {"a": 1}), ("", {}), (None, {}), ({"a": 1}, {"a": 1}), ('{"a": 1', '{"a": 1'), ("[1, 2]", [1, 2])],
)
def test_arguments_are_read_as_far_as_they_are_json(written: object, meant: object) -> None:
    assert arguments_of(written) == meant


def test_a_field_of_a_dict_and_of_an_object_are_read_alike() -> None:
    assert field_of({"user_id": "ada"}, "user_id") == field_of(SimpleNamespace(user_id="ada"), "user_id") == "ada"
    assert field_of({}, "user_id") is field_of(object(), "user_id") is field_of(None, "user_id") is None
