"""Write a document in its one canonical form."""

from __future__ import annotations

from assay.wrap.document.tree import Citation, Document, FactLine, Line, Note, PatternLine

__all__ = ["render", "render_line"]


def render(document: Document) -> str:
    """Write a document; reading the result gives an equal document."""
    blocks: list[str] = []
    if document.title:
        blocks.append(f"# {document.title}")
    if document.preamble:
        blocks.append("\n".join(render_line(note) for note in document.preamble))
    for section in document.sections:
        blocks.append(f"## {section.heading}")
        if section.body:
            blocks.append("\n".join(render_line(line) for line in section.body))
    return "\n\n".join(blocks) + "\n"


def render_line(line: Line) -> str:
    """Write one line."""
    if isinstance(line, Note):
        return line.text + (" (relayed)" if line.relayed else "")
    if isinstance(line, FactLine):
        return f"- {line.text}" + (f" — cues: {', '.join(line.cues)}" if line.cues else "")
    return _pattern(line)


def _pattern(line: PatternLine) -> str:
    subject = f"{line.name}: {line.text}" if line.name and line.text else line.label
    parts = [f"- {subject} | {line.level}x"]
    if line.verified:
        parts.append(f"({line.verified})")
    parts += [f"({mark.value})" for mark in line.marks]
    parts += [_evidence(citation) for citation in line.citations]
    if line.provenance:
        parts.append(f"[provenance: {', '.join(line.provenance)}]")
    if line.contradicts is not None:
        parts.append(f"[contradicts: {', '.join(line.contradicts)}]" if line.contradicts else "[no-contradicts]")
    return " ".join(parts)


def _evidence(citation: Citation) -> str:
    ids = ", ".join(citation.ids)
    if not citation.explanation:
        return f"[evidence: {ids}]"
    quoted = citation.explanation.replace("\\", "\\\\").replace('"', '\\"')
    return f'[evidence: {ids} "{quoted}"]'
