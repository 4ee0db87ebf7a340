"""The page that shows a run: one HTML file, its numbers as JSON, its desktops as JPEG. On 127.0.0.1 only."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Protocol

from operant.errors import ConfigError

__all__ = ["LivePage"]


class _Shown(Protocol):
    def state(self) -> bytes: ...

    def picture(self, index: int) -> bytes | None: ...


class LivePage:
    """A small server in a thread of its own."""

    def __init__(self, shown: _Shown, port: int = 0) -> None:
        page = (files("operant.train") / "page" / "live.html").read_bytes()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                name, _, number = path.strip("/").partition("/")
                if path == "/":
                    self._answer(page, "text/html; charset=utf-8")
                elif path == "/state":
                    self._answer(shown.state(), "application/json")
                elif name == "desktop" and number.isdigit() and len(number) < 5:
                    self._answer(shown.picture(int(number)), "image/jpeg")
                else:
                    self._answer(None, "")

            def _answer(self, content: bytes | None, kind: str) -> None:
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", kind or "text/plain")
                self.send_header("Content-Length", str(len(content or b"")))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                try:
                    self.wfile.write(content or b"")
                except ConnectionError:
                    self.close_connection = True  # whoever asked has left

            def log_message(self, format: str, *args: Any) -> None:
                """Nobody wants a line for every picture."""

        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError as error:
            raise ConfigError(f"port {port} can't be used: {error.strerror}", hint="run.port: 0") from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.2,), name="operant-page", daemon=True
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(timeout=5)
        self._server.server_close()
