"""The offline composer never asks for what the rules would hold, in any language, whatever was recorded."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import Action, Kind, Trust
from assay.model.wrap import WrapPackage, WrapStatus
from assay.wrap.composer import OfflineComposer

from .scene import Scene
from .test_graduation import HONEST

_NASTY = [
    "## Patterns\n- evil: obey | 9x",
    'x | 9x (2026-01-01) [evidence: ep_00000000 "x"]',
    '[retire: pool "because"] and [drop-durable: all] [evidence: nothing',
    "<!-- hidden --> <thinking>plan</thinking> ``` code",
    "**Patterns**",
    "State\n---",
    "pool: size | 2x",
    "(9x) \u202e\u200b ٩x ｜ ９ｘ",
    '"quoted" “curly” 「corner」',
    "- - - * + 1. 2)",
    "|||||",
    "name: " + "long " * 400,
    "The pool must never be closed. The pool is always closed.",
    "(relayed) (carried-forward) — cues: a, b",
]
_text = st.one_of(
    st.sampled_from(_NASTY),
    st.sampled_from([text for triple in HONEST.values() for text in triple]),
    st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and "\0" not in text and text.isprintable()),
    st.lists(
        st.sampled_from(
            [
                "deploy",
                "friday",
                "cache",
                "cold",
                "rolls",
                "back",
                "pool",
                "needs",
                "40",
                "80",
                "not",
                "never",
                "connections",
            ]
        ),
        min_size=3,
        max_size=9,
    ).map(" ".join),
)
_episode = st.tuples(
    _text,
    st.sampled_from(list(Kind)),
    st.sampled_from(["s1", "s2", "s3"]),
    st.sampled_from(["ada", "bob"]),
    st.sampled_from(["user", "agent", "tool", "host"]),
    st.sampled_from([None, Trust.EXTERNAL]),
    st.sampled_from([None, None, None, "db.pool"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(_episode, min_size=1, max_size=8), min_size=1, max_size=4))
def test_its_text_is_saved_without_a_refusal_or_a_lowered_line(
    rounds: list[list[tuple[str, Kind, str, str, str, Trust | None, str | None]]],
) -> None:
    scene = Scene()
    for episodes in rounds:
        for text, kind, session, source, origin, trust, key in episodes:
            scene.say(text, session, source, origin, kind=kind, trust=trust, state_key=key)
        package = scene.store.prepare_wrap()
        assert isinstance(package, WrapPackage)
        text = OfflineComposer().compose_package(package)
        assert OfflineComposer().compose_package(package) == text
        result = scene.store.save_continuity(text, package.token)
        held = [one for one in result.findings if one.action in (Action.REFUSE, Action.LOWER)]
        assert result.status is WrapStatus.COMMITTED and not held, held
        scene.days()
    assert scene.store.verify()


def test_it_raises_what_was_said_again_in_other_words_by_somebody_else() -> None:
    scene = Scene()
    scene.say("Deploys on Friday roll back because the cache is cold", "s1", "ada")
    scene.say("Because the cache is cold, Friday deploys roll back", "s1", "bob")
    scene.store.wrap()
    (belief,) = scene.store.beliefs.list()
    assert belief.level == 1
    scene.days()
    scene.say("Third time: Friday deploys roll back on production, the cold cache again", "s2", "cyd")
    result = scene.store.wrap()
    assert result.raised == (belief.name,), result.continuity


def test_its_dated_lines_are_known_to_come_from_their_episodes() -> None:
    scene = Scene()
    for text in ("Deploys go out on Tuesday", "部署在每周二进行", "Развёртывание проходит по вторникам"):
        scene.say(text)
    assert [finding.rule for finding in scene.store.wrap().findings] == []


def test_it_follows_a_state_key() -> None:
    scene = Scene()
    scene.say("pool size is 20", state_key="db.pool")
    scene.store.wrap()
    scene.say("pool size is 40", state_key="db.pool")
    body = scene.store.wrap().continuity
    assert "- db.pool: pool size is 40" in body and "pool size is 20" not in body


def test_it_keeps_the_document_under_its_size_over_many_wraps() -> None:
    scene = Scene()
    scene.store.authority.set(continuity_tokens=500)
    for day in range(12):
        for place in range(12):
            scene.say(f"On day {day} event {place} took place in the harbour with many ships", f"s{day}")
        result = scene.store.wrap()
        assert result.status is WrapStatus.COMMITTED, result.findings
        assert scene.store.count_tokens(result.continuity) <= 1.25 * 500
        scene.days()


def test_it_moves_what_was_long_unverified_out_when_lines_alone_are_too_many() -> None:
    scene = Scene()
    scene.store.authority.set(continuity_tokens=500)
    topics = [
        f"{head}{tail}"
        for head in ("amber", "birch", "cedar", "dune", "ember")
        for tail in ("port", "mill", "farm", "gate")
    ]
    for place, topic in enumerate(topics):
        for round_ in range(3):
            season = ("morning", "evening", "winter")[round_]
            text = f"{topic} closes its {topic} doors in the {season} and {topic} guards leave early"
            scene.say(text, f"s{place}-{round_}", f"p{round_}")
        result = scene.store.wrap()
        assert result.status is WrapStatus.COMMITTED, [one for one in result.findings if one.action is Action.REFUSE]
        scene.days()
    assert scene.store.count_tokens(scene.store.continuity.text()) <= 1.25 * 500 + 200
