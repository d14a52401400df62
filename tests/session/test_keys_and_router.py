"""Which store an event belongs to."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Store, Trust
from assay.errors import Closed, InvalidInput, MissingUser
from assay.session import RecordPolicy, SessionKey, SessionOptions, StoreRouter
from assay.session.keys import user_folder


def say(router: StoreRouter, user: str | None, text: str, session: str = "s") -> None:
    router.session(SessionKey(user, session)).user_message(text)


@given(st.text(min_size=1))
def test_any_user_id_is_a_plain_folder_name(user: str) -> None:
    name = user_folder(user)
    assert name.isascii() and name == name.lower() and name.strip(".- ") == name
    assert not set(name) & set('/\\:*?"<>|.') and len(name) <= 41


def test_folders_of_like_ids_differ() -> None:
    users = ["Bob", "bob", "bob ", "u1", "u10", "../u1", "CON", "con", "", "日本", "日本語"]
    assert len({user_folder(user) for user in users}) == len(users)
    assert user_folder("Ada Lovelace").startswith("ada-lovelace-")


def test_a_template_gives_each_user_a_folder(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        say(router, "ada", "I am Ada")
        say(router, "bob", "I am Bob")
        assert router.path("ada") == tmp_path / user_folder("ada") / "memory.db"
        with Store(router.path("ada")) as store:
            assert [episode.content for episode in store.episodes.list()] == ["I am Ada"]


@pytest.mark.parametrize("template", ["x-{user}/m.db", "{user}{user}.db", "{user}/{user}.db", "m{user}.db"])
def test_a_place_that_is_no_name_of_its_own_is_refused(template: str) -> None:
    with pytest.raises(InvalidInput, match="name of a folder or of the file"):
        StoreRouter(template)


def test_a_folder_in_the_middle_of_a_path_may_be_the_users(tmp_path: Path) -> None:
    router = StoreRouter(tmp_path / "{user}" / "deep" / "store.db")
    assert router.path("ada") == tmp_path / user_folder("ada") / "deep" / "store.db"


@pytest.mark.parametrize("user", [None, "", "  "])
def test_a_template_needs_a_user(user: str | None, tmp_path: Path) -> None:
    with pytest.raises(MissingUser, match="no user id"):
        StoreRouter(tmp_path / "{user}.db").session(SessionKey(user, "s"))
    assert not list(tmp_path.iterdir())


def test_a_second_user_of_a_store_for_one_is_refused_across_processes(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    with StoreRouter(path) as router:
        say(router, "ada", "I am Ada")
        with pytest.raises(MissingUser, match="second user"):
            say(router, "bob", "I am Bob")
    with StoreRouter(path) as later, pytest.raises(MissingUser, match="second user"):
        say(later, "bob", "I am Bob")
    with StoreRouter(path) as shared:
        options = SessionOptions(RecordPolicy(user_trust=Trust.EXTERNAL))
        shared.session(SessionKey("bob", "s"), options=options).user_message("I am Bob")
    with Store(path) as store:
        assert [episode.trust for episode in store.episodes.list()] == [Trust.AGENT, Trust.EXTERNAL]


def test_a_store_that_the_host_gave_stays_open(tmp_path: Path) -> None:
    with Store(tmp_path / "m.db") as store:
        with StoreRouter(store) as router:
            say(router, None, "Hello there")
        assert store.record("still open").content == "still open"


def test_only_idle_stores_are_closed_and_they_open_again(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db", max_open=2) as router:
        busy = router.session(SessionKey("u0", "s"))
        with busy.conversation.home.store() as held:
            for number in range(1, 6):
                say(router, f"u{number}", f"I am number {number}")
            held.record("not closed beneath me")
        open_now = [home for home in router._open.values() if home._store is not None]
        assert len(open_now) <= 3
        for number in range(6):
            say(router, f"u{number}", "I am back", session="later")


def test_one_store_has_one_home_whoever_still_refers_to_it(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db", max_open=1) as router:
        first = router.session(SessionKey("ada", "s"))
        say(router, "ada", "Hello there")
        say(router, "bob", "Hello there")
        assert router.session(SessionKey("ada", "another")).conversation.home is first.conversation.home


def test_users_are_listed_with_a_cursor_and_erased_with_their_folder(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "{user}.db") as router:
        users = ["ada", "bob", "Eve", "mallory"]
        for user in users:
            say(router, user, f"I am {user}")
        page: tuple[str, ...] = router.users(limit=3)
        assert sorted([*page, *router.users(after=page[-1])]) == sorted(users)
        assert router.erase_user("bob")
        assert not router.erase_user("bob")
        assert not router.path("bob").parent.exists()
        assert "bob" not in router.users()
        say(router, "bob", "I am new here")
        with Store(router.path("bob")) as store:
            assert [episode.content for episode in store.episodes.list()] == ["I am new here"]


def test_a_closed_router_gives_no_store(tmp_path: Path) -> None:
    router = StoreRouter(tmp_path / "m.db")
    session = router.session(SessionKey(None, "s"))
    session.user_message("Hello there")
    router.close()
    with pytest.raises(Closed):
        session.user_message("Hello again")


def test_sessions_are_made_at_once_by_many_threads_and_share_their_state(tmp_path: Path) -> None:
    with StoreRouter(tmp_path / "m.db") as router:
        found: list[object] = []

        def look() -> None:
            found.append(router.session(SessionKey(None, "s")).conversation)

        threads = [threading.Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(map(id, found))) == 1
