"""What the entries of a transcript mean to a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from claude_agent_sdk import ResultError

from assay.session import Session
from assay_integrations.anthropic_agents.events import by_host, plain, tool_name

__all__ = ["Transcript"]

Block = Mapping[str, Any]


class Transcript:
    """Tells a session what the transcript of one conversation says, entry by entry, as it grows."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls: dict[str, str] = {}

    def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Record new entries; those that are not of the conversation itself say nothing."""
        for entry in entries:
            if entry["type"] in ("user", "assistant") and not entry.get("isSidechain") and not entry.get("isMeta"):
                content = cast("str | Sequence[Block]", entry["message"]["content"])
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
                for block in blocks:
                    self._tell(entry, block)

    def _tell(self, entry: Mapping[str, Any], block: Block) -> None:
        match entry["type"], block["type"]:
            case "user", "text":
                if not by_host({"prompt": block["text"], "source": entry.get("promptSource", "sdk")}):
                    self._session.end()  # of no run does a transcript say that it has ended
                    self._session.run_started(id=entry.get("promptId"))
                    self._session.user_message(block["text"], id=entry.get("uuid"))
            case "user", "tool_result":
                self._settle(block)
            case "assistant", "text" if entry.get("isApiErrorMessage"):
                self._session.run_failed(ResultError(block["text"]))
            case "assistant", "text":
                self._session.agent_message(block["text"], id=entry.get("uuid"))
            case "assistant", "tool_use":
                name = self._calls[block["id"]] = tool_name(block["name"])
                self._session.tool_call(name, block["input"], call_id=block["id"])
            case _:  # thinking, images, and what only the host reads
                pass

    def _settle(self, block: Block) -> None:
        call_id = block["tool_use_id"]
        name, result = self._calls.get(call_id, "tool"), plain(block.get("content") or "")
        if block.get("is_error"):
            self._session.tool_error(name, str(result), call_id=call_id)
        else:
            self._session.tool_result(name, result, call_id=call_id)
