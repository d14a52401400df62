"""What a reader finds is what the README says, and nothing in it belongs to one machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from .sources import ADAPTERS, ROOT, folders, relative

README = ROOT / "README.md"
TREE = re.compile(r"^```text\n(core/.*?)^```", re.MULTILINE | re.DOTALL)
# Written so that no pattern matches this file.
HOSTS = re.compile(r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|art[i]factory")
MACHINE = re.compile(r"(?<![\w.])/(?:root|home|Users|work)/\w|[A-Z]:\\Users")
LOCK_FILES = {"uv.lock", "poetry.lock", "pdm.lock", "package-lock.json"}
BUILT = {"build", "dist", "venv"}


def repository_files() -> list[Path]:
    """List what is, or could be, committed; outside a checkout, whatever is there."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        return [ROOT / name for name in listed if name and (ROOT / name).is_file()]
    return [
        path for folder in folders(ROOT) for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md", ".txt"}
    ]


def shown_tree() -> dict[Path, list[Path]]:
    """Read the folder tree of the README: each folder, with the entries shown indented below it."""
    found = TREE.search(README.read_text("utf-8"))
    assert found, "README.md shows no folder tree"
    children: dict[Path, list[Path]] = {}
    parent = ROOT
    for line in found[1].splitlines():
        path = (parent if line.startswith(" ") else ROOT) / line.split()[0]
        if line.startswith(" "):
            children[parent].append(path)
        else:
            parent = path
            children[parent] = []
    return children


def entries(folder: Path) -> Iterator[Path]:
    """List the rooms in a folder: its sub-folders and its modules, `__init__` aside."""
    for path in folder.iterdir():
        if path.name[0] not in "._" and (path.is_dir() or path.suffix == ".py"):
            yield path


def bindings() -> list[tuple[str, str, str]]:
    """Read the rows of the noxfile: the name of a binding, its extra, and where in `assay_integrations` it lies."""
    row = re.compile(r'^ +Binding\("(\w+)", "([\w-]+)"(?:.*package="([\w/]+)")?.*\),$', re.MULTILINE)
    rows = row.findall((ROOT / "noxfile.py").read_text("utf-8"))
    return [(name, extra, package or name) for name, extra, package in rows]


def test_every_path_of_the_readme_tree_exists() -> None:
    shown = [path for parent, below in shown_tree().items() for path in (parent, *below)]
    assert [relative(path) for path in shown if not path.exists()] == []


def test_the_readme_tree_leaves_no_room_out() -> None:
    below = {parent: children for parent, children in shown_tree().items() if children}
    missing = {path for parent, children in below.items() for path in set(entries(parent)) - set(children)}
    assert sorted(map(relative, missing)) == []


def test_the_readme_tree_shows_every_folder_at_the_top() -> None:
    shown = {relative(path).split("/")[0] for path in shown_tree()}
    assert set(folders(ROOT)) - BUILT - shown == set()


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    found = []
    for path in repository_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{relative(path)}: {match[0]}" for match in (HOSTS.search(text), MACHINE.search(text)) if match]
    assert found == []


def test_no_lock_file_is_kept() -> None:
    assert [relative(path) for path in repository_files() if path.name in LOCK_FILES] == []


def test_the_adapters_share_a_namespace_that_others_can_extend() -> None:
    assert not (ADAPTERS / "__init__.py").exists()


def test_every_folder_of_the_adapters_has_a_binding() -> None:
    assert {package.split("/")[0] for _, _, package in bindings()} == set(folders(ADAPTERS))


@pytest.mark.parametrize(("name", "extra", "package"), bindings())
def test_a_binding_is_complete(name: str, extra: str, package: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert extra in extras
    parts = ("__init__.py", "../py.typed" if "/" in package else "py.typed")
    expected = (
        *(f"integrations/assay_integrations/{package}/{part}" for part in parts),
        *(f"constraints/{extra}.txt", f"docs/integrations/{name}.md"),
        *(f"examples/{name}_agent.py", f"tests/integrations/{name}"),
    )
    assert [path for path in expected if not (ROOT / path).exists()] == []
