"""Who comes from anneal-memory 1.0.2 finds its quick start, its results and its refusals."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.compat import ContinuityValidationError, EpisodeType, Store, prepare_wrap, validated_save_continuity

# As anneal-memory 1.0.2 gives them, nested ones behind a dot.
PREPARED = """status message episode_count package assoc_context wrap_token uncovered_proven_to_check schema_warning
    crystallization_candidates rewarm_candidates"""
PACKAGE = """episodes episode_count continuity stale_patterns uncovered_proven crystallization_candidates
    rewarm_candidates instructions today max_chars"""
SAVED = """path chars episodes_compressed graduations_validated graduations_demoted demoted bare_demoted
    citation_reuse_max skipped_non_today gaming_suspects omitted_patterns cross_session_collisions
    proven_without_contradicts_declaration contradictions carried_forward uncorroborated pattern_trust
    associations_formed associations_strengthened associations_decayed association_warning wrap_id
    linkgate_overridden citation_spread supersessions_recorded supersessions_rejected sections wrap_result
    durable_warnings"""
WRAP_RESULT = """saved chars section_sizes graduations_validated graduations_demoted citation_reuse_max
    patterns_extracted episodes_compressed pruned_count associations_formed associations_strengthened
    associations_decayed wrap_id"""

DOCUMENT = """# MyAgent

## State
The pool is being looked at.

## Patterns
{pattern}

## Decisions
- PostgreSQL was chosen, because ACID outweighs speed

## Context
The first session.
"""
BOTTLENECK = "- pool_bottleneck: the connection pool is the real bottleneck | {level}"
SHOWN = ' [evidence: {ref} "Connection pool is the real bottleneck"] [no-contradicts]'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db", project_name="MyAgent") as store:
        store.record("Connection pool is the real bottleneck", EpisodeType.OBSERVATION)
        yield store


def document(level: str = "1x", pattern: str = BOTTLENECK) -> str:
    return DOCUMENT.format(pattern=pattern.format(level=level))


def forged(store: Store) -> str:
    return document("9x", BOTTLENECK + SHOWN.replace("{ref}", store.recall().episodes[0].id))


def saved(store: Store, text: str, **options: Any) -> dict[str, Any]:
    assert prepare_wrap(store)["status"] == "ready"
    return validated_save_continuity(store, text, **options)


def test_the_quick_start_runs_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(str(tmp_path / "memory.db"), project_name="MyAgent")
    store.record("Connection pool is the real bottleneck", EpisodeType.OBSERVATION)
    store.record("Chose PostgreSQL as the database because ACID outweighs speed", EpisodeType.DECISION)

    result = store.recall(episode_type=EpisodeType.DECISION, keyword="database")
    for ep in result.episodes:
        print(f"[{ep.type}] {ep.content}")

    wrap = prepare_wrap(store)
    if wrap["status"] == "ready":
        validated_save_continuity(store, document())
    assert prepare_wrap(store)["status"] == "empty"
    store.close()

    assert capsys.readouterr().out == "[decision] Chose PostgreSQL as the database because ACID outweighs speed\n"


def test_every_key_of_the_results_is_there(store: Store) -> None:
    wrap = prepare_wrap(store)
    assert set(wrap) == set(PREPARED.split())
    assert set(wrap["package"]) == set(PACKAGE.split())
    result = validated_save_continuity(store, document(), wrap_token=wrap["wrap_token"])
    assert set(result) == set(SAVED.split())
    assert set(result["wrap_result"]) == set(WRAP_RESULT.split())
    assert set(prepare_wrap(store)) == set(PREPARED.split())


def test_the_results_say_what_happened(store: Store) -> None:
    wrap = prepare_wrap(store)
    assert "Connection pool is the real bottleneck" in wrap["package"]["episodes"]
    assert "Connection pool is the real bottleneck" in wrap["package"]["instructions"]
    result = validated_save_continuity(store, document())
    assert result["episodes_compressed"] == 1
    assert result["wrap_id"] == 1
    assert (
        result["chars"]
        == len(store.memory.continuity.text())
        == sum(result["sections"].values()) + len("\n## ") * 5 - 1
    )
    assert result["wrap_result"]["patterns_extracted"] == 1


def test_a_refused_text_raises_a_value_error_with_its_findings_and_can_be_mended(store: Store) -> None:
    with pytest.raises(ValueError, match="State") as refusal:
        saved(store, "## Patterns\nnothing else\n")
    assert isinstance(refusal.value, ContinuityValidationError)
    assert {finding.rule for finding in refusal.value.findings} == {"section-missing"}
    assert validated_save_continuity(store, document())["episodes_compressed"] == 1


def test_a_save_without_a_wrap_raises(store: Store) -> None:
    with pytest.raises(ContinuityValidationError, match="wrap"):
        validated_save_continuity(store, document())


def test_a_level_that_was_not_earned_is_cut_listed_and_spoken_of(store: Store) -> None:
    with pytest.warns(UserWarning, match="9x"):
        result = saved(store, forged(store))
    assert [item["name"] for item in result["level_capped"]] == ["pool_bottleneck"]
    assert "pool_bottleneck: the connection pool is the real bottleneck | 1x" in store.memory.continuity.text()


def test_where_warnings_are_errors_a_committed_save_still_returns(store: Store) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = saved(store, forged(store))
    assert result["wrap_id"] == 1


def test_inputs_without_effect_are_accepted_and_said_to_be_without(store: Store) -> None:
    with pytest.warns(UserWarning, match="no effect"):
        result = saved(store, document(), affective_state={"tag": "calm"}, allow_unlinked=True)
    assert result["wrap_id"] == 1


def test_recall_filters_by_a_part_of_the_text_newest_first(store: Store) -> None:
    store.record("The pool size is 40", "observation", state_key="pool")
    store.record("The pool size is 60", "observation", state_key="pool")
    store.record("The poll is open", "observation")
    found = store.recall(keyword="POOL")
    assert [episode.content for episode in found.episodes] == [
        "The pool size is 60",
        "Connection pool is the real bottleneck",
    ]
    assert found.total_matching == 2
    assert store.recall(keyword="pool", include_superseded=True).total_matching == 3
    assert [episode.content for episode in store.recall(limit=1, offset=1).episodes] == ["The pool size is 60"]
    assert store.recall(episode_type=EpisodeType.DECISION).episodes == []


def test_an_episode_has_the_names_of_the_other_library(store: Store) -> None:
    episode = store.record("It rained", "context", "ada", {"mm": 3}, "2026-01-05T10:00:00Z", origin_key="rain-1")
    assert (episode.type, episode.source, episode.metadata) == (EpisodeType.CONTEXT, "ada", {"mm": 3})
    assert (episode.timestamp, episode.origin_key) == ("2026-01-05T10:00:00Z", "rain-1")
    assert episode.superseded_by is None


def test_delete_removes_the_text_for_good(store: Store) -> None:
    episode = store.record("a slip of the tongue", "observation")
    assert store.delete(episode.id)
    assert not store.delete(episode.id)
    assert store.recall(keyword="slip").episodes == []
