"""Read a document once into its tree; every check works on the tree."""

from __future__ import annotations

from dataclasses import replace

from assay.model.finding import Finding
from assay.model.schema import Role, Schema
from assay.wrap.document.clean import clean
from assay.wrap.document.headings import Fences, Heading, read_headings, section_at
from assay.wrap.document.levels import neutralise
from assay.wrap.document.lines import claims_level, read_fact, read_note, read_pattern
from assay.wrap.document.tags import take_moves
from assay.wrap.document.tree import Document, Line, Move, Note, Parsed, PatternLine, Section
from assay.wrap.findings import found

__all__ = ["parse"]

_FENCES = ("```", "~~~")
_MAX_JOINED = 20  # lines that continue another one
_TAGS = ("[evidence", "[no-contradicts", "[contradicts", "[provenance")


def parse(text: str, schema: Schema) -> Parsed:
    """Read a text into a document; whatever cannot be read is refused, put right or reported, never skipped."""
    cleaned = clean(text, schema)
    reader = _Reader(cleaned.lines, schema)
    if cleaned.removed.total():
        counts = ", ".join(f"{count} {what}" for what, count in sorted(cleaned.removed.items()) if count)
        reader.findings.append(found("output-cleaned", f"removed: {counts}"))
    if not any(cleaned.lines):
        reader.findings.append(found("text-empty", "no text is left", "answer with the whole document"))
    document = reader.read()
    return Parsed(document, tuple(reader.moves), tuple(sorted(reader.findings, key=lambda one: (one.line, one.rule))))


