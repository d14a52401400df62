"""The benches run on any part of the data, say what is missing, and print what they promise."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from bench.scores import Answer

from bench import conversations, recall, scripts, speed

KEYS = {"locomo", "beam", "updates", "persistbench", "scripts"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    said = {
        "sample_id": "talk-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"dia_id": "D1:1", "speaker": "Ada", "text": "I sold my old bicycle"},
                {"dia_id": "D1:2", "speaker": "Bob", "text": "I planted tomatoes", "blip_caption": "a red tomato"},
            ],
        },
        "qa": [
            {"question": "What did Bob plant?", "evidence": ["D1:2"], "category": 4},
            {"question": "Who flew to Mars?", "evidence": ["D1:1"], "category": 5},
        ],
    }
    chat = [{"batch_number": 1, "turns": [[
        {"role": "user", "id": 0, "content": "My budget is 200 ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Noted."},
        {"role": "user", "id": 2, "content": "My budget is now 300"},
    ]]}]  # fmt: skip
    probes = {
        "knowledge_update": [
            {"question": "What is my budget?", "source_chat_ids": {"original_info": [0], "updated_info": [2]}}
        ],
        "abstention": [{"question": "Where is my car?", "source_chat_ids": [0]}],
    }
    pair = {"id": "p1", "question": "Which tea do I like?", "memory": {"items": [
        {"content": "Likes black tea", "status": "outdated"}, {"content": "Likes green tea", "status": "current"}
    ]}}  # fmt: skip
    files = {
        "locomo/conversations.json": [said],
        "beam100k/1/chat.json": chat,
        "beam100k/1/probing_questions.json": probes,
        "memsyco/valid_memory_selection.jsonl": pair,
        "persistbench/beneficial_samples.jsonl": {"query": "Which tea?", "memories": ["The user likes green tea"]},
        "persistbench/cross_domain.jsonl": {"query": "How tall is Everest?", "memories": ["The user likes tea"]},
    }
    for name, content in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content), "utf-8")
    return tmp_path


def test_recall_ends_with_the_promised_line(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers, page = tmp_path / "answers.jsonl", tmp_path / "page.md"
    recall.main(["--data", str(data), "--json", "--answers", str(answers), "--markdown", str(page)])
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(found) == KEYS
    assert {"r5", "r10", "ndcg10", "fts5_r10", "top1_precision", "top1_recall"} <= set(found["locomo"])
    assert found["locomo"]["r10"] == 1.0
    assert {"r10", "fts5_r10"} <= set(found["beam"])
    assert found["updates"]["beam"]["current_first"] == found["updates"]["memsyco"]["current_first"] == 1.0
    assert found["updates"]["memsyco"]["replaced_served"] == 0
    assert found["persistbench"]["leak"] == 0.0 and found["persistbench"]["hit"] == 1.0
    assert [point["bar"] for point in found["persistbench"]["curve"]][:2] == [0.0, 0.02]
    kept = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    assert kept[0]["question"] == "What did Bob plant?" and kept[0]["found"]["assay"][0] == "D1:2"
    assert page.read_text("utf-8").count("|") > 20


def test_what_is_missing_is_said_and_the_rest_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recall.main(["--data", str(tmp_path), "--json", "--answers", str(tmp_path / "answers.jsonl")]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out.splitlines()[-1])
    assert set(found) == KEYS and found["locomo"] == {} and found["scripts"]["zh"] == 1.0
    assert all(f"{name}: " in told.err for name in KEYS - {"scripts"})


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        recall.main(["--data", str(tmp_path / "nowhere")])


def test_every_goal_is_judged_by_the_figure_it_names() -> None:
    found = {"locomo": {"r10": 0.7, "fts5_r10": 0.5, "top1_precision": 0.43}, "persistbench": {"leak": 0.5}}
    judged = {name: met for name, _, met in recall.judged(found)}
    assert judged == {
        "locomo r10 >= 0.71": False,
        "locomo r10 / fts5_r10 >= 1.35": True,
        "locomo top1_precision >= 0.43": True,
        "persistbench leak <= 0.4": False,
    }


def test_scores_are_those_of_the_literature() -> None:
    answer = Answer("c", "q", "1", frozenset("ab"), {"assay": ["x", "a", "y", "b"]})
    assert answer.recall("assay", 2) == 0.5
    assert answer.ndcg("assay") == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))


def test_a_question_nobody_can_answer_is_left_out(data: Path) -> None:
    assert [question.text for question in conversations.locomo(data)[0].questions] == ["What did Bob plant?"]
    assert [question.kind for question in conversations.beam(data)[0].questions] == ["knowledge_update"]


def test_each_script_has_its_pairs() -> None:
    languages = [language for language, _, _ in scripts.pairs()]
    assert languages.count("zh") == languages.count("ja") == 20
    assert min(map(languages.count, {"ko", "ru", "ar", "th", "de"})) >= 6


def test_speed_prints_the_figures_of_its_goals(capsys: pytest.CaptureFixture[str]) -> None:
    speed.main(["--sizes", "300,600", "--rounds", "5", "--json"])
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    promised = {"record_ratio", "wal_bytes", "batch_per_s", "growth", "cold_ratio", "hook_ms", "recall_600_p95_ms"}
    assert promised <= set(found)
    assert all(value > 0 for value in found.values())


def test_texts_and_questions_are_the_same_in_every_run(data: Path) -> None:
    assert list(speed.Words(None).texts(3)) == list(speed.Words(None).texts(3))
    assert speed.Words(data).questions(2) == ["What did Bob plant?"] * 2
