"""A proxy: programs and the browser of a desktop reach the network through it, and their own loopback without it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.tasks.setup import OpenPage

pytestmark = pytest.mark.x11

PAGE = b"<title>Through the proxy</title><p>found"
FETCH = "import sys, urllib.request as r; sys.stdout.buffer.write(r.urlopen(sys.argv[1], timeout=10).read())"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Answers for every site itself, and remembers which."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def do_CONNECT(self) -> None:
        self.asked.append(self.path)
        self.send_error(502)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def proxy() -> Iterator[str]:
    Proxy.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_programs_and_the_browser_go_through_the_proxy(
    fresh: Callable[..., SandboxDesktop], proxy: str, eventually: Any
) -> None:
    desktop = fresh(network=True, proxy=proxy)
    assert desktop.run(["python3", "-c", FETCH, "http://some.example/page"]).stdout == PAGE
    assert Proxy.asked == ["http://some.example/page"]
    refused = desktop.run(["python3", "-c", FETCH, "https://safe.example/"])
    assert refused.returncode != 0
    assert Proxy.asked[1:] == ["safe.example:443"]
    OpenPage(urls=("http://other.example/",)).apply(desktop)
    assert "http://other.example/" in Proxy.asked
    eventually(lambda: any("Through the proxy" in window.title for window in desktop.windows()))


def test_hosts_that_are_exempt_are_reached_directly(fresh: Callable[..., SandboxDesktop], proxy: str) -> None:
    desktop = fresh(network=True, proxy="http://127.0.0.1:9")
    assert desktop.run(["python3", "-c", FETCH, proxy]).stdout == PAGE  # 127.0.0.1 is exempt
    assert Proxy.asked == ["/"]
    assert desktop.run(["python3", "-c", FETCH, "http://some.example/"]).returncode != 0
