"""Who is speaking to which memory, and the folder in which a user's memory lies."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

__all__ = ["SessionKey", "user_folder"]

_SLUG_CHARS = 24
_DIGEST_CHARS = 16


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Whose memory an event belongs to; found in the context of a hook, never kept on a hook object.

    Attributes:
        user: The host's plain user id; None is fine for a store that serves one user.
        session: The host's conversation; None mints one per run.
        agent: Name under which the agent's own words are recorded.
    """

    user: str | None = None
    session: str | None = None
    agent: str | None = None


def user_folder(user: str) -> str:
    """Name a user's folder: a readable slug and 16 hex digits of SHA-256 of the id.

    The digits keep ids apart on file systems that fold case, and make any id, such as `../x` or `CON`, a plain name.
    """
    letters = [char if "a" <= char <= "z" or "0" <= char <= "9" else "-" for char in user.lower()]
    slug = "-".join(part for part in "".join(letters).split("-") if part)[:_SLUG_CHARS].rstrip("-")
    digest = hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{slug or 'user'}-{digest[:_DIGEST_CHARS]}"
