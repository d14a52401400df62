"""C14 to C16: nothing crosses between users and runs, and every entry of the host gives the same."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest

from assay.errors import MissingUser
from assay.session import SessionKey, StoreRouter
from assay.testing.harness import Capability, Entry
from assay.testing.script import Call, Meet, Prompt, Say, Script, Step
from assay.testing.stage import ADA, BOB, FACT, MANUAL, QUESTION, Line, Stage, lines, unfenced
from assay.testing.tapped import TappedStore

__all__ = ["IsolationClauses"]

FACTS = {"ada": "The door code of the archive is 4711", "bob": "The door code of the archive is 9902"}


class IsolationClauses:
    """C14, C15, C16."""

    def test_c14_interleaved_runs_of_one_adapter_do_not_cross(self, stage: Stage) -> None:
        """Two users at once, held side by side by barriers inside the model."""
        stage.needs(Capability.INTERLEAVE_ONE_AGENT)
        router = stage.memory()
        for user, fact in FACTS.items():
            stage.run(fact, [Say("Noted.")], memory=router, key=SessionKey(user, "told"))
        first, second = threading.Barrier(2), threading.Barrier(2)
        lanes: dict[str, list[Step]] = {
            f"{user}: what is the door code of the archive?": [
                Meet(first),
                Call("add", {"a": 1, "b": number}, f"c-{user}"),
                Meet(second),
                Say(f"An answer for {user} alone."),
            ]
            for number, user in enumerate(FACTS)
        }
        script = Script(lanes=lanes)
        agent = stage.harness.build(script, memory=router, options=MANUAL)
        keys = dict(zip(lanes, (ADA, BOB), strict=True))
        results: dict[str, Any] = {}

        def run(text: str) -> None:
            results[text] = stage.harness.run(agent, text, key=keys[text], entry=stage.entry)

        threads = [threading.Thread(target=run, args=(text,)) for text in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert {text[:3]: outcome.result for text, outcome in results.items()} == {
            "ada": "An answer for ada alone.",
            "bob": "An answer for bob alone.",
        }
        for user, other in (("ada", "bob"), ("bob", "ada")):
            held = stage.episodes(user=user)
            # What was told, its answer, the question, and the answer; with tool events also the call and its result.
            assert len(held) == (4 if stage.lacks(Capability.TOOL_EVENTS) else 6)
            assert not [
                episode.content for episode in held if other in episode.content or FACTS[other] in episode.content
            ]
            asked = [prompt for prompt in script.prompts if f"{user}: what" in prompt.text]
            assert len(asked) == 2
            assert all(FACTS[user] in prompt.text and FACTS[other] not in prompt.text for prompt in asked)

    def test_c15_without_a_user_nothing_is_shared(self, stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
        """A missing user is told early, or the run goes on without memory."""
        nobody = SessionKey(None, "s1")
        bare = stage.run(FACT, [Say("Noted.")], memory=None, key=nobody)
        with caplog.at_level(logging.ERROR, "assay.session"):
            try:
                ran = stage.run(FACT, [Say("Noted.")], memory=stage.memory(), key=nobody)
            except MissingUser:
                pass
            else:
                assert ran.outcome.same_as(bare.outcome)
                assert "missing_user" in caplog.text
        assert not list(stage.folder.rglob("*.db"))

    def test_c15_users_stay_apart(self, stage: Stage) -> None:
        """Whatever their ids look like on a file system."""
        users = ("u1", "u10", "Bob", "bob", "../bob", "CON")
        router = stage.memory()
        for user in users:
            stage.run(f"I am {user} and nobody else", [Say("Hello.")], memory=router, key=SessionKey(user, "s"))
        for user in users:
            assert [line.text for line in lines(stage.episodes(user=user))] == [
                f"I am {user} and nobody else",
                "Hello.",
            ]
        assert sorted(router.users()) == sorted(users)

    def test_c15_a_store_for_one_needs_no_user(self, stage: Stage) -> None:
        """The first line of a first program."""
        with StoreRouter(stage.folder / "one.db") as router:
            stage.run(FACT, [Say("Noted.")], memory=router, key=SessionKey(None, "s1"))
            second = stage.run(QUESTION, [Say("On Tuesday.")], memory=router, key=SessionKey(None, "s2"))
            assert FACT in second.prompts[0].text

    def test_c16_every_entry_gives_the_same(self, stage: Stage) -> None:
        """Equal episodes and equal prompts; on an event loop only the worker touches the disk."""
        seen: dict[Entry, tuple[list[Line], list[Prompt]]] = {}
        for entry in stage.entries:
            touched: set[int] = set()
            path = stage.folder / f"entry-{entry.value}" / "memory.db"
            stores: list[TappedStore] = []

            def opened(
                key: SessionKey, path: Any = path, touched: set[int] = touched, stores: list[TappedStore] = stores
            ) -> TappedStore:
                touched.add(threading.get_ident())
                if not stores:
                    stores.append(TappedStore(path, lambda verb: touched.add(threading.get_ident())))
                return stores[0]

            with StoreRouter(opened) as router:
                stage.run(FACT, [Say("Noted.")], memory=router, entry=entry)
                steps: list[Step] = [Call("add", {"a": 1, "b": 2}, "c1"), Say("On Tuesday, and three.")]
                ran = stage.run(QUESTION, steps, memory=router, key=ADA, entry=entry)
            seen[entry] = (
                lines(list(stores[0].episodes.list(limit=100))),
                [unfenced(prompt) for prompt in ran.prompts],
            )
            stores[0].close()
            if entry.awaits and not stage.lacks(Capability.ASYNC_HOOKS):
                assert threading.get_ident() not in touched, f"{entry.value}: the event loop's thread touched the disk"
        first = seen[stage.entry]
        assert all(rows == first[0] for rows, _ in seen.values())
        assert all(prompts == first[1] for _, prompts in seen.values())
