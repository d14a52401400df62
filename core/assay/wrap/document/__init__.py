"""The continuity document: one tree, one parser, one renderer."""

from assay.wrap.document.parse import parse
from assay.wrap.document.render import render, render_line
from assay.wrap.document.tree import (
    Citation,
    Document,
    FactLine,
    Line,
    Move,
    MoveVerb,
    Note,
    Parsed,
    PatternLine,
    Section,
)

__all__ = ["Citation", "Document", "FactLine", "Line", "Move", "MoveVerb", "Note", "Parsed", "PatternLine", "Section"]
__all__ += ["parse", "render", "render_line"]
