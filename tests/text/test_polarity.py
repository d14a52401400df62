"""Claims about denial, agreement and strength (T7, T8)."""

import pytest

from assay.text import Strength, agrees, polarity, strength

SPLIT = [
    ("deploy on Friday", "never deploy on Friday"),
    ("Friday deploys are allowed", "Friday deploys are forbidden"),
    ("the cache is enabled", "the cache is disabled"),
    ("the cache isn't enabled", "the cache is enabled"),
    ("the request failed", "the request succeeded"),
    ("the switch is on", "the switch is off"),
    ("always ask Ada", "never ask Ada"),
    ("Wir deployen freitags nicht", "Wir deployen freitags"),
    ("Der Cache ist kein Problem", "Der Cache ist ein Problem"),
    ("le cache n'est pas vidé", "le cache est vidé"),
    ("le cache n'est pas activé", "le cache est activé"),
    ("el acceso está permitido", "el acceso está prohibido"),
    ("il backup non funziona", "il backup funziona"),
    ("o backup não terminou", "o backup terminou"),
    ("деплой разрешён", "деплой запрещён"),
    ("мы не деплоим", "мы деплоим"),
    ("кеш увімкнено", "кеш вимкнено"),
    ("الخادم لا يعمل", "الخادم يعمل"),
    ("允许周五部署", "不允许周五部署"),
    ("允许部署", "禁止部署"),
    ("金曜日にデプロイしません", "金曜日にデプロイします"),
    ("금요일에 배포하지 않는다", "금요일에 배포한다"),
    ("सर्वर नहीं चलता", "सर्वर चलता"),
]
AGREED = [
    ("We do not deploy on Friday", "Friday deploys are not allowed"),
    ("the deploy did not fail", "the deploy succeeded"),
    ("deploy on Friday", "deploy on Friday, not on Monday"),
    ("retries are enabled now", "Retries were not enabled before. Retries are enabled now."),
    ("Deploys are allowed in staging", "The pool is not large. Deploys are allowed in staging."),
    ("turned the cache off", "the cache was turned off"),
    ("不同的部署流程", "部署流程"),
    ("the door is open", "the moon is far"),
]


@pytest.mark.parametrize(("a", "b"), SPLIT)
def test_a_denial_splits_two_texts(a: str, b: str) -> None:
    assert not agrees(a, b)
    assert not agrees(b, a)


@pytest.mark.parametrize(("a", "b"), AGREED)
def test_an_honest_rewording_agrees(a: str, b: str) -> None:
    assert agrees(a, b)
    assert agrees(b, a)


def test_a_negator_reaches_three_content_words_and_no_further_than_its_clause() -> None:
    assert polarity("not red green blue yellow").negated == {"red", "green", "blue", "yellow"} - {"yellow"}
    assert polarity("not red, green").negated == {"red"}
    assert polarity("never red but green").negated == {"red"}


def test_a_language_without_lists_says_so() -> None:
    assert not polarity("შენახვა დასრულდა").checked
    assert polarity("the cache is full").checked
    assert polarity("42").checked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("must always be skipped", Strength.UNIVERSAL),
        ("may be skipped on Fridays", Strength.PARTIAL),
        ("not all tests pass", Strength.PARTIAL),
        ("skipped on Fridays", Strength.NONE),
        ("alle Tests müssen laufen", Strength.UNIVERSAL),
        ("manchmal fällt er aus", Strength.PARTIAL),
        ("il faut toujours vérifier", Strength.UNIVERSAL),
        ("a veces falla", Strength.PARTIAL),
        ("всегда проверять", Strength.UNIVERSAL),
        ("иногда падает", Strength.PARTIAL),
        ("必须检查", Strength.UNIVERSAL),
        ("可能会失败", Strength.PARTIAL),
        ("必ず確認する", Strength.UNIVERSAL),
        ("항상 확인한다", Strength.UNIVERSAL),
        ("가끔 실패한다", Strength.PARTIAL),
    ],
)
def test_strength_is_what_the_words_claim(text: str, expected: Strength) -> None:
    assert strength(text) is expected
