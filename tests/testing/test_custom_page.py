"""What the page on writing an adapter shows passes the contract as it stands, and is broken as the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay.testing import AdapterContract, script
from assay.testing.stage import Stage

ROOT = Path(__file__).parents[2]
HOSTS = ROOT / "tests" / "hosts"
PAGE = (ROOT / "docs/integrations/custom.md").read_text("utf-8")
FILES: dict[str, str] = {
    name: text for text, name in re.findall(r"^```python\n(# (\w+\.py)\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
}
CONTRACT = AdapterContract()

Clause = Callable[[Any, Stage], None]


def test_the_contract_passes_with_the_files_of_the_page(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    paths = os.pathsep.join(filter(None, (str(HOSTS), str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "--junitxml=done.xml", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = list(ElementTree.parse(tmp_path / "done.xml").iter("testcase"))
    assert {case.get("name") for case in cases} == {name for name in dir(AdapterContract) if name.startswith("test_")}
    reasons = {str(skip.get("message")).partition(": ")[2] or str(skip.get("message")) for skip in _skips(cases)}
    declared = set(re.findall(r'^        Capability\.\w+: "(.*)",$', FILES["test_acme.py"], re.MULTILINE))
    assert reasons == declared | {"this host does not stream"}


def _skips(cases: list[ElementTree.Element]) -> Iterator[ElementTree.Element]:
    return (skip for case in cases for skip in case.iter("skipped"))


BROKEN: list[tuple[str, str, Clause]] = [
    (
        '*messages[:place], Message("user", block)',
        '*messages[:place], Message("user", block), Message("user", block)',
        AdapterContract.test_c01_each_model_call_receives_the_briefing_exactly_once,
    ),
    (
        'Message("user", block)',
        'Message("system", block)',
        AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message,
    ),
    (
        '[*messages[:place], Message("user", block), *messages[place:]]',
        '[*messages, Message("user", block)]',
        AdapterContract.test_c02_recalled_text_is_user_data_before_the_newest_user_message,
    ),
    (
        "await session.aio.tool_result(call.name, result, call_id=call.id)",
        "pass",
        AdapterContract.test_c04_the_episodes_are_those_of_the_table,
    ),
    (
        "await session.aio.tool_result(call.name, result, call_id=call.id)",
        "await session.aio.agent_message(str(result))",
        AdapterContract.test_c04_the_episodes_are_those_of_the_table,
    ),
    (
        "await session.aio.run_failed(error)",
        "pass",
        AdapterContract.test_c08_a_failing_run_leaves_what_happened_and_one_failure,
    ),
    (
        'with guard(session, "briefing"):',
        "if True:",
        AdapterContract.test_c12_a_fault_in_any_verb_changes_nothing,
    ),
    (
        "session.aio.run_failed(error)",
        "session.aio.run_failed(RuntimeError(str(error)))",
        AdapterContract.test_c13_cancellation_and_interrupts_pass_and_are_no_failures,
    ),
    (
        "return self._sessions.guarded(lambda: self._sessions.of_key(key, run=run.id))",
        "self.kept = getattr(self, 'kept', None) or self._sessions.of_key(key, run=run.id); return self.kept",
        AdapterContract.test_c14_interleaved_runs_of_one_adapter_do_not_cross,
    ),
    (
        "SessionKey(run.user,",
        'SessionKey("ada",',
        AdapterContract.test_c15_users_stay_apart,
    ),
    (
        "await session.aio.agent_message(text)",
        "session.agent_message(text)",
        AdapterContract.test_c16_every_entry_gives_the_same,
    ),
]


@pytest.fixture
def stage_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Stage]]:
    """Make the stage of the page's adapter and harness, with one line of them replaced."""
    stages: list[Stage] = []

    def module(name: str, source: str) -> Any:
        made = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, made)
        exec(compile(source, name, "exec"), made.__dict__)
        return made

    def make(file: str, line: str, instead: str) -> Stage:
        assert line in FILES[file]
        files = {**FILES, file: FILES[file].replace(line, instead)}
        module("assay_acme", files["assay_acme.py"])
        stages.append(Stage(module("acme_harness", files["acme_harness.py"]).AcmeHarness(), tmp_path / "stage", {}))
        return stages[-1]

    monkeypatch.syspath_prepend(str(HOSTS))
    monkeypatch.setattr(script, "MEET_SECONDS", 1.0)  # who never comes need not be waited for
    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize(("line", "instead", "clause"), BROKEN, ids=lambda given: getattr(given, "__name__", ""))
def test_an_adapter_that_is_broken_as_the_page_says_is_seen(
    stage_of: Callable[..., Stage], line: str, instead: str, clause: Clause
) -> None:
    with pytest.raises(AssertionError):
        clause(CONTRACT, stage_of("assay_acme.py", line, instead))


def test_an_adapter_that_stays_behind_is_seen(stage_of: Callable[..., Stage]) -> None:
    stage = stage_of("acme_harness.py", "agent.agent.hooks.remove(agent.memory)", "pass")
    with pytest.raises(AssertionError):
        CONTRACT.test_c21_detaching_leaves_nothing(stage)
