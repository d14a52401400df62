"""What the calls of DSPy mean to a memory: what was asked, what was answered, and where a prompt holds the question."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel

import dspy
from assay.session import Placement, Session
from assay_integrations.dspy.adapter import Messages

__all__ = ["answer", "briefed", "given", "is_the_hosts", "text"]

# What the host takes beside the inputs of a program, and what it adds to the outputs: how it works, not what is said.
_CONTROLS = frozenset({"signature", "demos", "config", "lm", "max_iters", "rollout_id"})
_THOUGHTS = frozenset({"reasoning", "trajectory", "history", "termination_reason"})
_NO_WORDS = (dspy.History, dspy.Tool, dspy.ToolCalls)


def given(inputs: Mapping[str, Any]) -> dict[str, str]:
    """Give what a module is called with, by name: past turns, tools and settings are not what it is asked."""
    named: dict[str, Any] = {**{str(at): one for at, one in enumerate(inputs.get("args", ()))}, **inputs["kwargs"]}
    return _words((name, value) for name, value in named.items() if name not in _CONTROLS)


def answer(outputs: object) -> str | None:
    """Give what a module answers; None for nothing. Thoughts on the way to it are left out."""
    if outputs is None or isinstance(outputs, str):
        return outputs
    if not isinstance(outputs, dspy.Prediction):
        return _plain(outputs)
    told: Any = outputs.items()
    items: list[tuple[str, Any]] = list(told)
    said = _words((name, value) for name, value in items if name not in _THOUGHTS)
    return text(said or _words(items))


def text(words: Mapping[str, str]) -> str:
    """Give named words as one text: one alone as it is, several each behind its name."""
    return "\n".join(words.values() if len(words) == 1 else (f"{name}: {value}" for name, value in words.items()))


def briefed(session: Session, asked: Iterable[str], messages: Messages) -> Messages:
    """A prompt was formed: give it with what memory holds before the newest message that holds the question."""
    block = session.briefing().text
    if not block or any(block in _content(message) for message in messages):
        return messages
    if session.options.placement is Placement.SYSTEM and messages[0]["role"] == "system":
        system = {**messages[0], "content": f"{_content(messages[0])}\n\n{block}"}
        return [system, *messages[1:]]
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    asking = [place for place in users if any(one and one in _content(messages[place]) for one in asked)]
    place = (asking or users or [len(messages)])[-1]
    return [*messages[:place], {"role": "user", "content": block}, *messages[place:]]


def is_the_hosts(tool: Any) -> bool:
    """Tell whether a tool is the host's own, with which an agent says that it has finished."""
    return str(getattr(getattr(tool, "func", None), "__module__", "")).startswith("dspy.predict.")


def _words(items: Iterable[tuple[str, Any]]) -> dict[str, str]:
    told = ((name, value) for name, value in items if value is not None and not _is_no_word(value))
    return {name: _plain(value) for name, value in told}


def _is_no_word(value: object) -> bool:
    if not isinstance(value, list):
        return isinstance(value, _NO_WORDS)
    items = cast("list[object]", value)
    return bool(items) and all(map(_is_no_word, items))


def _plain(value: Any) -> str:
    """Give a value as text or JSON; media are named, never dumped."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_named)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _named(value: object) -> object:
    if isinstance(value, dspy.Type):
        return f"[{type(value).__name__}]"
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _content(message: Mapping[str, Any]) -> str:
    content: object = message.get("content")
    if not isinstance(content, list):
        return "" if content is None else str(content)
    parts = cast("list[dict[str, Any]]", content)
    return "\n".join(str(part.get("text") or "") for part in parts)
