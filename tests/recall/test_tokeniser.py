"""An index knows by which rules its terms were made: whoever changes them must raise its number."""

from __future__ import annotations

from hashlib import sha256

from assay.recall.index import TOKENISER
from assay.text import terms
from assay.text.lexicon import lines

# What decides over the terms of a text, beside the code that the sample shows.
LISTS = ("stop", "light", "irregular", "endings_latin", "endings_ko", "elisions")
SAMPLE = (
    "We will deploy `billing-service` v2.14.1 on Tuesday at 14:30; "
    "it isn't Elena's, it's O'Reilly's; PDF cost 1,200 EUR.",
    "Die Datenbanken sollten möglichst früh gesichert werden; Straße, Größe und Häuser.",
    "L'équipe n'utilise plus l'ancienne base. ¿Dónde está la reunión? Não há reunião.",
    "Мы нужно перенесли резервные копии; раніше їх робили щодня.",
    "نحن نستخدم قاعدة البيانات الجديدة",
    "デプロイは火曜日に行います。部署在星期二进行。배포는 화요일에 합니다.",
    "บริการเรียกเก็บเงิน हम मंगलवार को तैनात करते हैं",
    "camelCaseName snake_case_name HTTPServer2 a/b/c.txt user@example.com x3f2 #42",
)
KNOWN = {4: "eefda79595d4a41d"}


def test_terms_are_those_of_the_number_that_the_index_carries() -> None:
    """When this fails, an index that exists holds other terms than a text gives now: raise TOKENISER."""
    digest = sha256()
    for name in LISTS:
        digest.update("\n".join(lines(name)).encode())
    for text in SAMPLE:
        digest.update("\0".join(terms(text)).encode())
    assert KNOWN.get(TOKENISER) == digest.hexdigest()[:16]
