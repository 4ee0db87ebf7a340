"""Remote desktops that are down, slow, full or lying, lines that break, and clients that vanish."""

from __future__ import annotations

import socket
import time
from typing import Any

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.remote_servers import SMALL, TOKEN, DesktopServer

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.remote import RemoteDesktop, RemoteFleet
from operant.desktop.remote.connection import Connection
from operant.desktop.remote.wire import pack, unpack
from operant.errors import (
    ConfigError,
    DesktopClosed,
    DesktopDied,
    DesktopStartError,
    DesktopTimeout,
    RemoteDesktopError,
    Unauthorized,
)
from operant.testing import FakeDesktop
from operant.testing.fake_desktop import Delays
from operant.types import Action, Size


def wait_for(satisfied: Any, timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not satisfied():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


# At the door.


def test_a_server_that_is_down_says_so_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(RemoteDesktopError, match="can't be reached") as failure:
        RemoteDesktop(Connection(nobody(), patience_s=0.2), SMALL)
    assert "operant desktop serve" in (failure.value.hint or "")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("token", [None, "wrong-horse-battery", "", TOKEN + "x"])
def test_without_the_token_nobody_gets_in(token: str | None) -> None:
    with DesktopServer(token=TOKEN) as server:
        with pytest.raises(Unauthorized, match="token is wrong" if token else "wants a token") as failure:
            RemoteDesktop(server.url, SMALL, token=token)
        assert "OPERANT_TOKEN" in (failure.value.hint or "")
        assert httpx.get(f"{server.url}/health").json() == {"status": "ok"}
        with RemoteDesktop(server.url, SMALL, token=TOKEN) as desktop:
            desktop.check()


def test_others_are_let_in_only_with_a_token() -> None:
    from operant.service.desktops.app import guard_settings

    assert guard_settings("127.0.0.1", 0, None).token is None
    with pytest.raises(ConfigError, match="set a token"):
        guard_settings("0.0.0.0", 0, "")
    with pytest.raises(ConfigError, match="at least 16"):
        guard_settings("0.0.0.0", 0, "short")
    assert guard_settings("0.0.0.0", 0, TOKEN).token is not None


@pytest.mark.parametrize("url", ["", "desktop.example", "ftp://a", "http://", "http://a?b", "http://u:p@a"])
def test_an_address_is_checked(url: str) -> None:
    with pytest.raises(ConfigError):
        Connection(url)


def test_something_else_that_listens_there_is_no_desktop_server() -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None:
            pass

    other = HTTPServer(("127.0.0.1", 0), Other)
    Thread(target=other.serve_forever, daemon=True).start()
    try:
        with pytest.raises(RemoteDesktopError, match="message"):
            RemoteDesktop(f"http://127.0.0.1:{other.server_address[1]}", SMALL)
    finally:
        other.shutdown()
        other.server_close()


def test_another_size_than_was_asked_for_is_refused() -> None:
    with DesktopServer() as server:
        with pytest.raises(DesktopStartError, match="are 320x200, and 1280x800 was asked for") as failure:
            RemoteDesktop(server.url, DesktopConfig())
        assert "--width 1280" in (failure.value.hint or "")
        wait_for(lambda: server.host.about()["leased"] == 0)  # and it is given back


def test_another_protocol_is_refused() -> None:
    with DesktopServer() as server:
        said = httpx.post(f"{server.url}/v1/desktops", content=pack({"protocol": 99}))
        assert said.status_code == 422
        assert "protocol 1" in said.json()["message"]


def test_a_full_server_says_so() -> None:
    with (
        DesktopServer() as server,
        RemoteDesktop(server.url, SMALL),
        pytest.raises(RemoteDesktopError, match="no desktop became free"),
    ):
        RemoteDesktop(server.url, SMALL)


# Lies.


class Lying(FakeDesktop):
    """Says one size and shows another."""

    def frame(self) -> Any:
        return np.zeros((100, 100, 3), np.uint8)


def test_a_desktop_that_lies_about_its_size_is_caught() -> None:
    with DesktopServer(factory=Lying) as server, RemoteDesktop(server.url, SMALL) as desktop:  # type: ignore[arg-type]
        for look in (desktop.frame, desktop.glance, lambda: desktop.perform(Action.wait())):
            with pytest.raises(RemoteDesktopError, match="said that it is 320x200 and shows 100x100"):
                look()


# Slowness and breaks.


def test_a_slow_desktop_is_a_time_out() -> None:
    def slow(config: DesktopConfig) -> FakeDesktop:
        return FakeDesktop(config, delays=Delays(step_s=1.0))

    with (
        DesktopServer(factory=slow) as server,
        RemoteDesktop(server.url, SMALL, timeout_s=0.2) as desktop,
        pytest.raises(DesktopTimeout, match=r"did not answer within 0.2 s"),
    ):
        desktop.perform(Action.type("a"))


def test_a_line_that_breaks_is_opened_again_and_nothing_is_done_twice() -> None:
    def slow(config: DesktopConfig) -> FakeDesktop:
        return FakeDesktop(config, delays=Delays(step_s=0.3))

    from threading import Timer

    with DesktopServer(factory=slow) as server, RemoteDesktop(server.url, SMALL) as desktop:
        desktop.launch("mousepad")
        desktop.perform(Action.type("one "))
        server.hang_up()  # between two calls
        desktop.perform(Action.type("two "))
        breaks = Timer(0.1, server.hang_up)  # in the middle of one
        breaks.start()
        desktop.perform(Action.type("three"))
        breaks.join()
        assert desktop._line.reconnects >= 1
        text = desktop.accessibility().find("text")
        assert text is not None
        assert text.text == "one two three"


def test_a_call_that_is_sent_again_gets_the_answer_that_it_had() -> None:
    with DesktopServer() as server, RemoteDesktop(server.url, SMALL) as desktop:
        desktop.launch("mousepad")
        message = {"number": 50, "call": "perform", "known": None}
        message["arguments"] = {"action": {"kind": "type", "text": "x"}}
        path = f"{server.url}/v1/desktops/{desktop.id}/calls"
        first, again = (httpx.post(path, content=pack(message)).content for _ in range(2))
        assert first == again
        assert unpack(first)["frame"]["size"] == [320, 200]
        message["number"] = 49
        assert httpx.post(path, content=pack(message)).status_code == 409


def test_a_lease_that_is_asked_for_again_is_the_same_one() -> None:
    with DesktopServer() as server:
        wanted = pack({"protocol": 1, "id": "0123456789abcdef"})
        first, again = (
            unpack(httpx.post(f"{server.url}/v1/desktops", content=wanted).content) for _ in range(2)
        )
        assert first == again
        assert server.host.about()["leased"] == 1
        for id in (None, 7, "short", "../../etc/passwd-and-more", "x" * 65):
            said = httpx.post(f"{server.url}/v1/desktops", content=pack({"protocol": 1, "id": id}))
            assert said.status_code == 422


def test_a_long_call_does_not_outlive_its_lease() -> None:
    class Patient(FakeDesktop):
        def run(self, *args: Any, **more: Any) -> Any:
            time.sleep(0.6)
            return super().run(*args, **more)

    with (
        DesktopServer(factory=Patient, idle_s=0.3) as server,  # type: ignore[arg-type]
        RemoteDesktop(server.url, SMALL) as desktop,
    ):
        assert desktop.run(["echo", "slow"], timeout_s=5.0).output == "slow\n"


def test_a_server_that_was_started_anew_has_forgotten_its_leases() -> None:
    server = DesktopServer()
    desktop = RemoteDesktop(Connection(server.url, patience_s=5.0), SMALL)
    server.stop()
    with DesktopServer(port=server.port):
        with pytest.raises(DesktopClosed, match="ended this desktop's lease"):
            desktop.check()
        desktop.close()
    with pytest.raises(DesktopClosed):
        desktop.frame()


def test_what_a_vanished_client_leased_comes_back() -> None:
    with DesktopServer(idle_s=0.3) as server:
        vanished = RemoteDesktop(server.url, SMALL)
        wait_for(lambda: server.host.about()["ready"] == 1)
        with RemoteDesktop(server.url, SMALL) as desktop:
            desktop.check()
        with pytest.raises(DesktopClosed):
            vanished.check()


@pytest.mark.parametrize(
    "body", [b"", b"\xc1", b"\x93\x01\x02\x03", pack([1]), pack({"number": "x"}), b"\x81\x01\x02"]
)
def test_malformed_messages_are_refused(body: bytes) -> None:
    with DesktopServer() as server, RemoteDesktop(server.url, SMALL) as desktop:
        for path in ("/v1/desktops", f"/v1/desktops/{desktop.id}/calls"):
            said = httpx.post(server.url + path, content=body)
            assert (said.status_code, said.json()["code"]) == (422, "invalid_setting")
        desktop.check()


def test_a_broken_desktop_is_replaced_by_both_pools() -> None:
    made: list[FakeDesktop] = []

    def make(config: DesktopConfig) -> FakeDesktop:
        made.append(FakeDesktop(config))
        return made[-1]

    with DesktopServer(factory=make) as server:
        fleet = RemoteFleet([server.url])
        with DesktopPool(1, SMALL, factory=fleet.lease) as pool:
            with pool.lease() as desktop:
                made[0].break_with(DesktopDied("the window manager is gone"))
                with pytest.raises(DesktopDied, match="window manager"):
                    desktop.frame()
            with pool.lease(timeout_s=20) as desktop:
                assert desktop.size == Size(320, 200)
        assert len(made) == 2
        fleet.close()


def test_a_fleet_passes_over_a_server_that_is_down() -> None:
    with DesktopServer(2) as server:
        fleet = RemoteFleet([nobody(), server.url])
        with DesktopPool(2, SMALL, factory=fleet.lease) as pool:
            pool.wait_ready(timeout_s=30)
            assert server.host.about()["leased"] == 2
        fleet.close()
    with pytest.raises(ConfigError):
        RemoteFleet([])
