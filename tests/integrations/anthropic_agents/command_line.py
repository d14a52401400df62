"""The command line tool's side of the SDK's protocol, played in this process with a scripted model.

It does what the real tool was seen to do: which hooks it calls with what, that it keeps what a hook adds to a prompt,
and that a run which failed ends the process. Tools run where they run in earnest: in the SDK's own MCP server.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ProcessError, Transport

from assay.testing import Call, HandOff, Say, Script

__all__ = ["CommandLine", "Machine"]

SYSTEM = "You are a careful assistant."
SERVER = "t"


@dataclass
class Machine:
    """What outlives a process of the tool: transcripts, tools that were put off, and the model's script.

    Attributes:
        background: A sub-agent works beside the conversation until a notification tells that it is done.
    """

    script: Script
    transcripts: dict[str, list[tuple[str, str]]] = field(default_factory=dict[str, list[tuple[str, str]]])
    deferred: dict[str, Call] = field(default_factory=dict[str, Call])
    background: bool = False


class CommandLine(Transport):
    """One process of the tool, for one conversation."""

    def __init__(self, machine: Machine, options: ClaudeAgentOptions, session: str, *, resume: bool = False) -> None:
        kept = "no-session-persistence" not in options.extra_args
        self.session = session if kept else str(uuid.uuid4())
        self.machine = machine
        self.options = options
        self.transcript = machine.transcripts.setdefault(self.session, []) if kept else []
        self._resumes = resume
        self._hooks: Mapping[str, Any] = {}
        self._out: asyncio.Queue[Any] = asyncio.Queue()
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._turns: list[asyncio.Task[None]] = []
        self._connected = False
        self._prompt: dict[str, str] = {}

    # -- the transport ---------------------------------------------------------------------------------------------

    async def connect(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        await asyncio.gather(*self._turns, return_exceptions=True)
        self._out.put_nowait(None)

    async def close(self) -> None:
        for turn in self._turns:
            turn.cancel()
        self._out.put_nowait(None)

    async def write(self, data: str) -> None:
        message = json.loads(data)
        match message["type"]:
            case "control_request":
                if message["request"]["subtype"] == "initialize":
                    self._hooks = message["request"]["hooks"] or {}
                elif message["request"]["subtype"] == "interrupt":
                    self._turns[-1].cancel()
                    self._result("error_during_execution", None, terminal_reason="aborted_streaming")
                answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
                self._out.put_nowait({"type": "control_response", "response": answer})
                if self._resumes:
                    self._begin(self._go_on())
            case "control_response":
                answer = message["response"]
                self._answers.pop(answer["request_id"]).set_result(answer)
            case "user":
                self._begin(self._turn(message["message"]["content"]))

    def _begin(self, turn: Any) -> None:
        self._turns.append(asyncio.ensure_future(self._ended_well(turn)))

    async def _ended_well(self, turn: Any) -> None:
        try:
            await turn
        except Exception as error:
            self._out.put_nowait(error)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self._out.get()) is not None:
            if isinstance(message, Exception):
                raise message
            yield message

    # -- what it asks of the SDK -----------------------------------------------------------------------------------

    async def _ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        request_id = uuid.uuid4().hex
        self._answers[request_id] = asyncio.get_running_loop().create_future()
        self._out.put_nowait({"type": "control_request", "request_id": request_id, "request": request})
        answer: Mapping[str, Any] = await self._answers[request_id]
        return answer.get("response") or {}

    async def _hook(self, event: str, **given: Any) -> list[Mapping[str, Any]]:
        """Call every hook of an event at once; one that fails has no say."""
        told = {"session_id": self.session, "transcript_path": "", "cwd": "", "hook_event_name": event}
        told |= self._prompt | given
        asked = [
            self._ask({"subtype": "hook_callback", "callback_id": callback, "input": told, "tool_use_id": None})
            for matcher in self._hooks.get(event, ())
            if re.fullmatch(matcher.get("matcher") or ".*", told.get("tool_name", ""))
            for callback in matcher["hookCallbackIds"]
        ]
        return await asyncio.gather(*asked)

    async def _tool(self, name: str, arguments: Mapping[str, Any], server: str) -> tuple[str, Any]:
        """Give the hook that tells of a call of a tool, and what the tool gave."""
        rpc: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
        if not self._connected:
            self._connected = True
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            await self._rpc(server, "initialize", hello)
            await self._ask(
                {
                    "subtype": "mcp_message",
                    "server_name": server,
                    "message": {"jsonrpc": "2.0", "method": "notifications/initialized"},
                }
            )
        answer = await self._rpc(server, "tools/call", rpc)
        if "error" in answer:
            return "PostToolUseFailure", answer["error"]["message"]
        content = answer["result"]["content"]
        if answer["result"].get("isError"):
            return "PostToolUseFailure", "\n".join(block["text"] for block in content)
        return "PostToolUse", content

    async def _rpc(self, server: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        message = {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params}
        answer = await self._ask({"subtype": "mcp_message", "server_name": server, "message": message})
        found: Mapping[str, Any] = answer["mcp_response"]
        return found

    # -- a turn ----------------------------------------------------------------------------------------------------

    async def _turn(self, prompt: str) -> None:
        if prompt == "/compact":
            await self._hook("PreCompact", trigger="manual", custom_instructions=None)
            self.transcript[:] = [("user", "a summary")]
            self._result("success", "")
            return
        if self.machine.background and prompt.startswith("<task-notification>"):
            self.machine.background = False
            told = {"agent_id": "a1", "agent_type": "sub", "stop_hook_active": False}
            await self._hook("SubagentStop", **told, last_assistant_message="I found it at last.")
        self._prompt = {"prompt_id": str(uuid.uuid4())}
        for answer in await self._hook("UserPromptSubmit", prompt=prompt):
            added = answer.get("hookSpecificOutput", {}).get("additionalContext")
            if added:
                said = f"UserPromptSubmit hook additional context: {added}"
                self.transcript.append(("user", f"<system-reminder>\n{said}\n</system-reminder>\n"))
        self.transcript.append(("user", prompt))
        await self._answer()

    async def _go_on(self) -> None:
        """Go on with a tool that was put off: it comes before any prompt."""
        self._prompt = {}
        if await self._call(self.machine.deferred.pop(self.session)):
            await self._turn("Continue from where you left off.")

    async def _answer(self) -> None:
        for turn in range(1, (self.options.max_turns or 99) + 1):
            try:
                said = [("system", SYSTEM), *self.transcript]
                step = await asyncio.to_thread(self.machine.script.reply, said)
            except Exception as error:
                await self._failed(f"API Error: 400 {error}")
                return
            if isinstance(step, Say):
                if await self._said(str(step.text)):
                    return
            elif not await self._call(step):
                return
            elif turn == self.options.max_turns:
                self._result("error_max_turns", None, errors=[f"Reached maximum number of turns ({turn})"])
                self._out.put_nowait(ProcessError("exited", exit_code=1))

    async def _said(self, text: str) -> bool:
        """Say something; False when a hook wants the agent to go on."""
        self._stream(text)
        self._out.put_nowait(self._message("assistant", [{"type": "text", "text": text}]))
        self.transcript.append(("assistant", text))
        tasks = [{"id": "a1", "type": "subagent", "status": "running"}] if self.machine.background else []
        told = {"stop_hook_active": False, "last_assistant_message": text, "background_tasks": tasks}
        for answer in await self._hook("Stop", **told):
            if answer.get("decision") == "block":
                self.transcript.append(("user", answer["reason"]))
                return False
        self._result("success", text)
        return True

    async def _failed(self, text: str) -> None:
        await self._hook("StopFailure", error="unknown", last_assistant_message=text)
        self._result("success", text, is_error=True, terminal_reason="api_error")
        self._out.put_nowait(ProcessError("exited", exit_code=1))

    async def _call(self, step: Call | HandOff) -> bool:
        """Call a tool; False when a hook puts it off."""
        assert isinstance(step, Call)
        if step.name == "ask_sub":
            asked = {"description": "ask", "prompt": step.args["question"], "subagent_type": "sub"}
            return await self._use(Call("Agent", asked, step.id), self.transcript, {})
        return await self._use(step, self.transcript, {})

    async def _use(self, step: Call, transcript: list[tuple[str, str]], of: Mapping[str, str]) -> bool:
        server, _, own = step.name.rpartition(".")
        name = step.name if step.name == "Agent" else f"mcp__{server or SERVER}__{own}"
        told: dict[str, Any] = {"tool_name": name, "tool_input": dict(step.args), "tool_use_id": step.id, **of}
        self._out.put_nowait(
            self._message("assistant", [{"type": "tool_use", "id": step.id, "name": name, "input": dict(step.args)}])
        )
        for answer in await self._hook("PreToolUse", **told):
            if answer.get("hookSpecificOutput", {}).get("permissionDecision") == "defer":
                self.machine.deferred[self.session] = step
                call = {"id": step.id, "name": name, "input": dict(step.args)}
                self._result("success", "", terminal_reason="tool_deferred", deferred_tool_use=call)
                return False
        if name == "Agent":
            event, given = "PostToolUse", await self._sub_agent(step)
        else:
            event, given = await self._tool(own, step.args, server or SERVER)
        await self._hook(event, **told, **({"error": given} if event.endswith("Failure") else {"tool_response": given}))
        text = _text(given["content"] if isinstance(given, dict) else given)
        result = {"type": "tool_result", "tool_use_id": step.id, "content": text, "is_error": event.endswith("Failure")}
        self._out.put_nowait(self._message("user", [result]))
        transcript.append(("tool", text))
        return True

    async def _sub_agent(self, step: Call) -> Mapping[str, Any]:
        of = {"agent_id": "a1", "agent_type": str(step.args["subagent_type"])}
        transcript = [
            ("user", f"SubagentStart hook additional context: {added}")
            for answer in await self._hook("SubagentStart", **of)
            if (added := answer.get("hookSpecificOutput", {}).get("additionalContext"))
        ]
        transcript.append(("user", str(step.args["prompt"])))
        while not isinstance(
            reply := await asyncio.to_thread(self.machine.script.reply, [("system", SYSTEM), *transcript], agent="sub"),
            Say,
        ):
            assert isinstance(reply, Call)
            await self._use(reply, transcript, of)
        text = str(reply.text)
        await self._hook("SubagentStop", **of, stop_hook_active=False, last_assistant_message=text)
        return {"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": text}]}

    # -- what it says ----------------------------------------------------------------------------------------------

    def _message(self, role: str, content: list[Any]) -> dict[str, Any]:
        message = {"role": role, "model": "scripted", "content": content}
        return {"type": role, "message": message, "parent_tool_use_id": None, "session_id": self.session}

    def _stream(self, text: str) -> None:
        if self.options.include_partial_messages:
            for place, word in enumerate(text.split(" ")):
                delta = {"type": "text_delta", "text": f" {word}" if place else word}
                event = {"type": "content_block_delta", "index": 0, "delta": delta}
                self._out.put_nowait({"type": "stream_event", "uuid": "e", "session_id": self.session, "event": event})

    def _result(self, subtype: str, result: str | None, **facts: Any) -> None:
        told = {"type": "result", "subtype": subtype, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
        told |= {"is_error": subtype != "success", "session_id": self.session, "result": result}
        self._out.put_nowait(told | facts)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(block["text"] for block in content)
