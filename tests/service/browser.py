"""Debian's chromium, driven by Playwright, and a service with a dashboard in this process for it to look at."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Error as PlaywrightError
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
BLOCKED = "Service Worker registration blocked by Playwright"
PATIENCE_MS = 30_000  # a busy machine; what is there sooner is seen sooner
SHUTDOWN_S = 30.0
PAGE_S = 150.0  # before pytest's own limit ends the whole run of tests
CLOSE_S = 20.0

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
    """A chromium that is kept, pages in contexts of their own, and what the pages complained about.

    A browser can hang, and most calls of Playwright have no time limit. A watchdog kills its processes; the hanging
    call then raises, and the next page gets a new browser.
    """

    launch: Callable[[], Any]
    complaints: list[str] = field(default_factory=list)
    page_s: float = PAGE_S
    close_s: float = CLOSE_S
    _running: Any = None
    _group: int = 0

    @contextlib.contextmanager
    def page(self, size: tuple[int, int], *, installable: bool = False, **options: Any) -> Iterator[Page]:
        """``installable`` lets the page register its service worker.

        Chromium can hang in ``Target.disposeBrowserContext`` while a service worker starts, so no other page may.
        """
        phone = size[0] < 600
        if self._running is None or not self._running.is_connected():
            self._running = self.launch()
            self._group = _process_group(self._running)
        try:
            with self._killed_after(self.page_s):
                context = self._running.new_context(
                    viewport={"width": size[0], "height": size[1]},
                    is_mobile=phone,
                    has_touch=phone,
                    service_workers="allow" if installable else "block",
                    **options,
                )
                page = context.new_page()
                page.set_default_timeout(PATIENCE_MS)
                page.on("console", self._hear)
                page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
                yield page
            self._close(context)
        except BaseException:  # such as a time-out while it opens: the next page gets a new browser
            self._kill()
            raise

    def _close(self, context: Any) -> None:
        """What the test wanted to see was seen: a browser that hangs now is killed, and the test passes."""
        try:
            with self._killed_after(self.close_s):
                context.close()
        except PlaywrightError as error:
            self._kill()
            warnings.warn(f"chromium was killed, it did not close a page: {error.message}", stacklevel=2)

    @contextlib.contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        watchdog = threading.Timer(seconds, os.killpg, (self._group, signal.SIGKILL))
        watchdog.daemon = True
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()

    def _kill(self) -> None:
        self._running = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._group, signal.SIGKILL)

    def _hear(self, message: Any) -> None:
        if message.type in LOUD and message.text != BLOCKED:
            self.complaints.append(f"{message.type}: {message.text}")


def _process_group(running: Any) -> int:
    """Playwright starts a browser in a process group of its own."""
    found = running.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    (browser,) = (one["id"] for one in found if one["type"] == "browser")
    group = os.getpgid(browser)
    assert group != os.getpgid(0), "the browser would take the tests along"
    return group


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program is not None, "apt-get install chromium (requirements/apt.txt)"
    with sync_playwright() as playwright:
        yield Browser(
            partial(playwright.chromium.launch, executable_path=program, args=FLAGS, timeout=2 * PATIENCE_MS)
        )
