"""Habits of the code that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from assay import Store

from .sources import CORE, modules, relative, strings, tree

STORAGE = CORE / "storage"
GUARD = CORE / "session" / "guarding.py"
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|PRAGMA|ATTACH|VACUUM)\s")
TOO_BROAD = {"Exception", "BaseException"}
# What a process that only records one episode should not pay for.
HEAVY = {"asyncio", "importlib.resources", "importlib.metadata", "snowballstemmer", "rich", "pytest"}
# Nor one that is briefed, as a hook at the start of a session is: each of these takes a record's time to import.
UNBRIEFED = {"asyncio", "html", "pathlib", "urllib.parse", "assay.model.explanation", "assay.model.status"}


def imported(module: ast.Module) -> set[str]:
    """Name the modules that a module imports by their absolute names, wherever the statement stands."""
    nodes = list(ast.walk(module))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }


def swallows(module: ast.Module) -> Iterator[int]:
    """Find the lines where an exception of any type is dropped without a word."""
    for node in ast.walk(module):
        if isinstance(node, ast.ExceptHandler):
            silent = all(isinstance(line, ast.Pass | ast.Continue) or is_ellipsis(line) for line in node.body)
            if silent and (node.type is None or names(node.type) & TOO_BROAD):
                yield node.lineno
        elif isinstance(node, ast.Call) and "suppress" in names(node.func):
            yield from (node.lineno for argument in node.args if names(argument) & TOO_BROAD)


def is_ellipsis(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def names(node: ast.expr) -> set[str]:
    """Collect the last names of an expression: `X`, `module.X` and `(X, Y)`."""
    if isinstance(node, ast.Tuple):
        return {name for element in node.elts for name in names(element)}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    return {node.id} if isinstance(node, ast.Name) else set()


def test_sql_is_written_in_storage_alone() -> None:
    found = [
        f"{relative(path)}:{node.lineno}"
        for path in modules()
        if not path.is_relative_to(STORAGE)
        for node in strings(tree(path))
        if SQL.match(str(node.value))
    ]
    assert found == []


def test_values_are_bound_by_their_place() -> None:
    """Python 3.12 warns of `?1` with a sequence, and 3.14 refuses it (sqlite3, "How to use placeholders")."""
    found = [
        f"{relative(path)}:{node.lineno}"
        for path in modules()
        if path.is_relative_to(STORAGE)
        for node in strings(tree(path))
        if re.search(r"\?[0-9]", str(node.value))
    ]
    assert found == []


def test_the_database_module_is_imported_in_storage_alone() -> None:
    elsewhere = [path for path in modules() if not path.is_relative_to(STORAGE)]
    assert [relative(path) for path in elsewhere if "sqlite3" in imported(tree(path))] == []


def test_only_the_guard_swallows() -> None:
    elsewhere = [path for path in modules() if path != GUARD]
    assert [f"{relative(path)}:{line}" for path in elsewhere for line in swallows(tree(path))] == []


def test_a_swallow_in_every_spelling_is_seen() -> None:
    handlers = ("except:", "except Exception:", "except builtins.BaseException as e:", "except (OSError, Exception):")
    for handler in handlers:
        assert list(swallows(ast.parse(f"try:\n    f()\n{handler}\n    pass"))), handler
    assert list(swallows(ast.parse("with contextlib.suppress(Exception):\n    f()")))
    assert not list(swallows(ast.parse("try:\n    f()\nexcept KeyError:\n    pass")))


def test_importing_assay_needs_the_standard_library_alone_and_little_of_it() -> None:
    code = f"import sys; sys.path.insert(0, {str(CORE.parent)!r}); import assay; print(*sys.modules)"
    # -S leaves site-packages out: any third-party import would fail.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()


def test_a_briefing_in_a_new_process_imports_little(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.record("deploys go out on Tuesday")
    code = (
        "import sys; before = set(sys.modules); from assay import Store\n"
        f"with Store({str(path)!r}) as store: assert 'Tuesday' in store.briefing('deploys', tokens=600).text\n"
        "print(*(sys.modules.keys() - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert UNBRIEFED & set(done.stdout.split()) == set()
