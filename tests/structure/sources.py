"""Reads the sources as the structural tests see them: as files and syntax trees, never imported."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core" / "assay"
ADAPTERS = ROOT / "integrations" / "assay_integrations"

_NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def modules(*folders: Path) -> list[Path]:
    """List the Python files under `folders`, all packages of the repository unless told otherwise."""
    return sorted(path for folder in folders or (CORE, ADAPTERS) for path in folder.rglob("*.py"))


def folders(parent: Path) -> list[str]:
    """Name the folders directly in `parent` that hold sources of ours."""
    return sorted(path.name for path in parent.iterdir() if path.is_dir() and path.name[0] not in "._")


def relative(path: Path) -> str:
    """Spell a path as the repository does, on every platform."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file once for all tests."""
    return ast.parse(path.read_text("utf-8"), str(path))


def docstrings(module: ast.Module) -> Iterator[ast.Constant]:
    """Find the docstrings of a module, of its classes and of its functions."""
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str()) as text), *_]:
                    yield text


def strings(module: ast.Module) -> Iterator[ast.Constant]:
    """Find the string constants that are not docstrings, parts of f-strings included."""
    documentation = {id(node) for node in docstrings(module)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node


def code_lines(path: Path) -> int:
    """Count the lines that hold code: no blank ones, no comments, no docstrings."""
    source = path.read_text("utf-8")
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOT_CODE:
            used.update(range(token.start[0], token.end[0] + 1))
    for node in docstrings(tree(path)):
        used.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(1 for number, line in enumerate(source.splitlines(), 1) if number in used and line.strip())
