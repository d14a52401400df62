"""The reader of pages sees every block, and the runner says where a page is wrong."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

from .pages import bindings, blocks, commands
from .test_pages import run_console, run_python

PAGE = """# A page

<!-- setup
answer = 6
-->
```python
answer *= 7
```

<!-- needs: langgraph -->
```python
await nothing()
```

```console
$ pip install assay-memory
$ assay recall --help
usage: another
$ assay-memory status
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


def test_blocks_come_in_order_with_what_they_need(page: Path) -> None:
    found = [(block.language, block.needs) for block in blocks(page)]
    assert found == [("python", None), ("python", None), ("python", "langgraph"), ("console", None)]
    assert bindings(page) == [None, "langgraph"]


def test_a_page_of_a_framework_needs_it_throughout(tmp_path: Path) -> None:
    path = tmp_path / "integrations" / "langgraph.md"
    path.parent.mkdir()
    path.write_text(PAGE, "utf-8")
    assert bindings(path) == ["langgraph"]


def test_blocks_share_a_namespace_and_may_await(page: Path) -> None:
    async def nothing() -> None:
        namespace["awaited"] = True

    namespace: dict[str, Any] = {"nothing": nothing}
    for block in blocks(page):
        if block.language == "python":
            run_python(page, block, namespace)
    assert namespace["answer"] == 42
    assert namespace["awaited"]


def test_a_failing_block_is_found_on_its_line_of_the_page(page: Path) -> None:
    multiplies = list(blocks(page))[1]
    with pytest.raises(NameError) as failure:
        run_python(page, multiplies, {})
    last = traceback.extract_tb(failure.tb)[-1]
    assert (last.filename, last.lineno) == (str(page), PAGE.splitlines().index("answer *= 7") + 1)


def test_only_our_own_commands_are_run(page: Path) -> None:
    console = list(blocks(page))[-1]
    assert [command.line for command in commands(console)] == ["assay recall --help", "assay-memory status"]


def test_a_command_that_fails_turns_its_page_red(page: Path, tmp_path: Path) -> None:
    page.write_text("```console\n$ assay no-such-command\n```\n", "utf-8")
    with pytest.raises(AssertionError, match="no-such-command"):
        run_console(next(blocks(page)), tmp_path)
