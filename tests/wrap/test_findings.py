"""The ids of findings are part of the contract: stable, each with one action."""

from __future__ import annotations

import re
from pathlib import Path

from assay.model.finding import Action
from assay.wrap import findings
from assay.wrap.feedback import feedback, holding
from assay.wrap.findings import RULES, found

SOURCES = Path(findings.__file__).parent


def test_every_id_in_the_table_is_used_and_every_used_id_is_in_the_table() -> None:
    text = "\n".join(path.read_text("utf-8") for path in SOURCES.rglob("*.py") if path.name != "findings.py")
    text += "\n".join(path.read_text("utf-8") for path in (SOURCES.parent / "beliefs").glob("*.py"))
    text += (SOURCES.parent / "model" / "labels.py").read_text("utf-8")
    quoted = set(
        re.findall(
            r'"([a-z]+(?:-[a-z]+)+|reuse|pool|overlap|cold|polarity|shrink|ungrounded|overreach|overgeneral|uncorroborated|authority|probe)"',
            text,
        )
    )
    assert set(RULES) <= quoted
    emitted = set(re.findall(r'found\(\s*"([a-z-]+)"', text))
    assert emitted <= set(RULES)


def test_a_refusal_comes_with_what_to_do() -> None:
    finding = found("size-hard", "too long", "cut it", line=3, section="State")
    assert (finding.action, finding.fixable) == (Action.REFUSE, True)
    assert "line 3, section State" in feedback([finding], "") and "Do this: cut it" in feedback([finding], "")


def test_only_what_another_text_could_avoid_holds_a_save() -> None:
    found_ones = [found(rule, "x") for rule in ("polarity", "user-only", "level-capped", "cold", "uncorroborated")]
    assert [one.rule for one in holding(found_ones)] == ["polarity"]
