"""Writes the README's table of frameworks: what is declared of each, and what its page says that its contract showed.

The page of a framework is checked against its contract where the framework is installed; so the README, which is
checked without any, says what the contracts say.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from assay.testing import Capability

from .pages import PAGES, ROOT, is_of_a_framework

README = ROOT / "README.md"
_MARKED = re.compile(r"(?<=<!-- frameworks -->\n).*?(?=<!-- end of frameworks -->)", re.DOTALL)
_HEAD = "| framework | extra | oldest and newest checked | what its host cannot show |\n|---|---|---|---|\n"


def rendered() -> str:
    """Give the README with the table as it is to be."""
    pages = sorted((page for page in PAGES if is_of_a_framework(page)), key=lambda page: _name(page).casefold())
    return _MARKED.sub(lambda _: _HEAD + "".join(map(row, pages)), README.read_text("utf-8"))


def row(page: Path) -> str:
    """Render the row of one framework."""
    text = page.read_text("utf-8")
    extra = re.findall(r"assay-memory\[([\w-]+)\]", text)[0]
    link = f"[{_name(page)}]({page.relative_to(ROOT).as_posix()})"
    return f"| {link} | `{extra}` | {_versions(extra)} | {_missing(text) or 'nothing'} |\n"


def _name(page: Path) -> str:
    """Give the framework's name, which stands above the table of what it can show."""
    return str(re.findall(r"^\| \| on (?:the )?(.+) \|$", page.read_text("utf-8"), re.MULTILINE)[0])


def _versions(extra: str) -> str:
    """Give the floors that are declared, and the newest releases that the checks run with."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"][extra]
    newest = (ROOT / f"constraints/{extra}.txt").read_text("utf-8")
    found: list[str] = []
    for requirement in declared:
        name, floor = re.findall(r"^([\w.-]+)>=([\w.]+)", requirement)[0]
        (last,) = re.findall(rf"^{re.escape(name)}==([\w.]+)", newest, re.MULTILINE)
        found.append(f"{name} {floor} to {last}")
    return ", ".join(found)


def _missing(text: str) -> str:
    """Name the capabilities that a page denies its host, or grants it from some release on."""
    cells: dict[str, str] = dict(re.findall(r"^\| ([\w-]+) \| (.+) \|$", text, re.MULTILINE))
    told = {one.value: cells[one.value] for one in Capability}
    since = {name: re.match(r"from \S+ on", said) for name, said in told.items()}
    names = [
        f"{name} ({found[0]})" if (found := since[name]) else name
        for name, said in told.items()
        if not said.startswith("yes")
    ]
    return ", ".join(names)
