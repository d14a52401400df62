"""Claims about denial, agreement and strength (T7, T8)."""

import pytest

from assay.text import agrees, polarity
from assay.wrap.rules.modality import Strength, strength

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
    ("the job used to run at night", "the job runs at night"),
    ("the job runs at night (as if)", "the job runs at night"),
    ("Does the job run at night?", "the job runs at night"),
    ("der Dienst würde auf Port 5432 lauschen", "der Dienst lauscht auf Port 5432"),
    ("autrefois le service écoutait le port", "le service écoute le port"),
    ("yedekler her gece alınmaz", "yedekler her gece alınır"),
    ("服务器以前监听端口", "服务器监听端口"),
]
AGREED = [
    ("We do not deploy on Friday", "Friday deploys are not allowed"),
    ("the deploy did not fail", "the deploy succeeded"),
    ("deploy on Friday", "deploy on Friday, not on Monday"),
    ("retries are enabled now", "Retries were not enabled before. Retries are enabled now."),
    ("Deploys are allowed in staging", "The pool is not large. Deploys are allowed in staging."),
    ("turned the cache off", "the cache was turned off"),
    ("不同的部署流程", "部署流程"),
    ("the job used to run at night", "In May the job used to run at night"),
    ("the job runs at 3", "The job used to run at 2, now it runs at 3"),
    ("Elena owns billing", "Who owns billing? Elena."),
    ("Ada is allergic to nuts", "No nuts please, Ada is allergic to nuts"),
    ("as notas saem no dia 8", "lembrou que no dia 8 saem as notas"),
    ("der Dienst lauscht nicht auf Port 80", "gemeldet, dass der Dienst nicht auf Port 80 lauscht"),
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


def _denied(text: str) -> set[str]:
    return {word for negation in polarity(text).negations for word in negation.scope}


def test_a_negator_reaches_three_content_words_and_no_further_than_its_clause() -> None:
    assert _denied("not red green blue yellow") == {"red", "green", "blue", "yellow"} - {"yellow"}
    assert _denied("not red, green") == {"red"}
    assert _denied("never red but green") == {"red"}


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


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Deploys go out on Tuesday", "Deploys go out on Tuesday, as previously agreed"),
        ("Deploys go out on Tuesday", "Ana, formerly at Acme, says deploys go out on Tuesday"),
        ("Billing has an owner, Ana", "The Dream team: billing has an owner, Ana"),
        ("The team uses Go", "The team uses Go, hopefully for long"),
        ("The invoices are printed", "The invoices are printed on paper"),
    ],
)
def test_a_remark_that_says_something_of_its_own_frames_only_itself(claim: str, said: str) -> None:
    assert agrees(claim, said)


@pytest.mark.parametrize("said", ["Backups could run at night", "It is possible that backups run at night"])
def test_what_could_be_is_not_what_is(said: str) -> None:
    assert not agrees("Backups run at night", said)
