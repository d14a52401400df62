"""What a model is told about composing a document."""

from __future__ import annotations

from pathlib import Path

from assay.model.schema import Schema

__all__ = ["instructions"]

_PURPOSES, _, _TEXT = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip("\n").partition("\n\n")
_ROLES = dict(line.split(": ", 1) for line in _PURPOSES.split("\n"))


def instructions(project: str, schema: Schema, example: str, target: int) -> str:
    """Give the instructions of a package: the task, the sections with their purpose, and the grammar of a line."""
    sections = "\n".join(f"## {section.heading} - {_ROLES[section.role]}" for section in schema.sections)
    return _TEXT.format(project=project, target=target, sections=sections, example=example)
