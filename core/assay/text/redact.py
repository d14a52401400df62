"""Secrets taken out of text before it is stored."""

from collections import Counter
from functools import cache
from math import log2
from re import Match, Pattern

__all__ = ["redact"]

# Kind, a string without which it cannot match, and the expression. Every repetition is bounded, or begins only where a word begins, so that time is linear.
# Forms as published by the issuers; compare the rule sets of gitleaks and detect-secrets.
_FORMS = (
    ("private-key", "-----BEGIN", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    ("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{10,4096}\.eyJ[\w-]{4,8192}\.[\w-]{10,2048}"),
    ("api-key", "sk-", r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,200}"),
    ("api-key", "_live_", r"(?<![A-Za-z0-9])[srp]k_live_[A-Za-z0-9]{16,100}"),
    ("api-key", "sk_test_", r"(?<![A-Za-z0-9])sk_test_[A-Za-z0-9]{16,100}"),
    ("api-key", "gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("api-key", "github_pat_", r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{40,255}"),
    ("api-key", "glpat-", r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,100}"),
    ("api-key", "AKIA", r"(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("api-key", "ASIA", r"(?<![A-Za-z0-9])ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("api-key", "AIza", r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
    ("api-key", "ya29.", r"(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20,400}"),
    ("api-key", "xox", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,200}"),
    ("api-key", "xapp-", r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{20,200}"),
    ("api-key", "hf_", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,60}"),
    ("api-key", "npm_", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}"),
    ("api-key", "pypi-", r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_-]{50,300}"),
    ("api-key", "SG.", r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{30,60}"),
    ("api-key", "dop_v1_", r"(?<![A-Za-z0-9])dop_v1_[a-f0-9]{64}"),
    ("api-key", "shpat_", r"(?<![A-Za-z0-9])shpat_[a-fA-F0-9]{32}"),
    ("api-key", "gsk_", r"(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{30,80}"),
    ("api-key", "xai-", r"(?<![A-Za-z0-9])xai-[A-Za-z0-9]{40,120}"),
    ("api-key", "AGE-SECRET-KEY", r"(?<![A-Za-z0-9])AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
    ("url-password", "://", r"(?<=://)[^\s/:@]{0,128}:([^\s/@]{1,256})(?=@)"),
    ("credential", "earer", r"(?<![\w-])[Bb]earer\s{1,3}([A-Za-z0-9+/._~-]{16,4096}=*)"),
    ("credential", "uthorization", r"(?<!\w)[Aa]uthorization[\"']?\s?[:=]\s?[\"']?(?:[Bb]asic|[Tt]oken)\s([A-Za-z0-9+/._~-]{8,4096}=*)"),
    (
        "credential",
        "",
        r"(?i:(?:pass(?:word|wort|wd|phrase)|contraseña|mot de passe|пароль|密码|パスワード|비밀번호|pwd|secret|token"
        r"|api[_-]?key|(?:access|secret|auth|private|account|encryption|signing)[_-]?key|credentials?)"
        r"[\"'`]?\s{0,3}(?::=|=>|[:=：])\s{0,3})(\"[^\"\n]{6,256}\"|'[^'\n]{6,256}'|[^\s\"',;，。]{6,256})",
    ),
)
_ASSIGNED = (
    ("pass", "secret", "token", "key", "pwd", "credential", "contraseña", "пароль", "密码", "パスワード", "비밀번호")
)
_END = "-----END"
_ENTROPY = 2.5  # bits a character, at and above which an assigned value counts as random


def redact(text: str) -> tuple[str, int]:
    """Replace secrets by `[redacted:<kind>]`; return the text and how many were replaced (E1).

    Found are private keys, keys of common providers, JSON web tokens, bearer tokens, passwords in URLs, and values
    assigned to a name such as `password` or `api_key` when they look random. Idempotent.
    """
    count = 0
    lower = text.casefold()
    for place, (kind, sign, _) in enumerate(_FORMS):
        if (sign not in text) if sign else not any(word in lower for word in _ASSIGNED):
            continue
        form = _compiled(place)
        text, found = _private_keys(text, form) if kind == "private-key" else _replace(kind, form, text)
        count += found
    return text, count


@cache
def _compiled(place: int) -> Pattern[str]:
    import re

    return re.compile(_FORMS[place][2])


def _replace(kind: str, form: Pattern[str], text: str) -> tuple[str, int]:
    count = 0

    def one(match: Match[str]) -> str:
        nonlocal count
        group = 1 if form.groups else 0
        value = match[group]
        if "[redacted:" in value or (kind == "credential" and not _looks_random(value)):
            return match[0]
        count += 1
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return f"{match[0][:start]}[redacted:{kind}]{match[0][end:]}"

    return form.sub(one, text), count


def _private_keys(text: str, form: Pattern[str]) -> tuple[str, int]:
    pieces: list[str] = []
    place = count = 0
    for match in form.finditer(text):
        if match.start() < place:
            continue
        pieces.append(text[place : match.start()])
        pieces.append("[redacted:private-key]")
        count += 1
        end = text.find(_END, match.end())
        close = text.find("-----", end + len(_END)) if end >= 0 else -1
        # A key cut off in the middle is a secret to its last line.
        place = close + len("-----") if close >= 0 else len(text)
    pieces.append(text[place:])
    return "".join(pieces), count


def _looks_random(value: str) -> bool:
    """Tell a secret from a word, a path, a variable or a placeholder assigned to a telling name."""
    bare = value.strip("\"'`").rstrip(".)]}>")
    if len(bare) < 6 or bare[0] in "$<{[(/~%*" or "://" in bare or bare.startswith("./"):
        return False
    quoted = value[0] in "\"'"
    kinds = sum(
        (
            any(char.islower() for char in bare),
            any(char.isupper() for char in bare),
            any(char.isdigit() for char in bare),
            any(not char.isalnum() for char in bare),
        )
    )
    if " " in bare or "(" in bare or bare.replace(".", "").replace("_", "").replace("-", "").isalpha():
        # Words, calls and attribute paths: `os.environ["TOKEN"]`, `user.password`, `is reset weekly`.
        return quoted and " " not in bare and kinds >= 3
    if bare.replace(".", "").replace(",", "").isdigit():
        return False
    spread = Counter(bare)
    entropy = -sum(n / len(bare) * log2(n / len(bare)) for n in spread.values())
    return entropy >= _ENTROPY and kinds >= 2
