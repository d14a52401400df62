"""Read a document once into its tree; every check works on the tree."""

from __future__ import annotations

from dataclasses import replace

from assay.model.finding import Action, Finding
from assay.model.schema import Role, Schema, SectionSpec
from assay.wrap.document.clean import clean
from assay.wrap.document.headings import Heading, fence_end, match_headings, read_headings
from assay.wrap.document.levels import neutralise
from assay.wrap.document.lines import claims_level, read_fact, read_pattern
from assay.wrap.document.tags import take_moves
from assay.wrap.document.tree import Document, Line, Move, Note, Parsed, Section

__all__ = ["parse"]

_FENCES = ("```", "~~~")
_TAIL = " (relayed)"


def parse(text: str, schema: Schema) -> Parsed:
    """Read a text into a document; whatever cannot be read is refused, put right or reported, never skipped."""
    cleaned = clean(text, schema)
    findings: list[Finding] = []
    if cleaned.removed:
        counts = ", ".join(f"{count} {what}" for what, count in sorted(cleaned.removed.items()))
        findings.append(Finding("output-cleaned", Action.REPORT, f"removed: {counts}"))
    moves: list[Move] = []
    lines = _take_moves(cleaned.lines, moves, findings)
    headings = match_headings(read_headings(lines, schema), schema)
    reader = _Reader(lines, schema, findings)
    document = reader.read(headings)
    placed = tuple(replace(move, section=_section_of(move.line, headings)) for move in moves)
    return Parsed(document, placed, tuple(sorted(findings, key=lambda one: (one.line, one.rule))))


