"""A server that answers requests from a list, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from operant.agents.base import Agent, TaskView
from operant.agents.hosted import make
from operant.config.hosted import HostedSettings
from operant.types import ActionResult, Node, Observation, Point, Size

KEY = "sk-secret-0123456789"
SCREEN = Size(1280, 800)
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
        disable_nagle_algorithm = True

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
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def agent_of(server: ScriptedServer, vendor: str, model: str = "claude-opus-4-8", **more: Any) -> Agent:
    """An agent of that vendor before its first turn, whose server is the scripted one."""
    path = "/v1" if vendor in ("openai", "chat") else ""
    agent = make(HostedSettings.build(vendor=vendor, model=model, base_url=server.url + path, **more))
    agent.begin(TaskView("Do it.", 150, SCREEN))
    return agent


def seen(
    *results: ActionResult, error: str | None = None, size: Size = SCREEN, tree: Node | None = None
) -> Observation:
    screen = np.zeros((size.height, size.width, 3), np.uint8)
    at = Point(0.5, 0.5)
    return Observation(screen, "Do it.", len(results), 150, at, tree=tree, results=results, error=error)
