"""Secrets taken out of text before it is stored."""

from collections import Counter
from functools import cache
from math import log2
from re import Match, Pattern

__all__ = ["redact"]

# Name and expression. Every repetition is bounded, or begins only where a word begins, so that time is linear.
# Forms as published by the issuers; compare the rule sets of gitleaks and detect-secrets.
_FORMS = (
    ("private-key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
    ("jwt", r"(?<![\w-])eyJ[\w-]{10,4096}\.eyJ[\w-]{4,8192}\.[\w-]{10,2048}"),
    (
        "api-key",
        r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,200}|sk_(?:live|test)_[A-Za-z0-9]{16,100}|rk_live_[A-Za-z0-9]{16,100}"
        r"|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255}|glpat-[A-Za-z0-9_-]{20,100}"
        r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,400}"
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,200}|xapp-[A-Za-z0-9-]{20,200}|hf_[A-Za-z0-9]{30,60}|npm_[A-Za-z0-9]{36}"
        r"|pypi-[A-Za-z0-9_-]{50,300}|SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{30,60}|dop_v1_[a-f0-9]{64}"
        r"|shpat_[a-fA-F0-9]{32}|gsk_[A-Za-z0-9]{30,80}|xai-[A-Za-z0-9]{40,120}|AGE-SECRET-KEY-1[A-Z0-9]{50,70})",
    ),
    ("url-password", r"(?<=://)[^\s/:@]{0,128}:([^\s/@]{1,256})(?=@)"),
    (
        "credential",
        r"(?i:(?<![A-Za-z0-9])authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|bearer|token)|(?<![\w-])bearer)"
        r"\s{1,3}([A-Za-z0-9+/._~-]{16,4096}=*)",
    ),
    (
        "credential",
        r"(?i:(?:password|passwort|passwd|passphrase|contraseña|mot de passe|пароль|密码|パスワード|비밀번호|pwd|secret|token"
        r"|api[_-]?key|apikey|access[_-]?key|secret[_-]?key|auth[_-]?key|private[_-]?key|client[_-]?secret|credentials?)"
        r"[\"'`]?\s{0,3}(?::=|=>|[:=：])\s{0,3})(\"[^\"\n]{6,256}\"|'[^'\n]{6,256}'|[^\s\"',;，。]{6,256})",
    ),
)
_END = "-----END"
_ENTROPY = 2.5  # bits a character, at and above which an assigned value counts as random


def redact(text: str) -> tuple[str, int]:
    """Replace secrets by `[redacted:<kind>]`; return the text and how many were replaced (E1).

    Found are private keys, keys of common providers, JSON web tokens, bearer tokens, passwords in URLs, and values
    assigned to a name such as `password` or `api_key` when they look random. Idempotent.
    """
    signs, forms = _compiled()
    if not signs.search(text):
        return text, 0
    count = 0
    for kind, form in forms:
        if kind == "private-key":
            text, found = _private_keys(text, form)
        else:
            text, found = _replace(kind, form, text)
        count += found
    return text, count


@cache
def _compiled() -> tuple[Pattern[str], tuple[tuple[str, Pattern[str]], ...]]:
    import re

    return re.compile(_SIGNS), tuple((kind, re.compile(form)) for kind, form in _FORMS)


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
