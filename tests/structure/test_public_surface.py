"""The public names are a promise: they change together with `public_surface.txt`, in one visible diff.

After a change that is meant, `ASSAY_WRITE_SURFACE=1 pytest tests/structure/test_public_surface.py` writes the file.
"""

from __future__ import annotations

import ast
import importlib
import os
from pathlib import Path

import pytest

from .sources import ADAPTERS, CORE, tree

PINNED = Path(__file__).with_name("public_surface.txt")
PACKAGES = {"assay": CORE, "assay.session": CORE / "session", "assay.testing": CORE / "testing"}
MODULES = {name: folder / "__init__.py" for name, folder in PACKAGES.items()} | {"assay.compat": CORE / "compat.py"}
# A folder that several bindings share exports nothing itself.
BINDINGS = {
    ".".join(path.parent.relative_to(ADAPTERS.parent).parts): path
    for path in ADAPTERS.rglob("__init__.py")
    if "__all__" in path.read_text("utf-8")
}


def exported(path: Path) -> list[str]:
    """Read `__all__` off the source, so that a framework need not be installed."""
    for node in tree(path).body:
        match node:
            case ast.Assign([ast.Name("__all__")], names):
                return sorted(ast.literal_eval(names))
    raise AssertionError(f"{path} has no __all__")


def surface() -> str:
    """List every public name below its module."""
    found = {name: exported(path) for name, path in sorted((MODULES | BINDINGS).items())}
    return "".join(f"{module}\n" + "".join(f"    {name}\n" for name in names) for module, names in found.items())


def test_the_public_names_are_the_pinned_ones() -> None:
    if os.environ.get("ASSAY_WRITE_SURFACE"):
        PINNED.write_text(surface(), "utf-8")
    assert surface() == PINNED.read_text("utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_a_public_name_is_there_and_documented(module: str) -> None:
    loaded = importlib.import_module(module)
    values = {name: getattr(loaded, name) for name in exported(MODULES[module])}
    described = {name: value.__doc__ for name, value in values.items() if isinstance(value, type) or callable(value)}
    assert [name for name, text in described.items() if not text] == []
