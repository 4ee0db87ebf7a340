"""Desktop servers on this machine for tests: real HTTP, desktops that are fake unless said otherwise."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import uvicorn

from operant.config.desktop import DesktopConfig
from operant.service.desktops.app import create_desktop_app, guard_settings
from operant.service.desktops.host import DesktopHost
from operant.service.listening import listen
from operant.testing import FakeDesktop

SMALL = DesktopConfig(width=320, height=200)
TOKEN = "correct-horse-battery"


class DesktopServer:
    """A server in a thread; ``stop`` and ``start`` are a machine that goes down and comes back."""

    def __init__(
        self,
        count: int = 1,
        config: DesktopConfig = SMALL,
        *,
        token: str | None = None,
        factory: Callable[[DesktopConfig], Any] = FakeDesktop.factory,
        port: int = 0,
        **host: Any,
    ) -> None:
        self.host = DesktopHost(count, config, factory=factory, **{"lease_wait_s": 0.3, **host})
        guard = guard_settings("127.0.0.1", port, token)
        listening = listen("127.0.0.1", port)
        self.port = listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = uvicorn.Server(
            uvicorn.Config(create_desktop_app(self.host, guard), log_config=None, timeout_graceful_shutdown=1)
        )
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 10
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)

    def hang_up(self) -> None:
        """Cut every line that is open, as a router that was switched off and on again would."""
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()  # type: ignore[union-attr]

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()

    def __enter__(self) -> DesktopServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
