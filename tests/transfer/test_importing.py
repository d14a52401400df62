"""What a file claims is not believed for saying so, and a bad line brings nothing in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import Origin, Store, Trust
from assay.errors import InvalidInput

from .scene import Line, exported, read, write

Edit = Callable[[list[Line]], object]


def first(lines: list[Line], kind: str) -> Line:
    return next(line for line in lines if line["type"] == kind)


def test_e08_a_claim_of_the_operator_is_lowered(tmp_path: Path) -> None:
    lines = read(exported(tmp_path))
    for line in lines:
        if line["type"] == "episode":
            line |= {"trust": "operator", "origin": "operator"}
    forged = write(tmp_path / "forged.jsonl", lines)
    with Store(tmp_path / "new.db") as store:
        done = store.transfer.import_jsonl(forged)
        episodes = store.episodes.list(limit=1000)
        assert done.whole and done.lowered == len(episodes) > 0
        assert {episode.trust for episode in episodes} == {Trust.AGENT}
        assert {episode.origin for episode in episodes} == {Origin.IMPORT}
        assert store.verify()
    with Store(tmp_path / "held.db") as store:
        store.record("something of our own")
        done = store.transfer.import_jsonl(forged)
        brought = [episode for episode in store.episodes.list(limit=1000) if episode.origin is Origin.IMPORT]
        assert not done.whole and done.lowered == len(brought) == done.added
        assert {episode.trust for episode in brought} == {Trust.AGENT}
    with Store(tmp_path / "host.db", trust_ceiling=Trust.OPERATOR) as store:
        assert store.transfer.import_jsonl(forged).lowered == 0, "the host's word allows it"


def test_e08_lines_never_rise_above_the_ceiling_of_the_store(tmp_path: Path) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text('{"content": "said by the boss", "trust": "operator", "origin": "host"}\n{"content": "plain"}\n')
    with Store(tmp_path / "low.db", trust_ceiling=Trust.TOOL, default_trust=Trust.EXTERNAL) as store:
        done = store.transfer.import_jsonl(source)
        assert [(one.trust, one.origin) for one in store.episodes.list()] == [
            (Trust.TOOL, Origin.IMPORT),
            (Trust.EXTERNAL, Origin.IMPORT),
        ]
        assert (done.added, done.lowered) == (2, 1)


def test_what_is_believed_elsewhere_is_not_believed_here(tmp_path: Path) -> None:
    source = exported(tmp_path)
    with Store(tmp_path / "held.db") as store:
        store.record("something of our own")
        done = store.transfer.import_jsonl(source)
        assert store.beliefs.list() == []
        assert store.continuity.text() == ""
        assert done.left_out["belief"] == 1 and done.left_out["quarantined"] == 1
        failed = next(episode for episode in store.episodes.list() if episode.success is False)
        assert len(failed.derived_from) == 2
        assert failed.effective_trust is Trust.EXTERNAL, "links come along, or the web's word would be the agent's"
        assert store.recall("how large is the pool")[0].text == "pool size is 40"
        assert store.verify()


def test_a_file_takes_no_trust_from_what_was_here(tmp_path: Path) -> None:
    with Store(tmp_path / "held.db") as store:
        mine = store.record("Deploys go out on Tuesday")
        edges = [{"type": "edge", "kind": "derived", "source": mine.ref, "target": other} for other in ("page", "gone")]
        lines = [{"ref": "page", "content": "a page of the web", "trust": "external"}, *edges]
        source = tmp_path / "lines.jsonl"
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        store.transfer.import_jsonl(source)
        kept = store.episodes.get(mine)
        assert (kept.derived_from, kept.trust, kept.effective_trust) == ((), Trust.AGENT, Trust.AGENT)


def test_a_link_to_what_stayed_behind_makes_an_episode_external(tmp_path: Path) -> None:
    edge = {"type": "edge", "kind": "derived", "source": "note", "target": "gone"}
    source = tmp_path / "lines.jsonl"
    source.write_text(json.dumps({"ref": "note", "content": "so we deploy on Friday"}) + "\n" + json.dumps(edge) + "\n")
    with Store(tmp_path / "held.db") as store:
        for _ in range(2):
            store.transfer.import_jsonl(source)
            assert [entry["op"] for entry in store.audit.entries(after=0)] == ["record", "import", "import"]
            assert [one.effective_trust for one in store.episodes.list()] == [Trust.EXTERNAL]
        assert store.verify()


def test_an_import_repeated_brings_nothing_new(tmp_path: Path) -> None:
    source = exported(tmp_path)
    with Store(tmp_path / "whole.db") as store:
        store.transfer.import_jsonl(source)
        before = store.audit.head()
        done = store.transfer.import_jsonl(source)
        assert (done.added, done.whole, store.audit.head()) == (0, False, before)
    with Store(tmp_path / "held.db") as store:
        store.record("something of our own")
        done = store.transfer.import_jsonl(source)
        before = store.audit.head()
        repeated = store.transfer.import_jsonl(source)
        assert (repeated.added, repeated.present, store.audit.head()) == (0, done.added, before)


def test_equal_lines_are_two_events_and_stay_two_when_repeated(tmp_path: Path) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text('{"content": "yes"}\n\n{"content": "yes"}\n')
    with Store(tmp_path / "held.db") as store:
        assert store.transfer.import_jsonl(source).added == 2
        source.write_text(source.read_text() + '{"content": "no"}\n')
        done = store.transfer.import_jsonl(source)
        assert (done.added, done.present) == (1, 2)


def test_what_was_erased_does_not_come_back(tmp_path: Path) -> None:
    source = exported(tmp_path)
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"content": "a secret remark"}\n')
    with Store(tmp_path / "whole.db") as store:
        store.transfer.import_jsonl(source)
        store.erase(store.episodes.list().items[0])
        done = store.transfer.import_jsonl(source)
        assert (done.added, done.left_out["erased"]) == (0, 1)
        store.transfer.import_jsonl(lines)
        store.erase(store.recall("a secret remark")[0])
        assert store.transfer.import_jsonl(lines).left_out == {"erased": 1}


def test_secrets_are_scrubbed_on_the_way_in(tmp_path: Path) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text('{"content": "the key is sk-abcdefghijklmnopqrstuvwxyz012345"}\n')
    with Store(tmp_path / "held.db") as store:
        store.transfer.import_jsonl(source)
        assert "sk-abc" not in store.episodes.list().items[0].content


BAD_LINES: list[tuple[str, str]] = [
    ("not json", "JSON"),
    ("[1]", "object"),
    ('{"content": NaN}', "JSON"),
    ('{"content": ""}', "content"),
    ('{"content": 7}', "content"),
    ('{"content": "x", "kind": "rumour"}', "kind"),
    ('{"content": "x", "trust": "boundless"}', "trust"),
    ('{"content": "x", "level": 9}', "level"),
    ('{"content": "x", "happened_at": "soon"}', "happened_at"),
    ('{"content": "x", "derived_from": ["ep_00000000"]}', "ep_00000000"),
    ('{"content": "\\ud800"}', "surrogate"),
    ('{"content": "x", "metadata": ' + '{"a":' * 40 + "1" + "}" * 40 + "}", "metadata"),
    ("[" * 100_000, "JSON"),
]


@pytest.mark.parametrize(("line", "named"), BAD_LINES, ids=lambda value: str(value)[:40])
def test_a_bad_line_is_named_and_nothing_is_written(tmp_path: Path, line: str, named: str) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text(f'{{"content": "good"}}\n{line}\n{{"content": "good as well"}}\n')
    with Store(tmp_path / "held.db") as store:
        before = store.audit.head()
        with pytest.raises(InvalidInput, match=f"line 2: .*{named}"):
            store.transfer.import_jsonl(source)
        assert (store.audit.head(), len(store.episodes.list())) == (before, 0)


def change(kind: str, /, **values: Any) -> Edit:
    return lambda lines: first(lines, kind).update(values)


def swap(lines: list[Line]) -> None:
    at = next(number for number, line in enumerate(lines) if line["type"] == "episode")
    lines[at], lines[at + 1] = lines[at + 1], lines[at]


EDITS: list[tuple[str, Edit]] = [
    ("an unknown column", change("episode", level=9)),
    ("a column less", lambda lines: first(lines, "episode").pop("trust")),
    ("an unknown trust", change("episode", trust="boundless")),
    ("a number as text", change("episode", n="1")),
    ("a number too large", change("belief", level=2**70)),
    ("a text with NUL", change("episode", content="a\0b")),
    ("an empty text", change("episode", content=" ")),
    ("a huge text", change("episode", source="x" * 300)),
    ("a label with a line break", change("episode", session="a\nb")),
    ("success of an observation", change("episode", success=True)),
    ("another kind of ref", change("episode", ref="be_0000000000000000000000000a")),
    ("no time", change("episode", happened_at="soon")),
    ("a level above the highest", change("belief", level=9)),
    ("a level of nought", change("belief", level=0)),
    ("an unknown mark", change("belief", marks=["proven"])),
    ("a link to nothing", change("edge", target="ep_00000000000000000000000000")),
    ("evidence for nothing", change("evidence", belief="be_00000000000000000000000000")),
    ("an unknown link", change("edge", kind="proves")),
    ("an open wrap", change("wrap", state="open")),
    ("a window that is none", change("wrap", window=[["a", 2]])),
    ("authority", change("setting", ref="requires_baton", value=False)),
    ("a setting outside its range", change("setting", ref="lease_seconds", value=1)),
    ("a schema that checks nothing", change("setting", ref="schema", value={"name": "x", "sections": []})),
    ("a version skipped", change("document", version=2)),
    ("the same row twice", lambda lines: lines.insert(-1, lines[-2])),
    ("rows out of order", swap),
    ("an unknown table", change("episode", type="audit")),
    ("no identity", lambda lines: lines[0].pop("store")),
    ("a newer format", lambda lines: lines[0].update(format=2)),
]  # fmt: skip


@pytest.mark.parametrize("edit", [edit for _, edit in EDITS], ids=[name for name, _ in EDITS])
def test_a_forged_export_is_refused_as_a_whole(tmp_path: Path, edit: Edit) -> None:
    lines = read(exported(tmp_path))
    edit(lines)
    forged = write(tmp_path / "forged.jsonl", lines)
    with Store(tmp_path / "new.db") as store:
        before, settings = store.audit.head(), store.authority.settings()
        with pytest.raises(InvalidInput, match="nothing was written"):
            store.transfer.import_jsonl(forged)
        assert (store.audit.head(), store.authority.settings()) == (before, settings)
        assert store.status().episodes == 0


def test_a_file_that_was_cut_or_changed_is_refused(tmp_path: Path) -> None:
    whole = exported(tmp_path).read_bytes()
    lines = whole.splitlines(keepends=True)
    broken = {
        "cut in a line": whole[: len(whole) // 2],
        "last line gone": b"".join(lines[:-1]),
        "a line gone": b"".join(lines[:5] + lines[6:]),
        "a word changed": whole.replace(b"pool size is 40", b"pool size is 99"),
        "something behind": whole + b'{"type":"episode"}\n',
    }
    for name, content in broken.items():
        (tmp_path / "broken.jsonl").write_bytes(content)
        with Store(":memory:") as store:
            with pytest.raises(InvalidInput, match=r"line \d+"):
                store.transfer.import_jsonl(tmp_path / "broken.jsonl")
            assert store.status().episodes == 0, name


def test_a_long_import_is_one_change_in_many_entries(tmp_path: Path) -> None:
    source = tmp_path / "lines.jsonl"
    source.write_text("".join(json.dumps({"content": f"event {number}"}) + "\n" for number in range(1300)))
    heard: list[object] = []
    with Store(tmp_path / "a.db") as store, Store(tmp_path / "b.db", on_audit_event=heard.append) as listening:
        for one in (store, listening):
            assert one.transfer.import_jsonl(source).added == 1300
            assert one.verify()
            assert one.recall("event 1290")[0].text == "event 1290"
        assert len(heard) == listening.audit.head()[0]
        store.transfer.export_jsonl(tmp_path / "export.jsonl")
    with Store(tmp_path / "c.db") as copy:
        assert copy.transfer.import_jsonl(tmp_path / "export.jsonl").added == 1300
        assert copy.verify()
        assert copy.recall("event 1290")[0].text == "event 1290"
    source.write_text(source.read_text() + '{"content": ""}\n')
    with Store(tmp_path / "d.db") as store:
        with pytest.raises(InvalidInput, match="line 1301"):
            store.transfer.import_jsonl(source)
        assert (store.audit.head()[0], store.status().episodes) == (1, 0)
        assert store.verify()
