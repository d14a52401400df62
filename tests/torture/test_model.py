"""T19: a store beside a model in memory: whatever is done in whatever order, both say the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, precondition, rule

from assay import Store, WrapStatus

WORDS = st.sampled_from(
    ["deploys go out on Tuesday", "the pool holds 40 connections", "кэш холодный", "週次の配信は火曜日"]
)
KEYS = st.sampled_from(["db.pool", "deploy.day"])
SESSIONS = st.sampled_from(["s1", "s2"])


class StoreAndModel(RuleBasedStateMachine):
    """Every rule does one thing to both."""

    refs = Bundle("refs")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memory.db"
        self.store = Store(self.path)
        self.texts: dict[str, str] = {}  # by ref, in order
        self.keys: dict[str, list[str]] = {}  # refs of the values of a key, in order
        self.count = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def _fresh(self, words: str) -> str:
        """Give a text that no other has, so that none is taken for a repetition."""
        self.count += 1
        return f"{words} {self.count}"

    @rule(target=refs, words=WORDS, session=SESSIONS)
    def record(self, words: str, session: str) -> str:
        text = self._fresh(words)
        ref = self.store.record(text, session=session).ref
        self.texts[ref] = text
        return ref

    @rule(target=refs, words=WORDS, key=KEYS)
    def set_key(self, words: str, key: str) -> str:
        text = self._fresh(words)
        ref = self.store.record(text, state_key=key).ref
        self.texts[ref] = text
        self.keys.setdefault(key, []).append(ref)
        return ref

    @rule(target=refs, words=st.lists(WORDS, min_size=1, max_size=5))
    def record_many(self, words: list[str]) -> object:
        texts = [self._fresh(one) for one in words]
        refs = self.store.episodes.record_many([{"content": text} for text in texts])
        self.texts |= dict(zip(refs, texts, strict=True))
        return multiple(*refs)

    @rule(ref=consumes(refs))
    def erase(self, ref: str) -> None:
        self.store.erase(ref)
        del self.texts[ref]
        for values in self.keys.values():
            values[:] = [value for value in values if value != ref]

    @rule(ref=refs, worked=st.booleans())
    def result(self, ref: str, worked: bool) -> None:
        self.store.result(ref, worked)

    @precondition(lambda self: self.texts)
    @rule(session=SESSIONS)
    def wrap(self, session: str) -> None:
        assert self.store.wrap(session=session).status in (WrapStatus.COMMITTED, WrapStatus.EMPTY)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.path)

    @rule()
    def travel(self) -> None:
        """Go on in a store that was made of this one's export."""
        parts = [Path(self.folder.name) / f"{self.count}.{len(list(Path(self.folder.name).iterdir()))}"]
        parts.append(parts[0].with_suffix(".db"))
        self.store.transfer.export_jsonl(parts[0])
        self.store.close()
        self.path = parts[1]
        self.store = Store(self.path)
        self.store.transfer.import_jsonl(parts[0])

    @invariant()
    def both_hold_the_same(self) -> None:
        assert {one.ref: one.content for one in self.store.episodes.list(limit=1_000)} == self.texts

    @invariant()
    def each_key_has_its_newest_value(self) -> None:
        for key, refs in self.keys.items():
            current = self.store.keys.get(key)
            assert (current.ref if current else None) == (refs[-1] if refs else None)

    @invariant()
    def what_is_held_is_found(self) -> None:
        for ref, text in list(self.texts.items())[-1:]:
            replaced = any(ref in refs[:-1] for refs in self.keys.values())
            assert replaced or any(ref.startswith(hit.ref) for hit in self.store.recall(text, limit=50))

    @invariant()
    def the_log_agrees(self) -> None:
        verification = self.store.verify()
        assert verification, verification.problems


TestStoreAndModel = StoreAndModel.TestCase
TestStoreAndModel.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
