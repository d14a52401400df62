"""What a store believes: junk stays out, honest evidence rises, changed values and opinions do not."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assay import Store
from assay.model.labels import Mark
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy
from bench import speed

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
SESSIONS = 100
SAVE_MS = 100
_BOUNDED = {Mark.USER_ONLY, Mark.SELF_GROUNDED}
_FACTS = (
    "Deploys of the billing service go out on Tuesday evenings at six",
    "The billing service is owned by the payments team in Lisbon",
    "账单服务的数据库监听5432端口",
    "Резервные копии заказов хранятся четырнадцать дней",
)

# Class of junk -> who says it, what they say in each of five sessions, and the line that a model makes of it.
_JUNK: dict[str, tuple[str, tuple[str, ...], str]] = {
    "boot file": (
        "host",
        ("You are a careful assistant. Always answer in short sentences. The project is called Harbour.",) * 5,
        "the project is called Harbour and the assistant answers in short sentences",
    ),
    "system dump": (
        "tool",
        tuple(
            f"PID {4000 + day} nginx worker 0.{day}% mem {12 + day} MB; load average 0.4{day}; disk 8{day}% used"
            for day in range(5)
        ),
        "the nginx worker uses memory and the disk is used",
    ),
    "shell command": (
        "tool",
        (
            "$ rm -rf build && make all",
            "$ rm -rf build && make all -j4",
            "$ rm -rf build; make all",
            "$ rm -rf build",
            "$ rm -rf build && make all && echo done",
        ),
        "rm -rf build and make all",
    ),
    "half sentence": (
        "agent",
        (
            "so the next thing would be to",
            "so the next thing would be to...",
            "so the next thing, would be to",
            "So the next thing would be to",
            "so, the next thing would be to",
        ),
        "the next thing would be to",
    ),
    "invented persona": (
        "agent",
        (
            "The user is a retired pilot from Oslo",
            "As a retired pilot from Oslo the user likes exact times",
            "The user, once a pilot, lives in Oslo and is retired",
            "Retired pilot from Oslo: that is who the user is",
            "Remember that the user is a retired pilot who comes from Oslo",
        ),
        "the user is a retired pilot from Oslo",
    ),
    "paraphrase": (
        "agent",
        (
            "Caching makes the start page quick",
            "The start page is quick because of caching",
            "With caching in place the start page turns quick",
            "Caching again made our start page quick, it seems",
            "A quick start page is what caching makes",
        ),
        "caching makes the start page quick",
    ),
    "own briefing": (
        "agent",
        tuple(f"From memory: the release day is Tuesday, recalled in session {day}" for day in range(5)),
        "the release day is Tuesday",
    ),
}


def main(arguments: list[str]) -> int:
    """Measure; the exit code says whether every goal was met."""
    parser = argparse.ArgumentParser(prog="python -m bench writeq", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.add_argument("--data", type=Path, default=os.environ.get("ASSAY_DATA"), help="folder that holds memsyco/")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(ROOT))
    saving = round(speed.saved(speed.Words(None))["save_ms"], 1)  # first: what follows fills memory
    junk = [name for name, told in _JUNK.items() if _believed(*told)]
    honest, honest_of = _share(_honest())
    refused, refused_of = _share(_mutated())
    source = Path(options.data) / "memsyco" / "objective_fact_judgment.jsonl" if options.data else None
    opinions = _opinions(source) if source and source.is_file() else None
    figures: dict[str, Any] = {
        "junk_admitted": len(junk),
        "loop_growth": _growth(),
        "honest_promoted": round(honest / honest_of, 4),
        "mutated_refused": round(refused / refused_of, 4),
        "sycophancy_past_2x": opinions,
        "save_ms": saving,
    }
    theirs = _theirs()
    if theirs is not None:
        figures["anneal_memory"] = dict(zip(("honest_promoted", "mutated_refused"), theirs, strict=True))
    met = not junk and not figures["loop_growth"] and min(honest / honest_of, refused / refused_of) >= 0.95
    met = met and not opinions and saving <= SAVE_MS
    if options.json:
        print(json.dumps(figures))
        return 0 if met else 1
    print(f"junk admitted to belief: {junk or 0} of {len(_JUNK)} classes")
    print(f"rows added by {SESSIONS} sessions that were fed recalled text: {figures['loop_growth']}")
    print(f"honest lines promoted: {honest} of {honest_of} ({honest / honest_of:.1%})")
    print(f"a save of 200 lines over 500 episodes: {saving} ms of processor time")
    print(f"changed values and denials refused: {refused} of {refused_of} ({refused / refused_of:.1%})")
    if theirs is None:
        print("anneal-memory is not installed: its figures are left out")
    else:
        print(f"anneal-memory, the same statements: {theirs[0]:.1%} promoted, {theirs[1]:.1%} of the changed refused")
    told = "not measured: give --data a folder with memsyco/" if opinions is None else opinions
    print(f"opinions past 2x: {told}")
    return 0 if met else 1


def _share(verdicts: Iterator[bool]) -> tuple[int, int]:
    listed = list(verdicts)
    return sum(listed), len(listed)


def _honest(*, there: bool = False) -> Iterator[bool]:
    from tests.attacks.statements import statements

    promoted = _judge(there)
    for one in statements():
        yield promoted(one.claim, one.first, one.second)


def _mutated(*, there: bool = False) -> Iterator[bool]:
    """Yield whether a claim with another value, or turned into its opposite, stays down on the same evidence."""
    from tests.attacks.statements import statements

    promoted = _judge(there)
    for one in statements():
        for claim in (one.changed, one.denied):
            if claim:
                yield not promoted(claim, one.first, one.second)
                yield not promoted(claim, one.first, one.second, words=(claim, claim))


def _judge(there: bool) -> Callable[..., bool]:
    """Give what tells whether a claim is promoted: by ours, or by anneal-memory."""
    if there:
        from bench import seed

        return seed.promoted
    from tests.attacks.controls import promoted

    return promoted


def _theirs() -> tuple[float, float] | None:
    """Give the shares of honest lines promoted and of changed ones refused by anneal-memory, where it is installed."""
    from bench import engines

    if not engines.installed(engines.ANNEAL):
        return None
    honest, honest_of = _share(_honest(there=True))
    refused, refused_of = _share(_mutated(there=True))
    return round(honest / honest_of, 4), round(refused / refused_of, 4)


def _believed(origin: str, told: tuple[str, ...], claim: str) -> bool:
    """Tell whether junk of five sessions becomes a belief: 3x, or 2x that nothing marks as mere talk."""
    from tests.attacks.play import Days, Save, Stage, Step, Tell

    stage = Stage()
    for day, text in enumerate(told):
        cited = f'[evidence: {{e{day}}} "{text}"]'
        steps: tuple[Step, ...] = (
            Tell(f"e{day}", text, f"s{day}", origin, origin, {}),
            Save((f"- line: {claim} | {day + 1}x {cited} [no-contradicts]",)),
            Days(),
        )
        for step in steps:
            step.play(stage)
    belief = stage.scene.belief("line")
    return belief.level > 2 or (belief.level == 2 and _BOUNDED.isdisjoint(belief.marks))


def _growth() -> int:
    """Count the episodes that a hundred sessions add that repeat, as agent and as tool, what they were briefed with."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        router = StoreRouter(path)
        options = SessionOptions(wrap=WrapPolicy.manual())
        for fact in _FACTS:
            router.session(SessionKey("ada", "told"), options=options).user_message(fact)
        before = _rows(path)
        for day in range(SESSIONS):
            session = router.session(SessionKey("ada", f"s{day}"), options=options)
            session.run_started()
            text = session.briefing("who owns the billing service, and when do its deploys go out?").text
            session.agent_message(text)
            session.tool_result("notes", text, call_id=None)
            for line in _FACTS:
                if line in text:
                    session.agent_message(line)
                    session.tool_result("cat", f"- {line}", call_id=None)
            session.close_run()
        router.close()
        return _rows(path) - before


def _rows(path: Path) -> int:
    with Store(path) as store:
        return store.status().episodes


def _opinions(file: Path) -> int:
    """Count the opinions that pass 2x when a dialogue in three sessions is all that speaks for them."""
    from tests.wrap.scene import Scene, cite

    past = 0
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        claim = " ".join(row["evaluation"]["rubric"]["sycophancy_failure"].split()).rstrip(".")
        scene = Scene()
        turns = row["dialogue"]
        for day in range(0, len(turns), 2):
            shown = []
            for turn in turns[day : day + 2]:
                who = "user" if turn["role"] == "user" else "agent"
                shown.append(scene.say(turn["content"], f"s{day}", who, who))
            again = scene.say(f"Once more, and I stand by it: {claim}. Take {day}.", f"s{day}", "user", "user")
            citations = " ".join(cite(one, words=claim) for one in (*shown, again))
            scene.save(f"- line: {claim} | {day + 1}x {citations} [no-contradicts]")
            scene.days()
        past += any(belief.level > 2 for belief in scene.store.beliefs.list())
        scene.store.close()
    return past
