"""The offline composer: extractive, deterministic, and never asking for more than the rules will grant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from assay.model.episode import Episode
from assay.model.labels import Kind, Residence, Trust, Verdict
from assay.model.schema import Role
from assay.model.wrap import WrapPackage
from assay.text import agrees, clip, content_set, covers, estimate_tokens, skeleton, words
from assay.wrap.citing import cited_lines, plain
from assay.wrap.document import Document, Line, Note, PatternLine, Section, parse, render, render_line
from assay.wrap.document.levels import neutralise
from assay.wrap.document.lines import read_pattern
from assay.wrap.rules.sources import line_key

__all__ = ["OfflineComposer"]

_CLIP = 200  # characters of a line taken from an episode
_ALIKE = 0.6  # share of words that two episodes of one new line have in common
_TOLD = (Kind.OUTCOME, Kind.OBSERVATION, Kind.CONTEXT)  # kinds that the narrative tells
_NEW = 5  # new pattern lines in one wrap
_NARRATED = 40  # episodes told in one wrap
_KEEP = 0.35  # share of its former mass that a section keeps, above every shrink floor but the strictest


class OfflineComposer:
    """Composes a document without a model: carries, cites and copies, never invents.

    Args:
        counter: Counts tokens; by default an estimate of cl100k.
    """

    def __init__(self, counter: Callable[[str], int] = estimate_tokens) -> None:
        self._counter = counter

    def compose_package(self, package: WrapPackage) -> str:
        """Give the next document for a package; equal packages give equal texts."""
        before = parse(package.continuity, package.schema).document
        fresh = [one for one in package.episodes if _tellable(one)]
        sections = [self._section(section, package, fresh, before) for section in before.sections]
        document, excess = self._fitted(replace(before, sections=tuple(sections)), before, package.target_tokens)
        document, moved = self._crystallised(document, excess)
        return render(document) + "".join(f"\n[crystallize: {name}]" for name in moved)

    def _section(self, section: Section, package: WrapPackage, fresh: list[Episode], before: Document) -> Section:
        first = before.with_role(section.role)[0] is section
        body: list[Line] = list(section.body)
        if section.role is Role.GRADUATING:
            cited = iter(cited_lines(package, list(section.patterns)))
            body = [next(cited) if isinstance(line, PatternLine) else line for line in body]
            body += _new_lines(fresh, package, before) if first else []
        elif first and section.role is Role.DECISIONS:
            body += _told([one for one in fresh if one.kind is Kind.DECISION], body)
        elif first and section.role is Role.LIVE_STATE:
            body = _live(fresh, body)
        elif first and section.role is Role.NARRATIVE:
            body += _told([one for one in fresh if one.kind in _TOLD and one.state_key is None][-_NARRATED:], body)
        return replace(section, body=tuple(body))

    def _fitted(self, document: Document, before: Document, target: int) -> tuple[Document, int]:
        """Shorten narrative, then live state and decisions, oldest first, until the target is met."""
        bodies = {section.heading: list(section.body) for section in document.sections}
        excess = sum(self._mass(one) for one in document.sections if one.role is not Role.DURABLE) - target
        for role in (Role.NARRATIVE, Role.LIVE_STATE, Role.DECISIONS):
            spare = sum(self._mass(one) for one in document.with_role(role))
            spare -= int(_KEEP * sum(self._mass(one) for one in before.with_role(role)))
            for body in (bodies[one.heading] for one in document.with_role(role)):
                while body and excess > 0 and (size := self._counter(render_line(body[0])) + 1) <= spare:
                    excess, spare = excess - size, spare - size
                    body.pop(0)
        sections = (replace(section, body=tuple(bodies[section.heading])) for section in document.sections)
        return replace(document, sections=tuple(sections)), excess

    def _crystallised(self, document: Document, excess: int) -> tuple[Document, list[str]]:
        """Move lines that earned a level to long-term memory, the longest unverified first, until the rest fits."""
        idle = (line for line in document.patterns if line.level > 1 and line.name and not line.citations)
        moved: list[str] = []
        for line in sorted(idle, key=lambda one: (one.verified, one.key)):
            if excess > 0:
                moved.append(line.name)
                excess -= self._counter(render_line(line)) + 1
        sections = (
            replace(one, body=tuple(line for line in one.body if getattr(line, "name", "") not in moved or not moved))
            for one in document.sections
        )
        return replace(document, sections=tuple(sections)), moved

    def _mass(self, section: Section) -> int:
        return self._counter("\n".join([f"## {section.heading}", *(render_line(line) for line in section.body)]))


def _tellable(episode: Episode) -> bool:
    """Tell whether an episode goes into the document: trusted, in force, said for the first time."""
    trusted = episode.effective_trust.rank >= Trust.AGENT.rank
    return trusted and episode.replaced_by is None and episode.verdict is not Verdict.ECHO


def _told(episodes: list[Episode], body: list[Line]) -> list[Line]:
    known = {line_key(line.text) for line in body}
    told = [Note(f"- {episode.happened_at.date().isoformat()} {_clipped(episode)}") for episode in episodes]
    return [line for line in told if line_key(line.text) not in known]


def _live(fresh: list[Episode], body: list[Line]) -> list[Line]:
    """Give the current values of state keys, and what is open; a new value takes the place of the old line."""
    values = {plain(one.state_key): _clipped(one) for one in fresh if one.state_key is not None}
    keys = tuple(f"- {key}: " for key in values)
    kept = [line for line in body if not keys or not line.text.startswith(keys)]
    kept += [Note(f"- {key}: {value}") for key, value in values.items()]
    open_ends = [one for one in fresh if one.kind in (Kind.TENSION, Kind.QUESTION) and one.state_key is None]
    known = {line_key(line.text) for line in kept}
    marks = {Kind.TENSION: "- tension: ", Kind.QUESTION: "? "}
    added = [Note(f"{marks[one.kind]}{_clipped(one)}") for one in open_ends]
    return [*kept, *(line for line in added if line_key(line.text) not in known)]


def _clipped(episode: Episode) -> str:
    return neutralise(plain(clip(episode.content, _CLIP)))[0]


def _new_lines(fresh: list[Episode], package: WrapPackage, before: Document) -> list[Line]:
    """Give a line at 1x for what several episodes of the window say and no belief says yet."""
    known = {line.key for line in before.patterns} | {skeleton(belief.name) for belief in package.beliefs}
    texts = [belief.text for belief in package.beliefs if belief.residence is not Residence.REST]
    frequency = Counter(word for episode in fresh for word in content_set(episode.content))
    lines: list[Line] = []
    for group in _groups([one for one in fresh if one.state_key is None and one.kind is not Kind.QUESTION]):
        text = _clipped(group[0])
        if len(lines) == _NEW or any(_says(text, other) for other in texts):
            continue
        name = _name(group, frequency)
        line, findings = read_pattern(f"- {name}: {text} | 1x" if name else f"- {text} | 1x")
        if isinstance(line, PatternLine) and line.key not in known and not findings:
            known.add(line.key)
            lines.append(line)
    return lines


def _groups(episodes: list[Episode]) -> list[list[Episode]]:
    """Group episodes that say the same; only groups of two or more are given."""
    found: list[list[Episode]] = []
    for episode in episodes:
        home = next((group for group in found if _says(group[0].content, episode.content)), None)
        if home is None:
            found.append([episode])
        else:
            home.append(episode)
    return [group for group in found if len(group) > 1]


def _says(a: str, b: str) -> bool:
    return len(content_set(a) & content_set(b)) >= 2 and min(covers(a, b), covers(b, a)) >= _ALIKE and agrees(a, b)


def _name(group: list[Episode], frequency: Counter[str]) -> str:
    """Build a name of the three rarest words that the episodes share, in the order of the first one."""
    shared = content_set(group[0].content).intersection(*(content_set(one.content) for one in group[1:]))
    rarest = sorted(shared, key=lambda word: (frequency[word], word))[:3]
    latin = (word for word in words(group[0].content) if word.isascii() and word.isalpha())
    chosen = [word for word in latin if not content_set(word).isdisjoint(rarest)]
    return "_".join(dict.fromkeys(chosen))[:60].strip("_")
