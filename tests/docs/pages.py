"""Reads the blocks of a Markdown page that can be run.

A page is a story: its blocks share one namespace and one folder. Two comments, unseen where the page is rendered, help:
`<!-- setup ... -->` holds code that a reader brings along (a model, say; `setup: langgraph` where that code needs a
framework), and `<!-- needs: langgraph -->` says which framework the next block needs. The page of a framework under
docs/integrations needs it throughout. A block that begins with `# name.py` is that file, which later blocks import.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Frameworks of our own, which a page may import.
HOSTS = ROOT / "tests" / "hosts"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Bindings that share a folder of `assay_integrations`; each other one is named like its page.
PACKAGES = {"ag2": "autogen.ag2", "ag2_classic": "autogen.ag2_classic", "autogen": "autogen.agentchat"}
LANGUAGES = {"python", "console", "text", "json", "jsonl", "toml", "markdown", "yaml"}

# The pages that are about several frameworks, or any.
_OF_NO_FRAMEWORK = {"custom", "together"}
_FILE = re.compile(r"# (\w+\.py)\n")
_BLOCK = re.compile(
    r"^<!-- setup(?:: (?P<brings>\w+))?\n(?P<setup>.*?)^-->$"
    r"|^(?:<!-- needs: (?P<needs>\w+) -->\n)?```(?P<language>\S*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, its text, the line it starts on, and the framework it needs."""

    language: str
    text: str
    line: int
    needs: str | None

    @property
    def file(self) -> str | None:
        """Name the file that the block is, or None."""
        found = _FILE.match(self.text)
        return found[1] if found else None


def is_of_a_framework(page: Path) -> bool:
    """Tell whether a page is the guide of one framework."""
    return page.parent.name == "integrations" and page.stem not in _OF_NO_FRAMEWORK


def blocks(page: Path) -> Iterator[Block]:
    """Give the blocks of a page in their order; a setup comment is a block of Python."""
    text = page.read_text("utf-8")
    bound_to = page.stem if is_of_a_framework(page) else None
    for found in _BLOCK.finditer(text):
        hidden = found["setup"] is not None
        part = "setup" if hidden else "code"
        line = text.count("\n", 0, found.start(part)) + 1
        needs = found["brings"] or found["needs"] or bound_to
        yield Block("python" if hidden else found["language"], found[part], line, needs)


def bindings(page: Path) -> list[str | None]:
    """List the environments a page runs in: the bare core (`None`), frameworks, or both."""
    needed = {block.needs for block in blocks(page) if block.language in {"python", "console"}}
    return sorted(needed, key=lambda name: name or "")


@dataclass(frozen=True)
class Command:
    """One `$ assay ...` line of a console block, with what the page shows below it."""

    line: str
    shown: str


def commands(block: Block) -> Iterator[Command]:
    """Give the calls of our own command; what else a console block holds is the reader's (`pip`, `nox`)."""
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = entry.partition("\n")
        if line.split()[0] in {"assay", "assay-memory"}:
            yield Command(line, shown)
