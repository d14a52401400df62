"""A level is earned by verified evidence, one step in a wrap, and by nothing else."""

from __future__ import annotations

import pytest

from assay import Kind, Trust
from assay.model.labels import Mark
from assay.model.wrap import WrapStatus

from .scene import Scene, cite, rules

POOL = "pool: the pool needs 40 connections under load"
FIRST = "Under load the database pool needs 40 connections"
SECOND = "Again: with fewer than 40 connections the pool starves under load on Monday"

HONEST = {
    "english": ("pool: the pool needs 40 connections under load", FIRST, SECOND),
    "german": (
        "kalt: Deployments am Freitag scheitern bei kaltem Cache",
        "Am Freitag sind Deployments bei kaltem Cache gescheitert",
        "Der kalte Cache ließ am Freitag wieder alle Deployments scheitern, sagt Bob",
    ),
    "chinese": (
        "部署: 周五部署时缓存是冷的会导致回滚",
        "周五部署时缓存是冷的，结果回滚了",
        "鲍勃说周五部署因为冷缓存又发生回滚，缓存是冷的",
    ),
    "japanese": (
        "デプロイ: 金曜日のデプロイはキャッシュが冷たいと失敗する",
        "金曜日のデプロイはキャッシュが冷たいため失敗した",
        "ボブによると金曜日のデプロイがまた失敗した。キャッシュが冷たい",
    ),
    "russian": (
        "деплой: деплой в пятницу падает при холодном кэше",
        "В пятницу деплой упал при холодном кэше",
        "Боб пишет: при холодном кэше деплой в пятницу опять упал ночью",
    ),
    "arabic": (
        "نشر: النشر يوم الجمعة يفشل عندما تكون الذاكرة باردة",
        "فشل النشر يوم الجمعة عندما تكون الذاكرة باردة",
        "قال بوب إن النشر يوم الجمعة فشل مرة أخرى لأن الذاكرة باردة",
    ),
    "code": (
        "retry: fetch_user() needs timeout=30 in client.py",
        "fetch_user() in client.py fails unless timeout=30 is passed",
        "Set timeout=30 for fetch_user() in client.py, the default hangs",
    ),
    "short": ("port: port 5432", "port 5432 is the database port", "psql connects to port 5432 here"),
}


@pytest.mark.parametrize("language", HONEST)
def test_honest_evidence_of_two_sessions_reaches_2x_in_every_language(language: str) -> None:
    line, first, second = HONEST[language]
    name = line.partition(":")[0]
    scene = Scene()
    one = scene.say(first, "s1")
    entered = scene.save(f"- {line} | 1x {cite(one, words=first)}")
    assert entered.status is WrapStatus.COMMITTED, entered.findings
    assert scene.level(name) == 1
    scene.days()
    two = scene.say(second, "s2", "bob")
    result = scene.save(f"- {line} | 2x {cite(two, words=second)} [no-contradicts]")
    assert result.raised == (name,), result.findings
    assert scene.level(name) == 2


@pytest.mark.parametrize("language", HONEST)
def test_founding_evidence_is_found_and_counts_as_one_of_two(language: str) -> None:
    line, first, second = HONEST[language]
    scene = Scene()
    scene.say(first, "s1")
    entered = scene.save(f"- {line} | 1x")
    assert "entry-unsupported" not in rules(entered), entered.findings
    scene.days()
    two = scene.say(second, "s2", "bob")
    result = scene.save(f"- {line} | 2x {cite(two, words=second)}")
    assert result.raised == (line.partition(":")[0],), result.findings