class _Reader:
    """Assembles the sections of one document."""

    def __init__(self, lines: list[str], schema: Schema) -> None:
        self.moves: list[Move] = []
        self.findings: list[Finding] = []
        self._schema = schema
        self._lines = [self._without_moves(number, line) for number, line in enumerate(lines, 1)]
        self._fences = Fences(self._lines)
        self._dedent = 0  # rendered lines lose their indentation; notes below them lose as much
        self._bodies: dict[str, list[Line]] = {}
        self._openings: dict[str, tuple[Role, int]] = {}

    def read(self) -> Document:
        headings = read_headings(self._lines, self._schema)
        title: str = ""
        preamble: tuple[Note, ...] = ()
        if headings and headings[0].spec is None and headings[0].level == 1 and not headings[0].rivals:
            title, preamble = self._front(headings)
            headings = headings[1:]
        ends = [*(heading.index for heading in headings[1:]), len(self._lines)]
        current = ""
        for heading, end in zip(headings, ends, strict=False):
            start = heading.index
            if not current or heading.spec is not None or heading.rivals or heading.level <= 2:
                current = self._opened(heading)
                start += heading.span
            self._bodies[current] += self._body(start, end, current, self._openings[current][0])
        self.moves = [replace(move, section=section_at(move.line, headings)) for move in self.moves]
        return Document(self._ordered(), title, preamble)

    def _without_moves(self, number: int, line: str) -> str:
        if "[" not in line:
            return line
        rest, moves, unread = take_moves(line, number)
        self.moves += moves
        for text in unread:
            self._report("move-rejected", f"{text[:80]!r} cannot be read", number, "use a form of the instructions")
        return rest

    def _front(self, headings: list[Heading]) -> tuple[str, tuple[Note, ...]]:
        """Read the title and what stands between it and the first section."""
        first = headings[1].index if len(headings) > 1 else len(self._lines)
        body = self._body(headings[0].index + 1, first, "", Role.NARRATIVE)
        return self._plain(headings[0]), tuple(line for line in _trimmed(body) if isinstance(line, Note))

    def _opened(self, heading: Heading) -> str:
        """Give the name of the section that a heading opens, and report how it was matched."""
        number = heading.index + 1
        name = heading.spec.heading if heading.spec else self._plain(heading)
        if heading.rivals:
            fix = f"write {' or '.join(f'`## {rival}`' for rival in heading.rivals)}"
            self._report("heading-ambiguous", f"{name[:80]!r} names several sections", number, fix)
        if name in self._bodies:
            self._bodies[name].append(Note(""))
            if heading.spec:
                self._report("heading-duplicate", f"section {name!r} appears again; the parts are joined", number)
            return name
        if heading.spec and not heading.exact:
            self._report("heading-normalised", f"{heading.text[:80]!r} is read as section {name!r}", number)
        self._bodies[name] = []
        self._openings[name] = (heading.spec.role if heading.spec else Role.NARRATIVE, number)
        return name

    def _ordered(self) -> tuple[Section, ...]:
        """Give the sections in the order of the schema, then the others; report what is missing."""
        for spec in self._schema.sections:
            if spec.heading not in self._bodies:
                self._openings[spec.heading] = (spec.role, 0)
                if not spec.optional:
                    fix = f"add the heading `## {spec.heading}` with its lines"
                    self._report("section-missing", f"the section {spec.heading!r} is missing", 0, fix)
        named = [spec.heading for spec in self._schema.sections]
        order = [*named, *(heading for heading in self._bodies if heading not in named)]
        return tuple(
            Section(one, self._openings[one][0], _trimmed(self._bodies.get(one, [])), self._openings[one][1])
            for one in order
        )

    def _body(self, start: int, end: int, section: str, role: Role) -> list[Line]:
        body: list[Line] = []
        index, self._dedent = start, 0
        while index < end:
            close = self._fences.end(index, end)
            stripped = self._lines[index].strip()
            if close < 0 and stripped[:3] in _FENCES:
                self._lines[index] = f"\\{stripped}"  # escaped, so that no later line closes it
            if close >= 0:
                body += [self._note(at, section) for at in range(index, close + 1)]
                index = close + 1
            elif role is Role.GRADUATING and stripped:
                index = self._pattern(body, index, end, section)
            elif role is Role.DURABLE and stripped:
                index = self._fact(body, index, end, section)
            else:
                body.append(self._note(index, section))
                index += 1
        return body

    def _pattern(self, body: list[Line], index: int, end: int, section: str) -> int:
        """Read one pattern line with its continuation; give the index after it."""
        raw, after = self._joined(index, end, graduating=True)
        if not claims_level(raw) and "[" not in raw and "|" not in raw:
            raw, after = self._lines[index], index + 1
        line, findings = read_pattern(raw, index + 1, section)
        if isinstance(line, Note) and line.text:
            body.append(self._note(index, section))
            return index + 1
        self.findings += findings
        if isinstance(line, PatternLine):
            self._dedent = _indent(self._lines[index])
            body.append(line)
        return after

    def _fact(self, body: list[Line], index: int, end: int, section: str) -> int:
        raw, after = self._joined(index, end, graduating=False)
        fact, findings = read_fact(raw, index + 1, section)
        self.findings += findings
        if fact is None:
            self._report("durable-untracked", "a line that is no bullet is kept, not tracked", index + 1)
            after = index + 1
        self._dedent = self._dedent if fact is None else _indent(self._lines[index])
        body.append(fact or self._note(index, section))
        return after

    def _joined(self, index: int, end: int, *, graduating: bool) -> tuple[str, int]:
        """Join a line and the deeper-indented ones below it; a line that claims a level of its own stands alone."""
        parts = [self._lines[index].rstrip()]
        indent = _indent(parts[0])
        after = index + 1
        end = min(end, index + _MAX_JOINED)
        while after < end and (line := self._lines[after]).strip() and line.strip()[:3] not in _FENCES:
            deeper = _indent(line) > indent and not (graduating and claims_level(line))
            if not deeper and not (graduating and line.lstrip().startswith(_TAGS)):
                break
            parts.append(line.strip())
            after += 1
        joined = " ".join(parts)
        return (parts[0], index + 1) if graduating and not claims_level(joined) else (joined, after)

    def _note(self, index: int, section: str) -> Note:
        line = self._lines[index]
        note, findings = read_note(line[min(self._dedent, _indent(line)) :], index + 1, section)
        self.findings += findings
        return note

    def _plain(self, heading: Heading) -> str:
        text, count = neutralise(heading.text)
        if count:
            self._report("marker-outside", f"{count} levels in a heading", heading.index + 1)
        return text

    def _report(self, rule: str, message: str, line: int, fix: str = "") -> None:
        self.findings.append(found(rule, message, fix, line=line))


def _trimmed(body: list[Line]) -> tuple[Line, ...]:
    """Drop blank lines at both ends and double ones."""
    kept: list[Line] = []
    for line in body:
        if line.text or getattr(line, "name", "") or (kept and kept[-1] != Note("")):
            kept.append(line)
    return tuple(kept[:-1] if kept and kept[-1] == Note("") else kept)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
