"""A small Chat Completions server whose answers a function gives: for tests of ``chat:`` agents and of what they cost.

It counts the same tokens for every answer. No streaming, no keys.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["ChatReply", "ChatServer"]

USAGE: Mapping[str, Any] = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 40},
}


@dataclass(frozen=True)
class ChatReply:
    """One answer. A ``status`` of 400 and more is an error with the text as its message."""

    text: str
    finish: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, model: str) -> dict[str, Any]:
        if self.status >= 400:
            return {"error": {"message": self.text, "type": "error"}}
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        about = {"id": "1", "object": "chat.completion", "created": 0, "model": model}
        return {**about, "choices": [choice], "usage": USAGE}


class ChatServer:
    """Serves ``answer`` under ``url`` until it is closed. It is called with each request, in a thread of its own."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], str | ChatReply]) -> None:
        self.answer = answer
        self.asked: list[Mapping[str, Any]] = []
        """The requests so far."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, name="chat-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ChatServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(200, {}, {"object": "list", "data": [{"id": "any", "object": "model"}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append(request)
            said = server.answer(request)
            reply = said if isinstance(said, ChatReply) else ChatReply(said)
            self._send(reply.status, reply.headers, reply.body(str(request.get("model"))))

        def _send(self, status: int, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass  # tests need no access log

    return Handler
