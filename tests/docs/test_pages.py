"""README and guides do what they say: their Python runs, their commands succeed, the help they show is the real one."""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .pages import HOSTS, LANGUAGES, PACKAGES, PAGES, ROOT, Block, bindings, blocks, commands

# argparse lays its help out differently from version to version; the pages show this one.
HELP_IS_SHOWN_FROM = (3, 11)


def cases() -> list[Any]:
    """Pair each page with each environment it runs in."""
    pairs = [(page, binding) for page in PAGES for binding in bindings(page)]
    return [
        pytest.param(
            *(page, binding),
            id=f"{page.relative_to(ROOT).as_posix()}-{binding or 'core'}",
            marks=[pytest.mark.binding(name=binding)] if binding else [],
        )
        for page, binding in pairs
    ]


def load(binding: str) -> None:
    """Skip where the framework is absent, unless the environment promised it."""
    try:
        importlib.import_module(f"assay_integrations.{PACKAGES.get(binding, binding)}")
    except ModuleNotFoundError as error:
        if binding.replace("_", "-") in os.environ.get("ASSAY_REQUIRE_EXTRAS", "").split(","):
            raise
        pytest.skip(str(error))


def run_python(page: Path, block: Block, namespace: dict[str, Any]) -> None:
    """Run a block as if it stood in the page, so that a traceback names the page's own line."""
    source = "\n" * (block.line - 1) + block.text
    code = compile(source, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, namespace)
    if inspect.iscoroutine(result):
        asyncio.run(result)


def run_file(path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a file and import it, until the test is over."""
    path.write_text(text, "utf-8")
    module = ModuleType(path.stem)
    monkeypatch.setitem(sys.modules, path.stem, module)
    exec(compile(text, str(path), "exec"), module.__dict__)


def run_console(block: Block, home: Path) -> None:
    """Run the calls of `assay`; help is compared to the letter, other output holds ids and times."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    quiet = {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONUTF8": "1"}
    places = {name: str(home) for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    environment = {**os.environ, **quiet, **places, "PATH": path}
    environment.pop("ASSAY_DB", None)
    for command in commands(block):
        done = subprocess.run(
            command.line, shell=True, cwd=home, env=environment, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, f"$ {command.line}\n{done.stdout}{done.stderr}"
        if command.line.endswith("--help") and sys.version_info[:2] == HELP_IS_SHOWN_FROM:
            assert done.stdout.strip() == command.shown.strip(), f"$ {command.line}: not what the page shows"


@pytest.mark.parametrize(("page", "binding"), cases())
def test_a_page_runs_from_its_first_block_to_its_last(
    page: Path, binding: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if binding:
        load(binding)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(HOSTS))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    ran = 0
    for block in blocks(page):
        if block.file is not None:
            run_file(tmp_path / block.file, block.text, monkeypatch)
            ran += 1
        elif block.needs in {None, binding} and block.language == "python":
            run_python(page, block, namespace)
            ran += 1
        elif block.needs in {None, binding} and block.language == "console":
            run_console(block, tmp_path)
            ran += 1
    assert ran > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES
    fences = [line for line in page.read_text("utf-8").splitlines() if line.lstrip().startswith("```")]
    setups = page.read_text("utf-8").count("<!-- setup")
    assert len(fences) == 2 * (len(list(blocks(page))) - setups), "an indented or unclosed fence is not run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", prose)
    assert [target for target in targets if not (page.parent / target).exists()] == []
