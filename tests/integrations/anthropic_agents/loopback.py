"""A Messages API on loopback that says what a script says, for the command line tool that the SDK brings along."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assay.testing import Call, Script

__all__ = ["messages_api", "received"]

Answer = Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]]


@contextmanager
def messages_api(script: Script) -> Generator[str, None, None]:
    """Serve the answers of a script, and give the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None: ...

        def do_HEAD(self) -> None:
            self._send(200, b"", "text/plain")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            if "count_tokens" in self.path:
                self._send(200, b'{"input_tokens": 10}', "application/json")
                return
            try:
                blocks = _blocks(script, body)
            except (RuntimeError, AssertionError) as error:
                told = {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}
                self._send(400, json.dumps(told).encode(), "application/json")
                return
            self._send(200, _stream(blocks, body), "text/event-stream")

        def _send(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def received(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Give a request as roles and texts, one for each block."""
    system = body.get("system", [])
    texts = [("system", system)] if isinstance(system, str) else [("system", block["text"]) for block in system]
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            role = "tool" if block["type"] == "tool_result" else message["role"]
            texts.append((role, block.get("text") or json.dumps(block.get("content") or block.get("input"))))
    return texts


def _blocks(script: Script, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    step = script.reply(received(body))
    if isinstance(step, Call):
        return [
            {"type": "tool_use", "id": f"toolu_{step.id}", "name": f"mcp__t__{step.name}", "input": dict(step.args)}
        ]
    return [{"type": "text", "text": str(getattr(step, "text", ""))}]


def _stream(blocks: Sequence[Mapping[str, Any]], body: Mapping[str, Any]) -> bytes:
    stop = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
