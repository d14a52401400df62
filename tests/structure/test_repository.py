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


@pytest.mark.parametrize("folder", folders(ADAPTERS))
def test_a_binding_is_complete(folder: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    binding = re.search(rf'Binding\("{folder}", "([\w-]+)"', (ROOT / "noxfile.py").read_text("utf-8"))
    assert binding, f"noxfile.py has no binding for {folder}"
    assert binding[1] in extras
    expected = (
        *(f"integrations/assay_integrations/{folder}/py.typed", f"constraints/{binding[1]}.txt"),
        *(f"docs/integrations/{folder}.md", f"examples/{folder}_agent.py", f"tests/integrations/{folder}"),
    )
    assert [path for path in expected if not (ROOT / path).exists()] == []
