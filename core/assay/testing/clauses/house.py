"""C24 to C27: what a binding imports, needs, opens and writes."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from assay.testing.harness import Capability
from assay.testing.script import Call, Say
from assay.testing.stage import FACT, Stage

__all__ = ["HouseClauses"]

HOSTS = {
    "agents", "ag2", "autogen", "autogen_agentchat", "camel", "claude_agent_sdk", "crewai", "dspy", "google.adk",
    "haystack", "langgraph", "llama_index", "pydantic_ai", "smolagents",
}  # fmt: skip
PUBLIC = {"assay", "assay.session", "assay.testing"}
_LOOPBACK = ("127.", "::1", "localhost")
_watched: list[tuple[str, tuple[Any, ...]]] | None = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched is not None and event in ("open", "socket.connect", "socket.getaddrinfo", "sqlite3.connect"):
        _watched.append((event, arguments))


class HouseClauses:
    """C24, C25, C26, C27."""

    def test_c24_a_missing_framework_says_what_to_install(self, stage: Stage) -> None:
        """Importing the folder without it raises an error that holds the command."""
        stage.needs(Capability.EXTRA)
        harness = stage.harness
        absent = "; ".join(f"sys.modules[{name!r}] = None" for name in harness.framework)
        code = f"import sys; {absent}\nimport {harness.package}"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode != 0
        assert "MissingExtraError" in ran.stderr
        assert f"pip install 'assay-memory[{harness.extra}]'" in ran.stderr

    def test_c25_the_framework_is_one_that_the_extra_allows(self, stage: Stage) -> None:
        """So that a run at the declared floor, or at the newest, is what it says."""
        stage.needs(Capability.EXTRA)
        from packaging.requirements import Requirement

        declared = [Requirement(line) for line in importlib.metadata.requires("assay-memory") or ()]
        wanted = [one for one in declared if one.marker and one.marker.evaluate({"extra": stage.harness.extra})]
        wanted = [one for one in wanted if "extra" in str(one.marker)]
        assert wanted, f"the distribution has no extra {stage.harness.extra}"
        for one in wanted:
            assert any(spec.operator in (">=", "~=", "==") for spec in one.specifier), f"{one.name} has no floor"
            assert importlib.metadata.version(one.name) in one.specifier

    def test_c26_no_socket_is_opened_and_nothing_is_written_elsewhere(self, stage: Stage, tmp_path: Path) -> None:
        """Only loopback, and only the store's own folder."""
        with _listening() as heard:
            for entry in stage.entries:
                stage.run(FACT, [Call("add", {"a": 1, "b": 2}), Say("Noted.")], memory=stage.memory(), entry=entry)
        remote = [arguments for event, arguments in heard if event.startswith("socket") and not _is_loopback(arguments)]
        assert remote == []
        outside = [
            path for path in map(_written, heard) if path and not path.resolve().is_relative_to(tmp_path.resolve())
        ]
        assert outside == []

    def test_c26_importing_the_folder_loads_its_host_alone(self, stage: Stage) -> None:
        """No other framework comes along."""
        stage.needs(Capability.EXTRA)
        code = f"import sys, {stage.harness.package}; print(*sys.modules)"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
        others = HOSTS - set(stage.harness.framework)
        assert others & set(ran.stdout.split()) == set()

    def test_c27_a_binding_imports_public_names_alone(self, stage: Stage) -> None:
        """Public modules of the engine, its own host, and the standard library; every scenario's log is verified."""
        stage.needs(Capability.EXTRA)
        harness = stage.harness
        spec = importlib.util.find_spec(harness.package)
        assert spec is not None and spec.origin is not None
        for file in Path(spec.origin).parent.rglob("*.py"):
            for module in _imported(file):
                root = module.partition(".")[0]
                public = module in PUBLIC or module.startswith(harness.package) or root in sys.stdlib_module_names
                assert public or root in {name.partition(".")[0] for name in harness.framework}, (
                    f"{file.name}: {module}"
                )


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@contextmanager
def _listening() -> Generator[list[tuple[str, tuple[Any, ...]]]]:
    """Hear what the interpreter opens; the hook stays for good, because Python cannot remove one, but is deaf."""
    global _watched
    if not getattr(sys, "_assay_contract_hears", False):
        sys.addaudithook(_hear)
        sys._assay_contract_hears = True  # type: ignore[attr-defined]
    heard: list[tuple[str, tuple[Any, ...]]] = []
    _watched = heard
    try:
        yield heard
    finally:
        _watched = None


def _is_loopback(arguments: tuple[Any, ...]) -> bool:
    """Judge `(socket, address)` of a connection, or `(host, ...)` of a look-up of a name."""
    address: object = arguments[1] if len(arguments) == 2 else arguments[0]
    return type(address) not in (str, tuple) or str(address).lstrip("('").startswith(_LOOPBACK)


def _written(heard: tuple[str, tuple[Any, ...]]) -> Path | None:
    """Give the path that an event opens for writing."""
    event, arguments = heard
    path = arguments[0] if arguments else None
    if not isinstance(path, (str, bytes)) or event.startswith("socket"):
        return None
    text = os.fsdecode(path)
    if event == "sqlite3.connect":
        text = unquote(urlsplit(text).path) if text.startswith("file:") else text
        return None if text == ":memory:" else Path(text)
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    known = text == os.devnull or "__pycache__" in text
    return Path(text) if writes and not known else None
