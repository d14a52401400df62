"""End to end, through the port: what an agent does with tools carries further than what is merely said."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from assay import Store
from assay.model.labels import Mark
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy

from ..wrap.scene import document

LINE = "redis: the test suite needs redis on port 6379"
SAID = (
    "The test suite needs the redis service on port 6379",
    "Redis has to run on port 6379, or the test suite aborts",
    "I started redis on port 6379 first, then the whole test suite ran",
)
SEEN = (
    "ConnectionError: redis refused on port 6379, test suite aborted",
    "redis-server: port 6379 ready",
    "test suite: 214 passed, redis on port 6379",
)


def _composed(prompt: str, level: int) -> str:
    """Cite every episode of the prompt that speaks of the claim, in its own words."""
    rows = [row for row in prompt.split("\n") if row.startswith("- ep_") and "6379" in row]
    cites = [f'[evidence: {row.split()[1]} "{row.split(chr(34))[1][:90]}"]' for row in rows]
    return document(f"- {LINE} | {level}x {' '.join(cites)} [no-contradicts]")


@pytest.mark.parametrize("tools", [True, False])
def test_an_agent_with_tools_reaches_3x_in_three_sessions_and_words_alone_stop_at_2x(
    tools: bool, tmp_path: Path
) -> None:
    router = StoreRouter(tmp_path / "memory.db")
    options = SessionOptions(wrap=WrapPolicy.manual())
    said: list[str] = [*SAID, *([] if tools else SAID)]
    for day, text in enumerate(said):
        session = router.session(SessionKey("ada", f"s{day}"), options=options)
        session.run_started()
        session.user_message("Please get the tests to run" if tools else f"{text}, I tell you for the {day}. time")
        if tools:
            session.tool_call("bash", {"command": f"pytest # {day}"}, call_id=f"c{day}")
            session.tool_result("bash", SEEN[day], call_id=f"c{day}")
        session.agent_message(text)
        session.close_run()
        session.wrap(partial(_composed, level=day + 1), now=True)
    router.close()
    with Store(tmp_path / "memory.db") as store:
        belief = store.beliefs.get("redis")
        assert belief.level == (3 if tools else 2), store.explain("redis")
        assert tools or {Mark.USER_ONLY, Mark.SELF_GROUNDED} & set(belief.marks)
        assert store.verify()
