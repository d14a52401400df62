"""`examples/replay.py` replays a small made-up conversation in each form it reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPLAY = Path(__file__).parents[2] / "examples" / "replay.py"

SAID: list[tuple[str, list[tuple[str, str]]]] = [
    (
        "9:15 am on 3 March, 2026",
        [
            ("Ada", "The greenhouse order arrived this morning, forty tomato seedlings."),
            ("Bob", "Lovely. I will bring the blue watering can on Thursday."),
            ("Ada", "My sister Imre moved to Lisbon, by the way."),
        ],
    ),
    (
        "6:40 pm on 10 March, 2026",
        [
            ("Bob", "Half of the seedlings did not survive the frost."),
            ("Ada", "Oh no. Then we plant beans instead."),
        ],
    ),
]
QUESTIONS: list[dict[str, Any]] = [
    {"question": "Where did Ada's sister move to?", "answer": "Lisbon", "evidence": ["D1:3"], "category": 1},
    {"question": "What happened to the seedlings?", "answer": "frost", "evidence": ["D2:1; D1:1"], "category": 1},
    {"question": "Who likes chess?", "answer": "nobody", "evidence": ["D1:1"], "category": 5},
    {"question": "What is said nowhere?", "answer": "", "evidence": ["D9:9"], "category": 1},
]


def replay(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPLAY), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def summary(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write the conversation in the format of LoCoMo."""
    conversation: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bob"}
    for number, (date, turns) in enumerate(SAID, 1):
        conversation[f"session_{number}_date_time"] = date
        conversation[f"session_{number}"] = [
            {"speaker": speaker, "dia_id": f"D{number}:{place}", "text": text}
            for place, (speaker, text) in enumerate(turns, 1)
        ]
    conversation["session_1"][0]["blip_caption"] = "a crate of plants"
    file = tmp_path / "data" / "locomo" / "conversations.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([{"sample_id": "small", "conversation": conversation, "qa": QUESTIONS}]), "utf-8")
    return tmp_path / "data"


def test_a_conversation_is_recorded_wrapped_asked_and_verified(data: Path) -> None:
    found = summary(replay("--data", data, "--json"))
    assert found.pop("seconds") > 0
    assert found == {
        "conversations": 1,
        "episodes": 5,
        "wraps": 2,
        "recall_at_5": 1.0,
        "recall_at_10": 1.0,
        "audit_valid": True,
    }


def test_a_replay_into_a_kept_store_records_nothing_twice(data: Path, tmp_path: Path) -> None:
    from assay import Store

    first, again = (summary(replay("--data", data, "--db", tmp_path, "--json")) for _ in range(2))
    assert (first["wraps"], again["wraps"]) == (2, 0)
    with Store(tmp_path / "small.db", read_only=True) as store:
        status = store.status()
        assert (status.episodes, status.wraps) == (5, 2)
        assert status.project == "small"
        photo = store.recall("crate of plants")[0]
        assert photo.episode is not None
        assert photo.episode.source == "Ada"
        assert photo.episode.happened_at.isoformat() == "2026-03-03T09:15:00+00:00"


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_a_chat_of_ones_own_is_replayed(tmp_path: Path, form: str) -> None:
    dated = [(f"2026-03-0{number}", turns) for number, (_, turns) in enumerate(SAID, 1)]
    if form == "text":
        lines = [line for day, turns in dated for line in (f"# {day}", *(f"{who}: {text}" for who, text in turns))]
    else:
        lines = [json.dumps({"speaker": who, "text": text, "date": day}) for day, turns in dated for who, text in turns]
    chat = tmp_path / "my chat.txt"
    chat.write_text("\n".join(lines), "utf-8")
    found = summary(replay("--chat", chat, "--json"))
    assert (found["episodes"], found["wraps"], found["recall_at_10"]) == (5, 2, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--data", "nowhere"), "conversations.json is missing"),
        (("--chat", "nowhere.txt"), "nowhere.txt cannot be read"),
        ((), "--data DIR (or ASSAY_DATA) or --chat FILE is needed"),
    ],
)
def test_what_is_missing_is_said_plainly(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    done = replay(*arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
