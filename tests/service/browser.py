"""Debian's chromium, driven by Playwright, and a service with a dashboard in this process for it to look at."""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Page, expect, sync_playwright
from tests.service.conftest import wait_for

from operant.config.service import ServiceConfig
from operant.service.app import create_app
from operant.service.runtime import Runtime

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
]  # Docker and root need the first and the last
STAND_IN = (sys.executable, str(Path(__file__).with_name("train_stand_in.py")))
LOUD = ("error", "warning")
PATIENCE_MS = 30_000  # a busy machine; what is there sooner is seen sooner
SHUTDOWN_S = 30.0

expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Served:
    """A service, and where it is."""

    runtime: Runtime
    url: str


@contextlib.contextmanager
def served(root: Path, **parts: Any) -> Iterator[Served]:
    """``parts`` are those of Runtime; settings go by ``settings``."""
    settings = parts.pop("settings", {})
    config = ServiceConfig(
        data_dir=root / "data",
        results_dir=root / "results",
        checkpoints_dir=root / "checkpoints",
        training_command=STAND_IN,
        **{"agent": "random", **settings},
    )
    runtime = Runtime(config, **parts)
    server = uvicorn.Server(uvicorn.Config(create_app(config, runtime), port=0, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_for(lambda: server.started and runtime.ready, 60.0, "a service that is ready")
        yield Served(runtime, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
    finally:
        server.should_exit = server.force_exit = True
        thread.join(SHUTDOWN_S)
    assert not thread.is_alive(), f"the service did not shut down within {SHUTDOWN_S:g} s"


@dataclass
class Browser:
    """A chromium that is kept, pages in contexts of their own, and what the pages complained about."""

    launch: Callable[[], Any]
    complaints: list[str] = field(default_factory=list)
    _running: Any = None

    @contextlib.contextmanager
    def page(self, size: tuple[int, int]) -> Iterator[Page]:
        phone = size[0] < 600
        if self._running is None or not self._running.is_connected():
            self._running = self.launch()
        try:
            context = self._running.new_context(
                viewport={"width": size[0], "height": size[1]}, is_mobile=phone, has_touch=phone
            )
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.on("console", self._hear)
            page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
            yield page
            context.close()
        except BaseException:  # such as a time-out while it opens or closes: the next page gets a new browser
            self._running = None
            raise

    def _hear(self, message: Any) -> None:
        if message.type in LOUD:
            self.complaints.append(f"{message.type}: {message.text}")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program is not None, "apt-get install chromium (requirements/apt.txt)"
    with sync_playwright() as playwright:
        yield Browser(
            partial(playwright.chromium.launch, executable_path=program, args=FLAGS, timeout=2 * PATIENCE_MS)
        )
