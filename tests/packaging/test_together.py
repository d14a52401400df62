"""Which frameworks can live together: the page names every pair, and the resolver of packages agrees."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/integrations/together.md").read_text("utf-8")
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
# These are of no framework, and nothing else asks for what they bring.
ALONE = {"cli", "dense", "signing"}
PYTHON = "3.12"
asks_the_index = pytest.mark.skipif(
    not os.environ.get("ASSAY_ASK_INDEX"), reason="it asks the package index: `nox -s together` does"
)

GROUPS = {
    name: re.findall(r"`([\w-]+)`", extras)
    for name, extras in re.findall(r"^\| ([^|`]+) \| (`[^|]+`) \|$", PAGE, re.MULTILINE)
}
APART: dict[frozenset[str], str] = {
    frozenset({one, other}): said
    for one, other, said in re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| ([^|]+) \|", PAGE, re.MULTILINE)
}


def test_the_page_says_of_every_pair_whether_it_can_live_together() -> None:
    extras = set(EXTRAS) - ALONE
    together = {frozenset(pair) for group in GROUPS.values() for pair in combinations(group, 2)}
    assert {name for group in GROUPS.values() for name in group} == extras
    assert together | set(APART) == {frozenset(pair) for pair in combinations(extras, 2)}
    assert not together & set(APART), "what lives together in a row is not said to live apart"


def test_the_page_names_a_framework_of_the_pair_or_says_never() -> None:
    for pair, said in APART.items():
        names = {name for extra in pair for name in requirements(extra)}
        assert said == "never" or said.split()[0] in names, f"{set(pair)}: {said}"


@asks_the_index
@pytest.mark.binding(name="together")
@pytest.mark.parametrize("group", GROUPS)
def test_a_group_resolves_with_the_newest_of_each_framework(group: str) -> None:
    found = resolved(*GROUPS[group])
    assert found is not None, f"{group}: no solution"
    newest = {name: release for extra in GROUPS[group] for name, release in releases(extra).items()}
    assert {name: found[name] for name in newest} == newest


@asks_the_index
@pytest.mark.binding(name="together")
@pytest.mark.parametrize("pair", APART, ids=lambda pair: "-and-".join(sorted(pair)))
def test_a_pair_that_lives_apart_does_so_as_the_page_says(pair: frozenset[str]) -> None:
    found = resolved(*sorted(pair))
    if APART[pair] == "never":
        assert found is None
        return
    name, release = APART[pair].split()
    newest = {name: release for extra in pair for name, release in releases(extra).items()}
    assert found is not None and found[name] == release
    assert release != newest.pop(name), "it is the newest: they live together"
    assert {other: found[other] for other in newest} == newest


def requirements(extra: str) -> list[str]:
    """Name the distributions that an extra asks for."""
    return [re.split(r"[>=<;\[ ]", requirement)[0] for requirement in EXTRAS[extra]]


def releases(extra: str) -> dict[str, str]:
    """Give the newest releases of an extra's own distributions."""
    found = resolved(extra)
    assert found is not None, f"{extra}: no solution"
    return {name: found[name] for name in requirements(extra)}


@cache
def resolved(*extras: str) -> dict[str, str] | None:
    """Ask the resolver for an environment with these extras: release by distribution, or None when there is none."""
    done = subprocess.run(
        [
            *("uv", "pip", "compile", "pyproject.toml", "--python-version", PYTHON, "--quiet"),
            *("--no-header", "--no-annotate"),
            *(word for extra in extras for word in ("--extra", extra)),
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        assert "No solution found" in done.stderr, done.stderr
        return None
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", done.stdout, re.MULTILINE))