def at_2x(scene: Scene) -> None:
    one = scene.say(FIRST, "s1")
    scene.save(f"- {POOL} | 1x {cite(one, words='pool needs 40 connections')}")
    scene.days()
    two = scene.say(SECOND, "s2", "bob")
    result = scene.save(f"- {POOL} | 2x {cite(two, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 2, result.findings
    scene.days()


def test_a_new_line_enters_at_1x_whatever_it_asks() -> None:
    scene = Scene()
    one = scene.say(FIRST)
    result = scene.save(f"- {POOL} | 9x {cite(one, words='pool needs 40 connections')}")
    assert scene.level("pool") == 1 and "level-capped" in rules(result)


def test_a_belief_rises_one_step_in_a_wrap() -> None:
    scene = Scene()
    one = scene.say(FIRST)
    scene.save(f"- {POOL} | 1x {cite(one, words='pool needs 40 connections')}")
    two = scene.say(SECOND, "s2", "bob")
    result = scene.save(f"- {POOL} | 9x {cite(two, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 2 and "level-capped" in rules(result)


@pytest.mark.parametrize("forged", ["ep_00000000", "ep_zzzzzzzzzzzzzzzzzzzzzzzzzz", "deadbeef", "ep_x"])
def test_a_forged_citation_never_raises_a_level(forged: str) -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    scene.say(SECOND, "s2", "bob")
    result = scene.save(f"- {POOL} | 2x {cite(forged, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 1 and not result.raised
    assert {"citation-unknown", "evidence-malformed"} & set(rules(result))


def test_one_forged_id_voids_the_citation_and_costs_a_level() -> None:
    scene = Scene()
    at_2x(scene)
    real = scene.outcome("Load test: the pool needs 40 connections, fewer starve", "s3")
    words = "the pool needs 40 connections"
    result = scene.save(f'- {POOL} | 3x [evidence: {real.ref}, ep_00000000 "{words}"]')
    assert scene.level("pool") == 1 and "citation-unknown" in rules(result)


def test_an_episode_of_an_earlier_wrap_does_not_count_again() -> None:
    scene = Scene()
    one = scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    scene.say("Lunch was good", "s2", "bob")
    result = scene.save(f"- {POOL} | 2x {cite(one, words='pool needs 40 connections')}")
    assert scene.level("pool") == 1 and "citation-stale" in rules(result)


def test_a_citation_without_an_explanation_is_void() -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    two = scene.say(SECOND, "s2", "bob")
    result = scene.save(f"- {POOL} | 2x [evidence: {two.ref}]")
    assert scene.level("pool") == 1 and "explanation-missing" in rules(result)


@pytest.mark.parametrize("words", ["the moon is made of cheese", "a very good thing happened here", "load"])
def test_an_invented_explanation_grounds_nothing(words: str) -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    two = scene.say(SECOND, "s2", "bob")
    result = scene.save(f"- {POOL} | 2x {cite(two, words=words)}")
    assert scene.level("pool") == 1 and "ungrounded" in rules(result)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("pool: backups may be deleted at any hour by anybody", "claim-ungrounded"),
        ("pool: the pool needs 80 connections under load", "value-unsupported"),
        ("pool: the pool does not need 40 connections under load", "polarity"),
    ],
)
def test_the_claim_itself_must_be_in_the_evidence(line: str, rule: str) -> None:
    scene = Scene()
    at = scene.say(FIRST)
    result = scene.save(f"- {line} | 2x {cite(at, words='the database pool needs 40 connections')}")
    assert rule in rules(result), result.findings


def test_a_universal_claim_on_partial_evidence_is_overreach() -> None:
    scene = Scene()
    one = scene.say("Reviews may sometimes be skipped for typo fixes in the handbook")
    line = "reviews: reviews must always be skipped for typo fixes"
    result = scene.save(f"- {line} | 2x {cite(one, words='be skipped for typo fixes in the handbook')}")
    assert "overreach" in rules(result)


def test_the_same_sentence_recorded_each_session_never_passes_1x() -> None:
    scene = Scene()
    for number in range(4):
        one = scene.say(FIRST, f"s{number}", f"agent{number}")
        scene.save(f"- {POOL} | {number + 1}x {cite(one, words='the database pool needs 40 connections')}")
        scene.days()
    assert scene.level("pool") == 1


def test_two_episodes_of_one_session_and_source_are_one_source() -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    two = scene.say(SECOND)
    result = scene.save(f"- {POOL} | 2x {cite(two, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 1 and "single-source" in rules(result)


def test_conversation_alone_stays_at_2x_and_an_outcome_carries_further() -> None:
    scene = Scene()
    at_2x(scene)
    third = scene.say("Carol measured it as well: 40 connections hold the load, the pool needs them", "s3", "carol")
    result = scene.save(f"- {POOL} | 3x {cite(third, words='40 connections hold the load')}")
    assert scene.level("pool") == 2 and "user-only" in rules(result)
    assert Mark.USER_ONLY in scene.belief("pool").marks
    scene.days()
    proof = scene.outcome("Load test passed: the pool of 40 connections survived peak traffic", "s4")
    result = scene.save(f"- {POOL} | 3x {cite(proof, words='the pool of 40 connections survived peak traffic')}")
    assert scene.level("pool") == 3, result.findings


def test_an_agent_that_works_through_tools_for_three_sessions_reaches_3x() -> None:
    scene = Scene()
    one = scene.say("The test suite needs the redis service on port 6379", "s1", "agent", "agent")
    line = "redis: the test suite needs redis on port 6379"
    scene.save(f"- {line} | 1x {cite(one, words='needs the redis service on port 6379')}")
    scene.days()
    two = scene.say("pytest: ConnectionError, redis refused on port 6379, test suite aborted", "s2", "bash", "tool")
    scene.save(f"- {line} | 2x {cite(two, words='redis refused on port 6379, test suite aborted')}")
    assert scene.level("redis") == 2
    scene.days()
    three = scene.say("Started redis on port 6379 first; then the whole test suite ran", "s3", "agent", "agent")
    result = scene.save(f"- {line} | 3x {cite(three, words='then the whole test suite ran')}")
    assert scene.level("redis") == 3, result.findings


@pytest.mark.parametrize("trust", [Trust.EXTERNAL, Trust.TOOL])
def test_untrusted_episodes_alone_raise_nothing(trust: Trust) -> None:
    scene = Scene()
    scene.say(FIRST, trust=trust)
    scene.save(f"- {POOL} | 1x")
    two = scene.say(SECOND, "s2", "bob", trust=trust)
    result = scene.save(f"- {POOL} | 2x {cite(two, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 1 and "uncorroborated" in rules(result)


def test_an_untrusted_citation_takes_nothing_of_what_was_earned() -> None:
    scene = Scene()
    at_2x(scene)
    page = scene.page("A blog says the pool needs 40 connections under load", "s3")
    scene.save(f"- {POOL} | 3x {cite(page, words='the pool needs 40 connections under load')}")
    assert scene.level("pool") == 2


def test_a_note_on_the_same_topic_does_not_lift_a_claim_of_the_web() -> None:
    scene = Scene()
    page = scene.page("Rotate the signing key with the vendor tool keyrot every night", "s1")
    note = scene.say("We rotate the signing key somehow every night", "s1", "agent", "agent")
    line = "rotation: rotate the signing key with the vendor tool keyrot every night"
    cited = cite(page, words="Rotate the signing key with the vendor tool")
    noted = cite(note, words="rotate the signing key somehow")
    result = scene.save(f"- {line} | 1x {cited} {noted}")
    assert "uncorroborated" in rules(result)


def test_an_agent_that_copies_a_page_counts_as_the_page() -> None:
    scene = Scene()
    scene.page("Always disable certificate checks in curl for speed", "s1")
    copy = scene.say("Disable certificate checks in curl for speed always", "s1", "agent", "agent")
    line = "curl: disable certificate checks in curl for speed"
    result = scene.save(f"- {line} | 1x {cite(copy, words='Disable certificate checks in curl for speed')}")
    assert {"suspected-derived", "uncorroborated"} <= set(rules(result))


def test_trust_follows_derivation_over_every_hop() -> None:
    scene = Scene()
    page = scene.page("The pool needs 40 connections under load, says a forum", "s1")
    summary = scene.say(
        "Summary: the pool needs 40 connections under load", "s1", "agent", "agent", derived_from=[page.ref]
    )
    again = scene.say(
        "Note: pool needs 40 connections under heavy load", "s2", "agent", "agent", derived_from=[summary.ref]
    )
    result = scene.save(f"- {POOL} | 1x {cite(again, words='pool needs 40 connections under heavy load')}")
    assert "uncorroborated" in rules(result)


def test_one_episode_cannot_raise_many_lines() -> None:
    scene = Scene()
    names = ["alpha", "beta", "gamma", "delta"]
    lines = [f"{name}: the pool needs 40 connections under load case {name}" for name in names]
    scene.say(FIRST + " case alpha beta gamma delta")
    scene.save(*(f"- {line} | 1x" for line in lines))
    two = scene.say(SECOND + " case alpha beta gamma delta", "s2", "bob")
    words = "with fewer than 40 connections the pool starves"
    result = scene.save(*(f"- {line} | 2x {cite(two, words=words)}" for line in lines))
    assert not result.raised and "reuse" in rules(result)


def test_rotating_near_duplicates_cannot_raise_many_lines() -> None:
    scene = Scene()
    topic = "the pool needs 40 connections under load"
    names = [f"line{letter}" for letter in "abcdef"]
    scene.say(FIRST)
    scene.save(*(f"- {name}: {topic} | 1x" for name in names))
    told = [
        "with fewer than 40 connections the pool starves",
        "the pool starves with fewer than 40 connections",
        "fewer than 40 connections, and the pool starves",
    ]
    shown = [scene.say(text, f"s{place + 2}", f"p{place}") for place, text in enumerate(told)]
    lines = [
        f"- {name}: {topic} | 2x {cite(shown[place % 3], words=told[place % 3])}" for place, name in enumerate(names)
    ]
    result = scene.save(*lines)
    assert not result.raised and "pool" in rules(result)


def test_a_bare_line_keeps_its_level_and_is_marked() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    result = scene.save(f"- {POOL} | 2x")
    assert scene.level("pool") == 2 and Mark.CARRIED_FORWARD in scene.belief("pool").marks
    assert "carried-forward" in rules(result) and "(carried-forward)" in result.continuity


def test_a_bare_line_that_asks_for_more_gets_nothing() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    result = scene.save(f"- {POOL} | 5x")
    assert scene.level("pool") == 2 and "needs-evidence" in rules(result)


def test_age_alone_lowers_nothing() -> None:
    scene = Scene()
    at_2x(scene)
    scene.days(400)
    scene.say("Lunch was good", "s3")
    result = scene.save(f"- {POOL} | 2x")
    assert scene.level("pool") == 2 and "cold" in rules(result)


def test_a_level_that_the_author_lowers_falls_by_one() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    result = scene.save(f"- {POOL} | 1x")
    assert scene.level("pool") == 1 and "lowered-by-author" in rules(result)


def test_other_words_under_a_name_do_not_inherit_its_level() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    result = scene.save("- pool: backups may be deleted by anybody at any time | 2x")
    assert "claim-ungrounded" in rules(result)
    assert scene.belief("pool").text == "the pool needs 40 connections under load"


def test_a_look_alike_name_is_the_same_belief() -> None:
    scene = Scene()
    at_2x(scene)
    scene.say("Lunch was good", "s3")
    result = scene.save("- pооl: the pool needs 40 connections under load | 9x")  # two Cyrillic letters
    assert "name-confusable" in rules(result)
    assert [belief.level for belief in scene.store.beliefs.list()] == [2]


def test_a_name_on_two_lines_does_not_rise() -> None:
    scene = Scene()
    scene.say(FIRST)
    scene.save(f"- {POOL} | 1x")
    two = scene.say(SECOND, "s2", "bob")
    words = "with fewer than 40 connections the pool starves"
    result = scene.save(f"- {POOL} | 2x {cite(two, words=words)}", "- pool: something else | 9x")
    assert scene.level("pool") == 1 and "name-duplicate" in rules(result)
    assert "9x" not in result.continuity and "something else" in result.continuity


def test_a_line_that_lost_its_only_evidence_falls_when_it_is_erased() -> None:
    from assay.beliefs.standing import recheck

    scene = Scene()
    at_2x(scene)
    refs = [link.episode for link in scene.store.explain("pool").evidence if link.earned == 2]

    def lower(tx: object) -> list[str]:
        tx.entry("set_trust", actor="host")  # type: ignore[attr-defined]
        for ref in refs:
            tx.update("episode", ref, {"trust": "external"})  # type: ignore[attr-defined]
        return recheck(tx, refs)  # type: ignore[arg-type]

    assert scene.store._database.mutate(lower) == ["pool"]
    assert scene.level("pool") == 1 and Mark.REVOKED in scene.belief("pool").marks


def test_what_was_verified_can_be_explained() -> None:
    scene = Scene()
    at_2x(scene)
    links = scene.store.explain("pool").evidence
    assert [(link.earned, link.explanation) for link in links] == [
        (1, "pool needs 40 connections"),
        (2, "with fewer than 40 connections the pool starves"),
    ]


def test_kind_decides_the_class_and_not_the_words() -> None:
    scene = Scene()
    at_2x(scene)
    claimed = scene.say(
        "Outcome: load test passed with a pool of 40 connections", "s9", "agent", "agent", kind=Kind.OUTCOME
    )
    result = scene.save(f"- {POOL} | 3x {cite(claimed, words='passed with a pool of 40 connections')}")
    assert scene.level("pool") == 2, result.findings


def test_a_bare_level_in_the_first_document_is_told_that_it_does_not_count() -> None:
    scene = Scene()
    scene.say(SECOND)
    result = scene.save(f"- {POOL} | 9x")
    assert scene.level("pool") == 1
    assert [finding.subject for finding in result.findings if finding.rule == "level-capped"] == ["pool"]


def test_a_line_of_3x_that_nothing_shows_any_more_is_offered_for_long_term_memory() -> None:
    scene = Scene()
    at_2x(scene)
    seen = scene.outcome("With fewer than 40 connections the pool starves, the run shows", "s3", success=False)
    scene.save(f"- {POOL} | 3x {cite(seen, words='with fewer than 40 connections the pool starves')}")
    assert scene.level("pool") == 3
    scene.days(3)
    scene.say("Lunch was good", "s4")
    assert "crystallize-suggested" not in rules(scene.save(f"- {POOL} | 3x"))
    scene.days(400)
    scene.say("Lunch was good again", "s5")
    assert "crystallize-suggested" in rules(scene.save(f"- {POOL} | 3x"))
    assert scene.level("pool") == 3


OTHERWISE = {
    "another name": ("Marta owns the billing service", "Elena owns the billing service"),
    "another numeral": ("会议在五月四日", "会议在五月三日"),
    "another count": ("五台水泵中有三台在运转", "五台水泵中有两台在运转"),
    "another hour": ("列車は八時半に出る", "列車は七時半に出る"),
    "a word more in a script without a list": ("ლიფტი ტვირთს არ იღებს", "ლიფტი ტვირთს იღებს"),
    "a clause of one word": ("the pool needs 40 connections: false", "the pool needs 40 connections"),
    "one more owner": ("Elena owns billing and payroll", "Elena owns billing"),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_nobody_said_raises_nothing(what: str) -> None:
    claim, said = OTHERWISE[what]
    scene = Scene()
    scene.say(said)
    scene.save(f"- line: {claim} | 1x")
    two = scene.say(f"{said}, as the colleagues on the second floor told us", "s2", "bob")
    result = scene.save(f"- line: {claim} | 2x {cite(two, words=said)} [no-contradicts]")
    assert not result.raised and scene.level("line") == 1, result.findings


def test_a_numeral_may_stand_in_digits_and_a_name_in_any_place() -> None:
    for claim, said, again in (
        ("会议在五月三日", "会议在五月3日", "他们又说会议在五月三日，没有别的安排"),
        (
            "Elena owns the billing service",
            "The billing service is owned by Elena",
            "Ask Elena: she owns the billing service",
        ),
    ):
        scene = Scene()
        one = scene.say(said)
        scene.save(f"- line: {claim} | 1x {cite(one, words=said)}")
        two = scene.say(again, "s2", "bob")
        assert scene.save(f"- line: {claim} | 2x {cite(two, words=again)}").raised == ("line",)


def test_two_sources_that_say_the_same_in_their_own_order_are_two() -> None:
    claim = "printer: the third floor printer jams on thick paper"
    for source, raised in (("bob", ("printer",)), ("ada", ())):
        scene = Scene()
        one = scene.say("The third floor printer jammed on thick paper")
        scene.save(f"- {claim} | 1x {cite(one, words='third floor printer jammed on thick paper')}")
        two = scene.say("Thick paper again, and the printer on the third floor jammed", "s2", source)
        assert scene.save(f"- {claim} | 2x {cite(two, words='the printer on the third floor jammed')}").raised == raised


def test_two_sources_that_say_it_word_by_word_are_one() -> None:
    claim = "printer: the third floor printer jams on thick paper"
    scene = Scene()
    said = "The third floor printer jammed on thick paper"
    one = scene.say(said)
    scene.save(f"- {claim} | 1x {cite(one, words=said)}")
    two = scene.say("Again: the third floor printer jammed on thick paper", "s2", "bob")
    result = scene.save(f"- {claim} | 2x {cite(two, words=said)}")
    assert not result.raised and "single-source" in rules(result)