class _Reader:
    """Assembles the sections of one document."""

    def __init__(self, lines: list[str], schema: Schema, findings: list[Finding]) -> None:
        self._lines = lines
        self._schema = schema
        self._findings = findings

    def read(self, headings: list[Heading]) -> Document:
        title, preamble, rest = self._front(headings)
        bodies: dict[str, list[Line]] = {}
        roles: dict[str, Role] = {}
        starts: dict[str, int] = {}
        current = ""
        for place, heading in enumerate(rest):
            start = heading.index + heading.span
            end = rest[place + 1].index if place + 1 < len(rest) else len(self._lines)
            subheading = self._is_subheading(heading, current)
            if not subheading:
                current, role = self._open(heading, bodies)
                roles.setdefault(current, role)
                starts.setdefault(current, heading.index + 1)
                bodies.setdefault(current, [])
            body = bodies[current]
            if body and not subheading:
                body.append(Note(""))
            body += self._body(heading.index if subheading else start, end, current, roles[current])
        sections = self._ordered(bodies, roles, starts)
        return Document(sections, title, preamble)

    def _front(self, headings: list[Heading]) -> tuple[str, tuple[Note, ...], list[Heading]]:
        """Split off the title and what stands between it and the first section."""
        if not headings or headings[0].spec is not None or headings[0].level != 1 or headings[0].rivals:
            return "", (), headings
        first = headings[1].index if len(headings) > 1 else len(self._lines)
        title, count = neutralise(headings[0].text)
        self._outside(count, headings[0].index + 1, "")
        body = self._body(headings[0].index + 1, first, "", Role.NARRATIVE)
        return title, tuple(line for line in _trimmed(body) if isinstance(line, Note)), headings[1:]

    def _is_subheading(self, heading: Heading, current: str) -> bool:
        return bool(current) and heading.spec is None and not heading.rivals and heading.level > 2

    def _open(self, heading: Heading, bodies: dict[str, list[Line]]) -> tuple[str, Role]:
        """Give the section that a heading opens, with its role, and report how it was matched."""
        number = heading.index + 1
        if heading.spec is not None:
            name = heading.spec.heading
            if name in bodies:
                self._report(
                    "heading-duplicate", Action.REPORT, f"section {name!r} appears again; the parts are joined", number
                )
            elif not heading.exact:
                self._report(
                    "heading-normalised", Action.REPORT, f"{heading.text[:80]!r} is read as section {name!r}", number
                )
            return name, heading.spec.role
        name, count = neutralise(heading.text)
        self._outside(count, number, name)
        if heading.rivals:
            choices = " or ".join(f"`## {rival}`" for rival in heading.rivals)
            self._report(
                "heading-ambiguous", Action.REFUSE, f"{name[:80]!r} names several sections", number, f"write {choices}"
            )
        return name, Role.NARRATIVE

    def _ordered(
        self, bodies: dict[str, list[Line]], roles: dict[str, Role], starts: dict[str, int]
    ) -> tuple[Section, ...]:
        """Give the sections in the order of the schema, then the others; report what is missing."""
        sections: list[Section] = []
        for spec in self._schema.sections:
            if spec.heading not in bodies and not spec.optional:
                self._missing(spec)
            body = _trimmed(bodies.pop(spec.heading, []))
            sections.append(Section(spec.heading, spec.role, body, starts.get(spec.heading, 0)))
        for heading, lines in bodies.items():
            sections.append(Section(heading, roles[heading], _trimmed(lines), starts[heading]))
        return tuple(sections)

    def _missing(self, spec: SectionSpec) -> None:
        fix = f"add the heading `## {spec.heading}` with its lines"
        self._report("section-missing", Action.REFUSE, f"the section {spec.heading!r} is missing", 0, fix)

    def _body(self, start: int, end: int, section: str, role: Role) -> list[Line]:
        body: list[Line] = []
        index = start
        while index < end:
            raw = self._lines[index]
            close = fence_end(self._lines, index, end)
            if close >= 0:
                body += [self._note(at, section) for at in range(index, close + 1)]
                index = close + 1
            elif not raw.strip():
                body.append(Note(""))
                index += 1
            elif raw.strip()[:3] in _FENCES:
                self._lines[index] = f"\\{raw.strip()}"  # escaped, so that no later line closes it
            elif role is Role.GRADUATING:
                index = self._pattern(body, index, end, section)
            elif role is Role.DURABLE:
                index = self._fact(body, index, end, section)
            else:
                body.append(self._note(index, section))
                index += 1
        return body

    def _pattern(self, body: list[Line], index: int, end: int, section: str) -> int:
        """Read one pattern line with its continuation; give the index after it."""
        raw, after = self._joined(index, end)
        if not claims_level(raw) and "[" not in raw and "|" not in raw:
            body.append(self._note(index, section))
            return index + 1
        line, findings = read_pattern(raw, index + 1, section)
        self._findings += findings
        if line is not None and not (isinstance(line, Note) and not line.text):
            body.append(line)
        return after

    def _joined(self, index: int, end: int) -> tuple[str, int]:
        """Join a line and the deeper-indented ones below it that claim no level of their own."""
        parts = [self._lines[index].rstrip()]
        indent = _indent(parts[0])
        after = index + 1
        while after < end and self._continues(self._lines[after], indent):
            parts.append(self._lines[after].strip())
            after += 1
        if len(parts) > 1 and not claims_level(parts[0]) and not claims_level(" ".join(parts)):
            return parts[0], index + 1
        return " ".join(parts), after

    def _continues(self, line: str, indent: int) -> bool:
        stripped = line.strip()
        if not stripped or stripped[:3] in _FENCES:
            return False
        if stripped.startswith(("[evidence", "[no-contradicts", "[contradicts", "[provenance")):
            return True
        return _indent(line) > indent and not claims_level(line)

    def _fact(self, body: list[Line], index: int, end: int, section: str) -> int:
        raw, after = self._lines[index].rstrip(), index + 1
        indent = _indent(raw)
        fact = read_fact(raw, index + 1)
        if fact is None:
            body.append(self._note(index, section))
            self._report("durable-untracked", Action.REPORT, "a line that is no bullet is kept, not tracked", index + 1)
            return after
        while after < end and self._lines[after].strip() and _indent(self._lines[after]) > indent:
            raw += " " + self._lines[after].strip()
            after += 1
        _, count = neutralise(raw)
        self._outside(count, index + 1, section)
        body.append(read_fact(raw, index + 1) or fact)
        return after

    def _note(self, index: int, section: str) -> Note:
        raw = self._lines[index].rstrip()
        relayed = raw.endswith(_TAIL)
        while raw.endswith(_TAIL):
            raw = raw[: -len(_TAIL)].rstrip()
        text, count = neutralise(raw)
        self._outside(count, index + 1, section)
        return Note(text, relayed, index + 1)

    def _outside(self, count: int, line: int, section: str) -> None:
        if count:
            fix = "write levels only on lines of a graduating section"
            self._report(
                "marker-outside", Action.MARK, f"{count} level markers where none can be earned", line, fix, section
            )

    def _report(self, rule: str, action: Action, message: str, line: int, fix: str = "", section: str = "") -> None:
        refusal = action is Action.REFUSE
        self._findings.append(Finding(rule, action, message, fix, section, line, fixable=refusal))


def _take_moves(lines: list[str], moves: list[Move], findings: list[Finding]) -> list[str]:
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        rest, found, unread = take_moves(line, number)
        moves += found
        for text in unread:
            fix = "use the form given in the instructions, or leave the marker out"
            findings.append(Finding("move-rejected", Action.REPORT, f"{text[:80]!r} cannot be read", fix, line=number))
        if not (found or unread) or rest.strip():
            kept.append(rest)
        else:
            kept.append("")
    return kept


def _section_of(line: int, headings: list[Heading]) -> str:
    before = [heading for heading in headings if heading.index < line and heading.spec is not None]
    return before[-1].spec.heading if before and before[-1].spec is not None else ""


def _trimmed(body: list[Line]) -> tuple[Line, ...]:
    """Drop blank lines at both ends and double ones."""
    kept: list[Line] = []
    for line in body:
        blank = isinstance(line, Note) and not line.text
        if not blank or (kept and not (isinstance(kept[-1], Note) and not kept[-1].text)):
            kept.append(line)
    while kept and isinstance(kept[-1], Note) and not kept[-1].text:
        kept.pop()
    return tuple(kept)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
