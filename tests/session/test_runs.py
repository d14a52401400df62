"""Runs are kept in the store: another process goes on with the one that is open."""

from __future__ import annotations

from typing import Any

from assay import Store
from assay.session import SessionKey, StoreRouter


def runs(desk: Any) -> list[str | None]:
    with Store(desk.path) as store:
        return [episode.run for episode in store.episodes.list()]


def test_a_resume_in_another_process_finds_the_open_run(desk: Any) -> None:
    session = desk.session()
    session.run_started()
    session.user_message("Deploy it")
    session.tool_call("approve", {"q": "Deploy?"}, call_id="c7")
    other = desk.elsewhere()
    resumed = other.session()
    resumed.tool_call("approve", {"q": "Deploy?"}, call_id="c7")
    resumed.tool_result("approve", "yes", call_id="c7")
    assert resumed.asked == "Deploy it"
    resumed.run_ended("Deployed.")
    other.router.close()
    assert desk.texts() == ["Deploy it", 'approve {"q": "Deploy?"}', "yes", "Deployed."]
    assert len(set(runs(desk))) == 1


def test_equal_words_before_and_after_a_resume_are_both_kept(desk: Any) -> None:
    desk.session().user_message("yes")
    other = desk.elsewhere()
    other.session().agent_message("And now?")
    other.session().user_message("yes")
    other.router.close()
    assert desk.texts() == ["yes", "And now?", "yes"]


def test_a_new_run_leaves_an_abandoned_one_behind(desk: Any) -> None:
    for text in ("first", "second"):
        session = desk.elsewhere().session()
        session.run_started()
        session.user_message(text)
        session.conversation.home.close()
    assert len(set(runs(desk))) == 2


def test_words_that_come_before_the_start_belong_to_the_run(desk: Any) -> None:
    session = desk.session()
    session.user_message("Hello there")
    session.run_started()
    session.agent_message("Hello.")
    assert len(set(runs(desk))) == 1


def test_host_run_ids_keep_concurrent_runs_of_a_session_apart(desk: Any) -> None:
    first, second = desk.session(run="r1"), desk.session(run="r2")
    first.run_started()
    second.run_started()
    first.user_message("one")
    second.user_message("two")
    first.run_ended("done one")
    second.run_ended("done two")
    assert runs(desk) == ["r1", "r2", "r1", "r2"]


def test_a_closed_run_whose_id_comes_again_is_reopened(desk: Any) -> None:
    session = desk.session()
    session.run_started(id="m1")
    session.user_message("Ask both agents", id="m1")
    session.run_ended("The first is done.")
    session.run_started(id="m1")
    session.user_message("Ask both agents", id="m1")
    session.run_ended("The second is done.")
    assert desk.texts() == ["Ask both agents", "The first is done.", "The second is done."]
    assert runs(desk) == ["m1", "m1", "m1"]


def test_without_a_session_each_run_is_one(desk: Any) -> None:
    session = desk.session(None)
    for text in ("first run", "second run"):
        session.run_started()
        session.user_message(text)
        session.run_ended(None)
    with Store(desk.path) as store:
        names = [str(episode.session) for episode in store.episodes.list()]
    assert len(set(names)) == 2 and all(name.startswith("auto:") for name in names)


def test_a_sub_agent_neither_opens_nor_ends_the_run(desk: Any) -> None:
    root = desk.session()
    root.run_started()
    root.user_message("Ask the other one")
    sub = root.sub("researcher")
    sub.run_started()
    sub.user_message("Find the deploy day")
    assert (sub.asked, root.asked) == ("Find the deploy day", "Ask the other one")
    assert root.sub("researcher").asked == "Find the deploy day"
    sub.run_failed(RuntimeError("seen again as the tool's error"))
    sub.run_ended("It is Tuesday.")
    root.run_ended("The other one says Tuesday.")
    assert [line.text for line in desk.lines()] == [
        "Ask the other one", "It is Tuesday.", "The other one says Tuesday.",
    ]  # fmt: skip
    with Store(desk.path) as store:
        assert [episode.source for episode in store.episodes.list()] == ["user:ada", "agent:researcher", "agent"]


def test_options_belong_to_whoever_asked_for_the_session(tmp_path: Any) -> None:
    from assay.session import SessionOptions, WrapPolicy

    with StoreRouter(tmp_path / "m.db") as router:
        first = router.session(SessionKey("ada", "s"), options=SessionOptions(wrap=WrapPolicy.manual()))
        second = router.session(SessionKey("ada", "s"), options=SessionOptions(tokens=600))
        assert first.options.tokens == 1_200 and second.options.tokens == 600
        assert first.conversation is second.conversation
