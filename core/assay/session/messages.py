"""What adapters do alike with the messages of their hosts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

__all__ = ["arguments_of", "field_of", "question_in"]


def question_in(users: Mapping[int, str], asked: str, end: int) -> tuple[int, str | None]:
    """Find the message that a run answers: others speak in the user's role as well, and behind it.

    Args:
        users: Place -> words of each message in that role, in their order.
        asked: What was recorded as the person's words: `Session.asked`.
        end: The place behind the last message.

    Returns:
        The place before which a briefing stands, and the words to brief for; `end` and None when nobody asks.
    """
    recorded = [place for place, text in users.items() if text == asked]
    place = (recorded or [*users] or [end])[-1]
    return place, users.get(place)


def arguments_of(written: object) -> object:
    """Give what a tool is called with: models write JSON, or nearly so."""
    if not isinstance(written, str):
        return written or {}
    try:
        return json.loads(written or "{}")
    except ValueError:
        return written


def field_of(thing: object, name: str) -> Any:
    """Read a field of what is a mapping or an object, as its author likes; None when it has none."""
    return cast("Mapping[str, Any]", thing).get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
