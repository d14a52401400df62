"""Whatever goes wrong is one line with a code, never a traceback, and nothing is created by mistake."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.place import default_path
from assay.errors import InvalidInput

from .conftest import Run


def only_line(text: str) -> str:
    (line,) = text.splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "stdin", "named"),
    [
        (("record", ""), b"", "content"),
        (("record", "-"), b"\xff", "UTF-8"),
        (("record", "x", "--kind", "rumour"), b"", "rumour"),
        (("record", "x", "--metadata", "[1]"), b"", "metadata"),
        (("record", "x", "--metadata", "{"), b"", "metadata"),
        (("record", "x", "--happened-at", "soon"), b"", "happened_at"),
        (("record", "x", "--failed", "--succeeded"), b"", "--failed"),
        (("recall", "x", "--limit", "0"), b"", "limit"),
        (("recall", "x", "--since", "soon"), b"", "since"),
        (("wrap", "save", "no-such-file.md"), b"", "no-such-file.md"),
        (("no-such-command",), b"", "no-such-command"),
        (("result", "ep_00000000", "perhaps"), b"", "perhaps"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_wrong_call_is_one_line_and_exit_code_two(
    store: Run, arguments: tuple[str, ...], stdin: bytes, named: str
) -> None:
    answer = store(*arguments, stdin=stdin)
    assert (answer.code, answer.out) == (2, "")
    line = only_line(answer.err)
    assert line.startswith("error: ")
    assert named in line
    error = json.loads(only_line(store(*arguments, "--json", stdin=stdin).err))["error"]
    assert set(error) == {"code", "message"}


@pytest.mark.parametrize(
    "arguments", [("explain", "ep_00000000"), ("erase", "ep_00000000"), ("correct", "ep_00000000", "x")], ids=" ".join
)
def test_what_is_not_there_is_exit_code_one(store: Run, arguments: tuple[str, ...]) -> None:
    answer = store(*arguments)
    assert (answer.code, answer.out) == (1, "")
    assert only_line(answer.err).startswith("error: not-found: ")


@pytest.mark.parametrize("command", ["record", "recall", "status", "verify", "doctor", "wrap"])
def test_no_command_but_init_creates_a_store(run: Run, tmp_path: Path, command: str) -> None:
    answer = run(command, *(["x"] if command in ("record", "recall") else []))
    assert answer.code == 3
    assert "assay init" in only_line(answer.err)
    assert list(tmp_path.iterdir()) == []


def test_init_refuses_a_file_that_is_taken(run: Run, tmp_path: Path) -> None:
    assert run("init").code == 0
    before = (tmp_path / "memory.db").read_bytes()
    assert only_line(run("init").err).startswith("error: conflict: ")
    assert (tmp_path / "memory.db").read_bytes() == before

    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs(x)")
    connection.close()
    assert only_line(run("init", str(other)).err).startswith("error: foreign-database: ")
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all\n" * 100, "utf-8")
    assert only_line(run("init", str(text)).err).startswith("error: foreign-database: ")
    assert text.read_text("utf-8").startswith("not a database")


def test_a_content_that_looks_like_an_option_comes_behind_two_dashes(store: Run) -> None:
    assert store("record", "--", "--json").code == 0
    assert "--json" in store("recall", "json").out


def test_an_unforeseen_fault_is_one_line_too(store: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault\nin two lines")

    monkeypatch.setattr("assay.store.Store.recall", fail)
    answer = store("recall", "x")
    assert answer.code == 3
    assert only_line(answer.err).startswith("error: internal: RuntimeError: a fault in two lines")
    monkeypatch.setenv("ASSAY_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        store("recall", "x")


def test_without_a_home_the_error_names_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InvalidInput, match=r"--db.* or ASSAY_DB"):
        default_path({}, "linux")
    assert default_path({"XDG_DATA_HOME": "/data"}, "linux") == Path("/data/assay/memory.db")


def test_a_command_that_needs_the_default_place_refuses_without_a_home(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert run("init").code == 0
    monkeypatch.delenv("ASSAY_DB")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert run("status").code == 2


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {}, ".local/share/assay/memory.db"),
        ("linux", {"XDG_DATA_HOME": "relative"}, ".local/share/assay/memory.db"),
        ("darwin", {}, "Library/Application Support/assay/memory.db"),
        ("win32", {}, "AppData/Local/assay/memory.db"),
    ],
)
def test_the_default_place_follows_the_platform(platform: str, environ: dict[str, str], expected: str) -> None:
    assert default_path(environ, platform) == Path.home() / expected


def command(path: Path, *arguments: str, encoding: str = "utf-8") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "ASSAY_DB": str(path), "PYTHONIOENCODING": encoding}
    code = "import sys; from assay.cli import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_the_streams_are_utf_8_whatever_the_platform_says(store: Run, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    out, err = command(path, "record", "-", encoding="ascii").communicate("Der Pool heißt 池\n".encode())
    assert err == b""
    out, err = command(path, "recall", "Pool", encoding="cp1252").communicate()
    assert "Der Pool heißt 池" in out.decode("utf-8")


def test_a_reader_that_leaves_early_is_no_error(store: Run, tmp_path: Path) -> None:
    for number in range(3):
        store("record", f"event {number} " + "x" * 60_000)
    with command(tmp_path / "memory.db", "recall", "event") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141
