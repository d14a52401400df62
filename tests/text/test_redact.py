"""Claims about secrets in text (E1). The secrets are made up: each is its issuer's form filled with noise."""

import hashlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text import redact

NOISE = "q7Zk2Vx9Lm4Tb8Rw3Nc6Yd1Hs5Gf0PjAeUoIiKtBvXzQyWl"


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        ("sk-" + NOISE, "api-key"),
        ("sk-ant-api03-" + NOISE, "api-key"),
        ("sk_live_" + NOISE[:24], "api-key"),
        ("ghp_" + NOISE[:36], "api-key"),
        ("github_pat_" + NOISE, "api-key"),
        ("glpat-" + NOISE[:20], "api-key"),
        ("AKIA" + "Q7ZK2VX9LM4TB8RW", "api-key"),
        ("AIza" + NOISE[:35], "api-key"),
        ("xoxb-123456789012-" + NOISE[:24], "api-key"),
        ("hf_" + NOISE[:34], "api-key"),
        ("npm_" + NOISE[:36], "api-key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + NOISE[:43], "jwt"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{NOISE}\n{NOISE}\n-----END RSA PRIVATE KEY-----", "private-key"),
        (f"-----BEGIN PRIVATE KEY-----\n{NOISE}", "private-key"),
    ],
)
def test_a_secret_is_replaced_wherever_it_stands(secret: str, kind: str) -> None:
    for text in (secret, f"use {secret}", f"({secret})", f"钥匙是{secret}", f"'{secret}'"):
        safe, count = redact(text)
        assert count == 1
        assert f"[redacted:{kind}]" in safe
        assert NOISE[:16] not in safe


@pytest.mark.parametrize(
    "text",
    [
        f"password={NOISE[:16]}",
        f"password: {NOISE[:16]}",
        f'"api_key": "{NOISE[:20]}"',
        f"API_KEY='{NOISE[:20]}'",
        f"DB_PASSWORD={NOISE[:12]}",
        "passwd: hunter2hunter",
        "password = 'Tr0ub4dor&3'",
        f"client_secret={NOISE[:24]}",
        f"Authorization: Bearer {NOISE[:32]}",
        f"curl -H 'authorization: bearer {NOISE[:32]}'",
        f"postgres://ada:{NOISE[:10]}@db.example.com/app",
        f"пароль: {NOISE[:12]}",
        f"密码：{NOISE[:12]}",
        f"token: {hashlib.sha256(b'x').hexdigest()}",
    ],
)
def test_an_assigned_secret_is_replaced_and_its_name_is_kept(text: str) -> None:
    safe, count = redact(text)
    assert count == 1
    assert "[redacted:" in safe
    assert NOISE[:10] not in safe
    assert safe[:3] == text[:3]


@pytest.mark.parametrize(
    "text",
    [
        "the password is reset weekly",
        "the password: see the vault in the office",
        "Tokens: about five hundred",
        "token_counter = len",
        "max_tokens: 4096, tokens=1200",
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD}",
        "api_key=<your key>",
        "secret: /run/secrets/database_password",
        "key=value, primary key: user_id",
        "the secret: patience",
        "see https://example.com/a:b@c",
        "mail ada@example.com",
        f"sha256 {hashlib.sha256(b'a').hexdigest()}",
        f"digest: {hashlib.sha256(b'a').hexdigest()}",
        f"commit {hashlib.sha1(b'a').hexdigest()}",
        f"run {uuid.UUID(int=0x550E8400E29B41D4A716446655440000)}",
        "/usr/lib/python3.11/site-packages/assay_memory/tokens.py",
        "core/assay/text/redact.py:120",
        "ep_k3v9q2ma and in_7f3k2m9qxw",
        "a bearer of good news arrived",
        "sk-learn and ghp are not keys",
        "the risk-adjusted-return-of-the-portfolio-was-fine",
        "Пароль меняется каждую неделю",
    ],
)
def test_plain_text_is_left_alone(text: str) -> None:
    assert redact(text) == (text, 0)


@given(st.text(st.characters(), max_size=80))
def test_redacting_never_fails_and_twice_is_once(text: str) -> None:
    safe, _ = redact(text)
    assert redact(safe) == (safe, 0)


PARTS = ["password=", "token: ", NOISE[:14], " ", "\n", "://", "u:", "@h", "'", "Bearer "]


@given(st.lists(st.sampled_from(PARTS), max_size=9))
def test_no_arrangement_of_secrets_survives_a_first_pass(parts: list[str]) -> None:
    safe, _ = redact("".join(parts))
    assert redact(safe) == (safe, 0)
