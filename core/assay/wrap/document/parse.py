"""Read a document once into its tree; every check works on the tree."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from assay.model.constants import MAX_DOCUMENT_LINES
from assay.model.finding import Finding
from assay.model.schema import Role, Schema
from assay.wrap.document.clean import clean, unwrap
from assay.wrap.document.headings import Fences, Heading, heading_key, read_headings, section_at
from assay.wrap.document.levels import claims_level, neutralise
from assay.wrap.document.lines import Remark, quiet, read_fact, read_note, read_pattern
from assay.wrap.document.tags import take_moves
from assay.wrap.document.tree import Document, FactLine, Line, Move, Note, Parsed, PatternLine, Section
from assay.wrap.findings import found

__all__ = ["parse"]

_MAX_JOINED = 20  # lines that continue another one
_GAP = Note("")
_TYING = frozenset(" \t[")  # what a line that belongs to the one above begins with
_TAGS = ("[evidence", "[no-contradicts", "[contradicts", "[provenance")


def parse(text: str, schema: Schema) -> Parsed:
    """Read a text into a document; whatever cannot be read is refused, put right or reported, never skipped.

    Of a text with twice the lines that a save takes, or more, as many as it takes are read: `text-too-large`.
    """
    lines, removed = clean(text)
    said = [at for at, line in enumerate(lines) if line]
    if excess := len(said) > 2 * MAX_DOCUMENT_LINES:
        del lines[said[MAX_DOCUMENT_LINES] :]
    headings = unwrap(lines, schema, removed)
    reader = _Reader(lines, schema)
    if removed.total():
        counts = ", ".join(f"{count} {what}" for what, count in sorted(removed.items()) if count)
        reader.report("output-cleaned", f"removed: {counts}")
    if excess:
        reader.report("text-too-large", f"{len(said):,} lines, too many to be read", fix="shorten the document")
    if not any(lines):
        reader.report("text-empty", "no text is left", fix="answer with the whole document")
    document = reader.read(headings)
    return Parsed(document, tuple(reader.moves), tuple(sorted(reader.findings, key=lambda one: (one.line, one.rule))))


class _Reader:
    """Assembles the sections of one document."""

    def __init__(self, lines: list[str], schema: Schema) -> None:
        self.moves: list[Move] = []
        self.findings: list[Finding] = []
        self._told: Counter[str] = Counter()
        self._schema = schema
        self._lines = [
            self._without_moves(number, line) if "[" in line else line for number, line in enumerate(lines, 1)
        ]
        self._quiet = quiet(self._lines)
        self._fences = Fences(self._lines)
        busy = (at for at, still in enumerate(self._quiet) if not still or at in self._fences.opening)
        tied = (at - 1 for at, line in enumerate(self._lines) if line[:1] in _TYING and self._tied(at))
        self._busy = sorted({*busy, *tied})  # all but the lines that are notes as they stand
        self._dedent = 0  # rendered lines lose their indentation; notes below them lose as much
        self._bodies: dict[str, list[Line]] = {}
        self._openings: dict[str, tuple[Role, int]] = {}

    def read(self, headings: list[Heading]) -> Document:
        if self.moves:  # without its marker another line may be a heading
            headings = read_headings(self._lines, self._schema)
            named = [heading for heading in headings if heading.spec is not None]
            self.moves = [replace(move, section=section_at(move.line, named)) for move in self.moves]
        title: str = ""
        preamble: tuple[Note, ...] = ()
        if headings and headings[0].spec is None and headings[0].level == 1 and not headings[0].rivals:
            title, preamble = self._front(headings)
            headings = headings[1:]
        ends = [*(heading.place for heading in headings[1:]), len(self._lines)]
        current = ""
        for heading, end in zip(headings, ends, strict=False):
            start = heading.place
            if not current or heading.spec is not None or heading.rivals or heading.level <= 2:
                current = self._opened(heading)
                start += heading.span
            if start < end:
                self._bodies[current] += self._body(start, end, current, self._openings[current][0])
        return Document(self._ordered(), title, preamble)

    def report(self, rule: str, message: str, line: int = 0, fix: str = "", section: str = "", name: str = "") -> None:
        """Add a finding; of one rule not more than a document that is saved has lines."""
        self._told[rule] += 1
        if self._told[rule] <= MAX_DOCUMENT_LINES:
            self.findings.append(found(rule, message, fix, section=section, line=line, subject=name))

    def _tied(self, at: int) -> bool:
        return at > 0 and (not self._quiet[at] or _indent(self._lines[at]) > _indent(self._lines[at - 1]))

    def _without_moves(self, number: int, line: str) -> str:
        rest, moves, unread = take_moves(line)
        self.moves += [replace(move, line=number) for move in moves]
        for text in unread:
            self.report("move-rejected", f"{text[:80]!r} cannot be read", number, fix="use a form of the instructions")
        return rest

    def _front(self, headings: list[Heading]) -> tuple[str, tuple[Note, ...]]:
        """Read the title and what stands between it and the first section."""
        first = headings[1].place if len(headings) > 1 else len(self._lines)
        body = self._body(headings[0].place + 1, first, "", Role.NARRATIVE)
        return self._plain(headings[0]), tuple(line for line in _trimmed(body) if isinstance(line, Note))

    def _opened(self, heading: Heading) -> str:
        """Give the name of the section that a heading opens, and report how it was matched."""
        number = heading.place + 1
        name = heading.spec.heading if heading.spec else self._plain(heading)
        if heading.rivals:
            fix = f"write {' or '.join(f'`## {rival}`' for rival in heading.rivals)}"
            self.report("heading-ambiguous", f"{name[:80]!r} names several sections", number, fix=fix)
        if name in self._bodies:
            self._bodies[name].append(_GAP)
            if heading.spec:
                self.report("heading-duplicate", f"section {name!r} appears again; the parts are joined", number)
            return name
        if heading.spec and heading.key != heading_key(heading.spec.heading):
            self.report("heading-normalised", f"{heading.text[:80]!r} is read as section {name!r}", number)
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
                    self.report("section-missing", f"the section {spec.heading!r} is missing", fix=fix)
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
            if not self._dedent and role is not Role.DURABLE:
                index = self._quiet_lines(body, index, end)
                if index == end:
                    break
            line, close = self._lines[index], -1
            if index in self._fences.opening:
                close = self._fences.end(index, end)
                if close < 0:
                    line = self._lines[index] = f"\\{line.strip()}"  # escaped, so that no later line closes it
            if not line:
                body += [] if body and body[-1] is _GAP else [_GAP]
                index += 1
            elif close >= 0:
                body += [self._note(at, section) for at in range(index, close + 1)]
                index = close + 1
            elif role is Role.GRADUATING:
                index = self._pattern(body, index, end, section)
            elif role is Role.DURABLE:
                index = self._fact(body, index, end, section)
            else:
                body.append(self._note(index, section))
                index += 1
        return body

    def _quiet_lines(self, body: list[Line], index: int, end: int) -> int:
        """Read the lines that are notes as they stand up to the next one that is not; give the index of that."""
        place = bisect_left(self._busy, index)
        stop = min([end, *self._busy[place : place + 1]])
        body += [Note(line, False, at) if line else _GAP for at, line in enumerate(self._lines[index:stop], index + 1)]
        return stop

    def _pattern(self, body: list[Line], index: int, end: int, section: str) -> int:
        """Read one pattern line with its continuation; give the index after it."""
        raw, after = self._joined(index, end, graduating=True)
        line, told = read_pattern(raw)
        if isinstance(line, Note) and line.text:
            body.append(self._note(index, section))
            return index + 1
        self._tell(told, index + 1, section, line.label if isinstance(line, PatternLine) else "")
        if isinstance(line, PatternLine):
            self._dedent = _indent(self._lines[index])
            body.append(replace(line, line=index + 1))
        return after

    def _fact(self, body: list[Line], index: int, end: int, section: str) -> int:
        raw, after = self._joined(index, end, graduating=False)
        fact, told = read_fact(raw)
        self._tell(told, index + 1, section)
        if fact is None:
            self.report("durable-untracked", "a line that is no bullet is kept, not tracked", index + 1)
            after = index + 1
        self._dedent = self._dedent if fact is None else _indent(self._lines[index])
        body.append(FactLine(fact.text, fact.cues, index + 1) if fact else self._note(index, section))
        return after

    def _joined(self, index: int, end: int, *, graduating: bool) -> tuple[str, int]:
        """Join a line and the deeper-indented ones below it; a line that claims a level of its own stands alone."""
        parts = [self._lines[index]]
        after = index + 1
        indent = _indent(parts[0])
        end = min(end, index + _MAX_JOINED)
        while after < end and (line := self._lines[after]) and after not in self._fences.opening:
            bare = line.lstrip()
            deeper = len(line) - len(bare) > indent and not (graduating and claims_level(line))
            if not deeper and not (graduating and bare.startswith(_TAGS)):
                break
            parts.append(bare)
            after += 1
        joined = " ".join(parts)
        alone = graduating and len(parts) > 1 and not claims_level(joined)
        return (parts[0], index + 1) if alone else (joined, after)

    def _note(self, index: int, section: str) -> Note:
        line = self._lines[index]
        line = line[min(self._dedent, _indent(line)) :] if self._dedent else line
        note, told = read_note(line)
        self._tell(told, index + 1, section)
        return Note(note.text, note.relayed, index + 1)

    def _plain(self, heading: Heading) -> str:
        text, count = (heading.text, 0) if self._quiet[heading.place] else neutralise(heading.text)
        if count:
            self.report("marker-outside", f"{count} levels in a heading", heading.place + 1)
        return text

    def _tell(self, told: Iterable[Remark], line: int, section: str, subject: str = "") -> None:
        for rule, message, fix in told:
            self.report(rule, message, line, fix, section, subject)


def _trimmed(body: list[Line]) -> tuple[Line, ...]:
    """Drop blank lines at both ends and double ones."""
    kept: list[Line] = []
    for line in body:
        if line.text or getattr(line, "name", "") or (kept and kept[-1] != _GAP):
            kept.append(line)
    return tuple(kept[:-1] if kept and kept[-1] == _GAP else kept)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
