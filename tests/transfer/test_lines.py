"""A line of any form is accepted or named; a file that was cut is refused; what went round does not come twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import Store
from assay.errors import InvalidInput

from .scene import Line, exported, read, write

HUGE = 4 * 10**18  # a whole number that SQLite keeps, and no time of Python


def import_lines(store: Store, path: Path, *lines: str) -> Any:
    path.write_text("\n".join(lines), "utf-8")
    return store.transfer.import_jsonl(path)


@pytest.mark.parametrize(
    "line",
    [
        '{"content":"x","metadata":{"a":1e999}}',
        '{"content":"x","derived_from":5}',
        '{"content":"x","derived_from":"note-17"}',
        '{"content":"x","supersedes":{"a":1}}',
        '{"content":"x","ref":5}',
        '{"content":"x","ref":"\\ud800"}',
        '{"type":"edge","kind":"derived","source":"\\ud800","target":"x"}',
    ],
)
def test_a_line_that_cannot_be_accepted_is_named(tmp_path: Path, line: str) -> None:
    with Store(tmp_path / "memory.db") as store:
        with pytest.raises(InvalidInput, match="line 2: "):
            import_lines(store, tmp_path / "lines.jsonl", '{"content":"good"}', line)
        assert store.status().episodes == 0


def test_a_link_of_no_known_kind_is_left_out(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        done = import_lines(store, tmp_path / "lines.jsonl", '{"type":"edge","kind":[]}', '{"type":"edge","kind":{}}')
    assert done.left_out == {"edge": 2}


def test_a_link_from_what_is_not_here_is_counted(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        held = store.record("something of our own")
        lost = {"type": "edge", "kind": "derived", "source": "note-1", "target": held.ref}
        own = {**lost, "source": held.ref}
        done = import_lines(store, tmp_path / "lines.jsonl", json.dumps(lost), json.dumps(own))
    assert done.left_out == {"edge": 1}


def cut(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))


def changed(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"nobody watched", b"somebody did"))


@pytest.mark.parametrize(("damage", "why"), [(cut, "the file ends early"), (changed, "does not account for")])
def test_a_damaged_export_comes_into_no_store(tmp_path: Path, damage: Callable[[Path], None], why: str) -> None:
    file = exported(tmp_path)
    damage(file)
    with Store(tmp_path / "held.db") as store:
        store.record("something of our own")
        before = store.audit.head()
        with pytest.raises(InvalidInput, match=why):
            store.transfer.import_jsonl(file)
        assert store.audit.head() == before


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("edge", "effective_from", HUGE),
        ("edge", "inferred", 7),
        ("document", "made", HUGE),
        ("belief", "cues", [["a"]]),
        ("episode", "n", None),
        ("wrap", "detail", {"a": float("inf")}),
    ],
)
def test_a_forged_value_does_not_get_in_to_fail_later(tmp_path: Path, kind: str, name: str, value: object) -> None:
    lines: list[Line] = read(exported(tmp_path))
    next(line for line in lines if line["type"] == kind)[name] = value
    forged = write(tmp_path / "forged.jsonl", lines)
    forged.write_bytes(forged.read_bytes().replace(b"Infinity", b"1e999"))
    with Store(tmp_path / "new.db") as store:
        with pytest.raises(InvalidInput, match="line "):
            store.transfer.import_jsonl(forged)
        assert store.status().episodes == 0


def test_i19_what_went_round_by_another_store_comes_neither_twice_nor_back(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as ours, Store(tmp_path / "b.db") as theirs:
        kept = ours.record("the dashboards were watched")
        gone = ours.record("a passing remark about the salary")
        ours.transfer.export_jsonl(tmp_path / "a.jsonl")
        theirs.record("something of their own")
        assert theirs.transfer.import_jsonl(tmp_path / "a.jsonl").added == 2
        copy = next(one for one in theirs.episodes.list(limit=10) if one.content == kept.content)
        theirs.record("and so nothing was rolled back", derived_from=[copy])
        theirs.transfer.export_jsonl(tmp_path / "b.jsonl")
        ours.erase(gone, reason="asked")
        done = ours.transfer.import_jsonl(tmp_path / "b.jsonl")
        assert (done.added, done.present, done.left_out["erased"]) == (2, 1, 1)
        texts = [one.content for one in ours.episodes.list(limit=10)]
        assert len(texts) == len(set(texts)) == 3 and gone.content not in texts
        made = next(one for one in ours.episodes.list(limit=10) if one.content.startswith("and so"))
        assert kept.ref in json.dumps([str(ref) for ref in made.derived_from])
        assert ours.verify()


def test_a_key_alone_does_not_make_a_line_one_of_ours(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        held = store.record("the dashboards were watched")
        line = {"content": "nobody watched", "ref": "ep_0", "idempotency_key": f"import:{held.ref}"}
        assert import_lines(store, tmp_path / "lines.jsonl", json.dumps(line)).added == 1
