"""What is installed is what lies in the two source roots, no more and no less."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {"assay": ROOT / "core" / "assay", "assay_integrations": ROOT / "integrations" / "assay_integrations"}
# Called in a process of its own, as an installer does: the hooks of PEP 517 take the project from the working folder.
HOOK = "import sys, hatchling.build as backend; print(getattr(backend, sys.argv[1])(sys.argv[2]))"


def build(hook: str, folder: Path) -> Path:
    """Run one hook of the build backend and give the file it wrote."""
    command = [sys.executable, "-c", HOOK, hook, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build("build_wheel", tmp_path_factory.mktemp("wheel")))


def on_disk() -> set[str]:
    found = {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in SOURCES.items()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return {name for name in found if "__pycache__" not in name and not name.rpartition("/")[2].startswith(".")}


def test_the_wheel_holds_what_the_folders_hold(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == on_disk()


def test_the_wheel_carries_its_licence_and_both_commands(wheel: zipfile.ZipFile) -> None:
    (folder,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()
    commands = wheel.read(f"{folder}/entry_points.txt").decode().split("[console_scripts]")[1].split("\n")
    assert {"assay = assay.cli:main", "assay-memory = assay.cli:main"} <= set(commands)


def test_every_package_says_that_it_is_typed() -> None:
    adapters = [path for path in SOURCES["assay_integrations"].iterdir() if (path / "__init__.py").exists()]
    assert [path.name for path in (SOURCES["assay"], *adapters) if not (path / "py.typed").exists()] == []


def test_the_engine_has_one_dependency() -> None:
    required = metadata.requires("assay-memory") or []
    assert [text.split(">")[0] for text in required if "extra ==" not in text] == ["snowballstemmer"]


def test_an_editable_install_is_a_plain_path_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(build("build_editable", tmp_path)) as built:
        (path_file,) = [name for name in built.namelist() if name.endswith(".pth")]
        lines = built.read(path_file).decode().splitlines()
    assert [Path(line) for line in lines] == [ROOT / "core", ROOT / "integrations"]


def test_the_source_distribution_builds_the_same_package(tmp_path: Path) -> None:
    with tarfile.open(build("build_sdist", tmp_path)) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    roots = {"core/assay/": "assay/", "integrations/assay_integrations/": "assay_integrations/"}
    sources = {new + name[len(old) :] for name in names for old, new in roots.items() if name.startswith(old)}
    assert sources == on_disk()
