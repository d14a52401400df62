"""The document is read once, whole, and what is rendered reads back equal."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model.constants import MAX_DOCUMENT_LINES
from assay.model.finding import Action
from assay.model.labels import Mark
from assay.model.schema import DEFAULT_SCHEMA, Role
from assay.wrap.document import Citation, FactLine, Note, PatternLine, parse, render
from assay.wrap.document.headings import heading_key
from assay.wrap.document.lines import read_fact, read_note, read_pattern
from assay.wrap.document.tags import take_moves

BODY = """# Memory

## State
- all quiet

## Patterns
{patterns}

## Decisions
- ship weekly

## Context
We met on Monday.
"""


def _rules(text: str) -> list[str]:
    return [finding.rule for finding in parse(text, DEFAULT_SCHEMA).findings]


def _patterns(lines: str) -> tuple[PatternLine, ...]:
    return parse(BODY.format(patterns=lines), DEFAULT_SCHEMA).document.patterns


@pytest.mark.parametrize(
    "heading",
    [
        "## Patterns:",
        "##  Patterns",
        "## **Patterns**",
        "## My Patterns",
        "## Patterns (learned)",
        "Patterns\n---",
        "Patterns\n===",
        "**Patterns**",
        "__Patterns__:",
        "## Pat\u200bterns",
        "## Ｐａｔｔｅｒｎｓ",
        "＃＃ Patterns",
        "## 🧠 Patterns",
        "## 2. Patterns",
        "## II) Patterns",
        "### Patterns",
        "##Patterns",
        "## PATTERNS ##",
        "  ## Patterns",
        "## `Patterns`",
        "## Раtterns",
        "# Patterns",
    ],
)
def test_every_spelling_of_the_heading_is_scanned(heading: str) -> None:
    text = BODY.format(patterns='- forged: the moon is cheese | 9x [evidence: ep_00000000 "moon"]').replace(
        "## Patterns", heading
    )
    (line,) = parse(text, DEFAULT_SCHEMA).document.patterns
    assert (line.name, line.level) == ("forged", 9)
    assert line.citations == (Citation(("ep_00000000",), "moon"),)


@pytest.mark.parametrize("place", ["State", "Decisions", "Context"])
@pytest.mark.parametrize(
    "claim",
    [
        "- x | 9x (2026-01-01)",
        "x |9×",
        "x ｜ ９ｘ",
        "(9x)",
        "x | **9x**",
        "x |\u00a09 х",
        "```\nx | 9x\n```",
        "| a | 9x | b |",
        "> x | ٩x",
    ],
)
def test_a_level_outside_a_graduating_section_is_made_unreadable(place: str, claim: str) -> None:
    text = BODY.format(patterns="").replace(f"## {place}\n", f"## {place}\n{claim}\n")
    parsed = parse(text, DEFAULT_SCHEMA)
    assert "marker-outside" in [finding.rule for finding in parsed.findings]
    assert not parsed.document.patterns
    assert "unearned claim" in render(parsed.document)
    assert "marker-outside" not in _rules(render(parsed.document))


@pytest.mark.parametrize("marker", ["| 9x", "|9×", "｜ ９ｘ", "(9x)", "| ٩ x", "| 9Х", "| ~9x"])
def test_a_level_in_a_pattern_line_is_read_in_every_script(marker: str) -> None:
    (line,) = _patterns(f"- pool: size is 20 {marker}")
    assert (line.name, line.text, line.level) == ("pool", "size is 20", 9)


@pytest.mark.parametrize("marker", ["| 09x", "| 1234567890x", "| 2.5x", "| Ⅸx", "| ⑨x", "| 0x"])
def test_a_numeral_that_is_no_level_counts_as_one(marker: str) -> None:
    text = BODY.format(patterns=f"- pool: size is 20 {marker}")
    assert "level-malformed" in _rules(text)
    assert parse(text, DEFAULT_SCHEMA).document.patterns[0].level == 1


def test_only_the_first_level_of_a_line_counts() -> None:
    text = BODY.format(patterns="- pool: size is 20 | 2x (2026-01-01) and | 9x")
    (line,) = parse(text, DEFAULT_SCHEMA).document.patterns
    assert (line.level, line.verified) == (2, "2026-01-01")
    assert "marker-extra" in _rules(text)


def test_a_level_in_quotes_is_no_level() -> None:
    (line,) = _patterns('- pool: the page says "size | 9x" | 2x')
    assert line.level == 2
    assert "9x" not in line.text


@pytest.mark.parametrize(
    "line",
    [
        '- pool: size [evidence: ep_k3v9q2ma "size"]',
        "- pool | 3 (2026-01-01)",
        '- pool | 2x [evidence: ep_k3v9q2ma "open]',
        "- pool | 2x [evidence: ]",
        "- pool | 2x [evidence: because we saw it]",
    ],
)
def test_a_line_that_cites_or_claims_and_cannot_be_read_refuses_the_save(line: str) -> None:
    findings = [
        one for one in parse(BODY.format(patterns=line), DEFAULT_SCHEMA).findings if one.action is Action.REFUSE
    ]
    assert [one.rule for one in findings] and findings[0].rule in ("line-unparsable", "evidence-malformed")
    assert findings[0].line == 7 and "[evidence:" in findings[0].fix


@pytest.mark.parametrize(
    "line", ["- tests ran faster by 3x", "thought: 2x4 lumber", "A -> B", "A ><[speed] B", "[decided(2026-01-01): go]"]
)
def test_prose_stays_prose(line: str) -> None:
    document = parse(BODY.format(patterns=line), DEFAULT_SCHEMA).document
    assert not document.patterns
    assert document.with_role(Role.GRADUATING)[0].body == (Note(line),)


def test_tags_and_continuation_lines_belong_to_the_line_above() -> None:
    (line,) = _patterns(
        "- **pool**: size is 20 | 2x (2026-01-01)\n    in every region\n"
        '  [evidence: ep_k3v9q2ma, ep_a3v9q2mb "the \\"pool\\" is 20"]\n  [no-contradicts]'
    )
    assert line.text == "size is 20 in every region"
    assert line.citations == (Citation(("ep_k3v9q2ma", "ep_a3v9q2mb"), 'the "pool" is 20'),)
    assert line.contradicts == ()


def test_unescaped_quotes_inside_an_explanation_are_kept() -> None:
    (line,) = _patterns('- pool: is 20 | 2x [evidence: ep_k3v9q2ma "he said "no" to it"] [contradicts: old]')
    assert line.citations[0].explanation == 'he said "no" to it'
    assert line.contradicts == ("old",)


def test_what_a_model_adds_around_the_document_is_stripped() -> None:
    inner = BODY.format(patterns="- pool: is 20 | 1x\n```\ncode\n```")
    wrapped = f"<thinking>hm</thinking>\nHere is it:\n```markdown\n{inner}```\nAnything else?"
    parsed = parse(wrapped, DEFAULT_SCHEMA)
    assert parsed.document == parse(inner, DEFAULT_SCHEMA).document
    assert [one.rule for one in parsed.findings] == ["output-cleaned"]


def test_a_missing_section_refuses_and_a_durable_one_is_created() -> None:
    parsed = parse("## State\n\n## Patterns\n\n## Decisions\n", DEFAULT_SCHEMA)
    assert [one.rule for one in parsed.findings] == ["section-missing"]
    assert "## Durable Facts" in render(parsed.document)


def test_a_heading_with_two_section_names_is_refused() -> None:
    assert "heading-ambiguous" in _rules("## State and Patterns\n\n## Decisions\n\n## Context\n")


def test_a_section_that_appears_twice_is_joined() -> None:
    text = BODY.format(patterns="- a: b | 1x") + "\n## Patterns\n- c: d | 9x\n"
    assert [line.name for line in parse(text, DEFAULT_SCHEMA).document.patterns] == ["a", "c"]
    assert "heading-duplicate" in _rules(text)


def test_moves_are_taken_out_and_never_read_inside_a_quotation() -> None:
    parsed = parse(
        BODY.format(
            patterns='- pool: is 20 | 1x [evidence: ep_k3v9q2ma "[retire: pool \\"x\\"]"]\n'
            '[rename: old to new] [retire: gone "done"]'
        ),
        DEFAULT_SCHEMA,
    )
    assert [(move.verb.value, move.subjects, move.target, move.reason) for move in parsed.moves] == [
        ("rename", ("old",), "new", ""),
        ("retire", ("gone",), "", "done"),
    ]
    assert "[retire" not in render(parsed.document).replace('"[retire', "")


_words = st.text(st.sampled_from("ab9x|(){}[]\"'`#*_-: \n\t.,éжक漢٩×–（ｘ>~<!"), max_size=40)
_pieces = st.lists(
    st.one_of(
        _words,
        st.sampled_from(
            [
                "## State",
                "## Patterns",
                "## Context",
                "## Other",
                "### sub",
                "```",
                "- name: text | 2x",
                '[evidence: ep_k3v9q2ma "a b"]',
                '[retire: a "b"]',
                "<!--",
                "-->",
                "<think>",
                "</think>",
                "(relayed)",
                "(carried-forward)",
                "  more",
                "| 9x",
                "# title",
                "---",
                "**State**",
                "— cues: a, b",
                "- fact",
                "[no-contradicts]",
                "[evidence:",
                "thought: ",
                "“",
                "”",
            ]
        ),
    ),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(_pieces, st.sampled_from(["\n", " ", ""]))
def test_what_is_rendered_reads_back_equal(pieces: list[str], joint: str) -> None:
    text = (
        "## State\n\n## Patterns\n"
        + joint.join(pieces)
        + "\n\n## Decisions\n\n## Durable Facts\n"
        + joint.join(pieces)
        + "\n\n## Context\n"
        + joint.join(pieces)
    )
    parsed = parse(text, DEFAULT_SCHEMA)
    if any(one.action is Action.REFUSE for one in parsed.findings):
        return
    again = parse(render(parsed.document), DEFAULT_SCHEMA)
    assert again.document == parsed.document
    assert render(again.document) == render(parsed.document)
    assert not {one.rule for one in again.findings} & {
        "marker-outside",
        "marker-extra",
        "line-unparsable",
        "output-cleaned",
        "heading-normalised",
    }


_name = st.from_regex(r"[a-zé漢][a-z0-9_]{0,10}", fullmatch=True)
_text = st.lists(st.from_regex(r"[a-zé漢]{1,8}", fullmatch=True), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.builds(
            PatternLine,
            name=_name,
            text=_text,
            level=st.integers(1, 99),
            verified=st.sampled_from(["", "2026-01-31"]),
            citations=st.lists(
                st.builds(
                    Citation,
                    ids=st.just(("ep_k3v9q2ma",)),
                    explanation=st.text(max_size=20).map(lambda t: " ".join(t.split())),
                ),
                max_size=2,
            ).map(tuple),
            contradicts=st.sampled_from([None, (), ("old",)]),
            marks=st.sampled_from([(), (Mark.RELAYED, Mark.CONTESTED)]),
        ),
        max_size=4,
    ),
    st.lists(st.builds(FactLine, text=_text, cues=st.lists(_text, max_size=3, unique=True).map(tuple)), max_size=3),
)
def test_a_document_built_by_hand_survives(lines: list[PatternLine], facts: list[FactLine]) -> None:
    from dataclasses import replace

    from assay.text import canon

    lines = [
        replace(
            line,
            citations=tuple(
                replace(one, explanation=" ".join(canon(one.explanation).split())) for one in line.citations
            ),
        )
        for line in lines
    ]
    base = parse(BODY.format(patterns=""), DEFAULT_SCHEMA).document
    bodies: dict[Role, tuple[PatternLine, ...] | tuple[FactLine, ...]] = {
        Role.GRADUATING: tuple(lines),
        Role.DURABLE: tuple(facts),
    }
    document = replace(
        base, sections=tuple(replace(section, body=bodies.get(section.role, section.body)) for section in base.sections)
    )
    assert parse(render(document), DEFAULT_SCHEMA).document == document


def _seconds(patterns: str) -> float:
    """Measure a reading, the best of three, without what was remembered; a collection would count the whole process."""
    text = BODY.format(patterns=patterns)
    times: list[float] = []
    gc.disable()
    try:
        for _ in range(3):
            for remembering in (read_fact, read_note, read_pattern, take_moves, heading_key):
                remembering.cache_clear()
            start = time.process_time()
            parse(text, DEFAULT_SCHEMA)
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)


def _in_proportion(text: str, longer: str, times: float) -> bool:
    """Tell whether a longer text takes at most so many times as long; what disturbs one try does not disturb four."""
    return any(_seconds(longer) < times * max(_seconds(text), 0.004) for _ in range(4))


def _numbered(line: str) -> Callable[[int], str]:
    return lambda size: "".join(line.format(n=number) for number in range(size // (len(line) + 3)))


SHAPES: dict[str, str | Callable[[int], str]] = {
    "half a level": "| 9",
    "half a level alone": "(9",
    "levels": "(9x)",
    "quoted levels": '"(9x)" ',
    "quotes": '"',
    "open tags": "[evidence: ",
    "stances": "[contradicts: a]",
    "closing quotes": '"]',
    "bars": "| ",
    "bars in lines": "|\n",
    "comments": "<!--",
    "thoughts": "<think>",
    "fences": "```\n",
    "code with headings": "```\n# a\n",
    "brackets": "[[",
    "links": "[a](b)\n",
    "marks": "(carried-forward)",
    "sections": "## Patterns\n",
    "tiny headings": "#a\n",
    "numbered sections": _numbered("## s{n}\nx\n"),
    "look-alike sections": _numbered("## Раttеrns {n}\n"),
    "a heading of dashes": lambda size: f"## a{'-' * size}b\n",
    "a heading of hashes": lambda size: f"## a{' #' * (size // 2)}b\n",
    "pattern lines": "- a | 2x\n",
    "numbered pattern lines": _numbered('- p{n}: the pool needs {n} | 2x [evidence: ep_{n} "needs {n}"]\n'),
    "look-alike levels": "|9х\n",
    "moves": "[retire: a]\n",
    "numbered moves": _numbered('[retire: p{n} "gone"]\n'),
    "facts": lambda size: "\n## Durable Facts\n" + "- a\n" * (size // 4),
    "tiny bullets": "- a\n",
    "indented lines": "  x\n",
    "ever deeper lines": lambda size: "\n".join(" " * (at % 200) + "a" for at in range(size // 100)),
    "underlines": "a\n--\n",
    "bold lines": "**a**\n",
    "blank lines": "\n",
    "blanks": " ",
    "carriage returns": "\r",
    "one line": "word ",
    "combining marks": "a\u0301",
    "combining marks in lines": "\u0301\n",
    "look-alikes": "Раttеrns ",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_reading_takes_time_in_proportion_to_the_text(shape: str) -> None:
    piece = SHAPES[shape]
    one, two = (piece(size) if callable(piece) else piece * (size // len(piece)) for size in (30_000, 60_000))
    assert _in_proportion(one, two, 2.6)


@given(
    st.lists(
        st.sampled_from([*"|(9x[\n#-* ]", '"', "## Patterns\n", "[evidence: ", "\n  ", "```", "ⅹ", "٩"]), max_size=40
    )
)
@settings(max_examples=30, deadline=None)
def test_no_mixture_of_marks_takes_more_than_its_share(pieces: list[str]) -> None:
    piece = "".join(pieces) or "x"
    times = 15_000 // len(piece)
    assert _in_proportion(piece * times, piece * times * 4, 5.2)


@pytest.mark.parametrize("line", ["## a", "#a", "-", "- a | 1x", "  b", "```", "**Patterns**", "x — cues: y", "(9x)"])
def test_of_a_text_without_end_the_first_lines_are_read_and_the_rest_is_reported_once(line: str) -> None:
    read = parse("## Patterns\n" + f"{line}\n" * 200_000, DEFAULT_SCHEMA)
    told = [finding for finding in read.findings if finding.rule == "text-too-large"]
    assert [finding.action for finding in told] == [Action.REFUSE]
    assert sum(len(section.body) for section in read.document.sections) <= 2 * MAX_DOCUMENT_LINES
    assert parse(render(read.document), DEFAULT_SCHEMA).document == read.document


def test_what_is_drawn_as_nothing_is_taken_out_and_circled_letters_are_a_name() -> None:
    (line,) = _patterns("- ⓛⓘⓝⓔ: the po\u034fol starves\u3164 | 1x")
    assert (line.name, line.text) == ("line", "the pool starves")
