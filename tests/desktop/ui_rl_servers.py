"""UI-RL servers for tests: ours on fake desktops, and plain ones that answer whatever a test wants, over real HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import uvicorn

from operant.config.desktop import DesktopConfig
from operant.service.desktops.app import guard_settings
from operant.service.desktops.ui_rl import create_ui_rl_app
from operant.service.desktops.ui_rl_sessions import UIRLSessions, session_types
from operant.service.listening import listen
from operant.testing import FAKE_TEMPLATES, FakeDesktop

SIZE = DesktopConfig(width=1280, height=800)
TYPE = "press_button"


class UiRlTestServer:
    """Our server in a thread, on desktops that are fake unless said otherwise."""

    def __init__(
        self,
        count: int = 1,
        *,
        token: str | None = None,
        port: int = 0,
        factory: Callable[[DesktopConfig], Any] = FakeDesktop.factory,
        **options: Any,
    ) -> None:
        self.sessions = UIRLSessions(
            count,
            session_types(FAKE_TEMPLATES),
            SIZE,
            factory=factory,
            **{"default_type": TYPE, "lease_wait_s": 0.3, **options},
        )
        listening = listen("127.0.0.1", port)
        self.port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        app = create_ui_rl_app(self.sessions, guard_settings("127.0.0.1", self.port, token))
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)

    @property
    def leased(self) -> int:
        return self.sessions.pool.status().leased

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()

    def __enter__(self) -> UiRlTestServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


Answer = tuple[int, str, bytes]
"""Status, content type, body."""


class PlainServer:
    """Answers requests by a function of method and path with its query; keeps what was asked."""

    def __init__(self, answer: Callable[[str, str], Answer]) -> None:
        asked: list[tuple[str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def _do(self) -> None:
                asked.append((self.command, self.path))
                status, kind, body = answer(self.command, self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = _do  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.asked = asked
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> PlainServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
