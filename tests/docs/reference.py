"""Writes the pages of docs/reference from the code, so that they cannot say something else."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import assay
from assay.errors import AssayError
from assay.model import constants
from assay.model.finding import Action
from assay.model.settings import POLICIES, RANGES, Settings
from assay.wrap.findings import MEANINGS, RULES, found

PAGES = Path(__file__).parents[2] / "docs" / "reference"


def errors() -> str:
    """Render one section per error code."""
    for module in pkgutil.walk_packages(assay.__path__, "assay."):  # whichever of them defines one
        if not module.name.startswith("assay.testing"):
            importlib.import_module(module.name)
    classes = [AssayError]
    for kind in classes:
        classes += [one for one in kind.__subclasses__() if one.__module__.startswith("assay.")]
    parts = [
        "# Errors",
        "Every error that Assay raises on purpose is an `AssayError` with a `code`. It says what to do, and unless it"
        " says otherwise nothing was written. A refused wrap is no error: it is a value, see [findings](findings.md).",
    ]
    for kind in sorted(classes[1:], key=lambda one: one.code):
        bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        summary = inspect.getdoc(kind) or ""
        parts.append(f"## `{kind.code}`\n\n`{kind.__name__}`, also {bases}.\n\n{_prose(summary)}")
    return "\n\n".join(parts) + "\n"


def findings() -> str:
    """Render what the checks of a wrap can find, by what each does."""
    effects = {
        Action.REFUSE: "Nothing is written; the wrap stays open, so that the text can be mended and saved again.",
        Action.LOWER: "The level stays below what the text asks for, or falls.",
        Action.MARK: "A mark on the line, or a line that is kept.",
        Action.REPORT: "Said, and nothing else.",
    }
    parts = [
        "# Findings",
        "A save returns everything that its checks found. Each finding has an id that stays the same across releases,"
        " a message with the values found, and a fix that a model can carry out. *Fixable* says whether another text"
        " could avoid it in the same wrap: those go back to the composer.",
    ]
    for action, effect in effects.items():
        rows = [
            f"| `{rule}` | {MEANINGS[rule]} | {'yes' if found(rule, '').fixable else 'no'} |"
            for rule in sorted(RULES)
            if RULES[rule] is action
        ]
        parts.append(
            f"## {action.value}\n\n{effect}\n\n| id | what was found | fixable |\n|---|---|---|\n" + "\n".join(rows)
        )
    return "\n\n".join(parts) + "\n"


def limits() -> str:
    """Render the settings with their ranges, and the compiled constants."""
    parts = [
        "# Limits and settings",
        "Sizes are tokens of the store's counter unless a name says bytes, characters or days. The operator changes a"
        " setting with `store.authority.set(name=value)`; the change is audited.",
        "| setting | default | range |\n|---|---|---|\n"
        + "\n".join(f"| `{item.name}` | {_shown(item.default)} | {_range(item.name)} |" for item in fields(Settings)),
        "A policy is a set of these: "
        + "; ".join(f"`{name}`: {_switches(values)}" for name, values in POLICIES.items())
        + ".",
        "What follows is compiled in; a change of it is a release note.",
        "| constant | value |\n|---|---|\n"
        + "\n".join(f"| `{name}` | {_shown(value)} |" for name, value in vars(constants).items() if name.isupper()),
    ]
    return "\n\n".join(parts) + "\n"


def _prose(docstring: str) -> str:
    """Turn a docstring into Markdown: the attributes become a list."""
    text, _, attributes = docstring.partition("Attributes:\n")
    lines = [
        f"- `{name}`: {what}"
        for name, _, what in (row.strip().partition(": ") for row in attributes.splitlines())
        if what
    ]
    return "\n\n".join(part for part in (text.strip(), "\n".join(lines)) if part)


def _range(name: str) -> str:
    if name in RANGES:
        low, high = RANGES[name]
        return f"{_shown(low)} to {_shown(high)}" + (", or none" if name == "carry_days" else "")
    return ", ".join(POLICIES) if name == "policy" else "true, false"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)


def _switches(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {_shown(value)}" for name, value in values.items()) or "as above"


RENDERED = {"errors.md": errors, "findings.md": findings, "limits.md": limits}
