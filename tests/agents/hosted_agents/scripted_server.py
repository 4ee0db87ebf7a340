"""A server that answers requests from a list, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Scripted = tuple[int, Any, dict[str, str]]


class ScriptedServer:
    """``replies`` are given in order, (status, JSON or bytes, headers); ``asked`` are the requests."""

    def __init__(self) -> None:
        self.replies: list[Scripted] = []
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def then(self, body: Any, status: int = 200, **headers: str) -> ScriptedServer:
        self.replies.append((status, body, headers))
        return self


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    script = ScriptedServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            script.asked.append({"path": self.path, "headers": dict(self.headers), "body": body})
            status, reply, headers = script.replies.pop(0)
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
