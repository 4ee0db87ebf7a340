"""Machines of OSWorld's as desktops of ours: against our own server, and against machines that hang, dawdle and lie."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.config.desktop import DesktopConfig
from operant.desktop.osworld.client import OsworldDesktop
from operant.desktop.protocol import Capability
from operant.desktop.providers import make_provider
from operant.desktop.providers.osworld import connect
from operant.errors import (
    ActionNotExpressible,
    CommandTimeout,
    DesktopStartError,
    DesktopTimeout,
    NotSupported,
    PoolExhausted,
    RemoteDesktopError,
    UnknownApplication,
)
from operant.service.desktops.app import guard_settings
from operant.service.desktops.osworld_machines import machine_config
from operant.service.desktops.osworld_server import OSWorldServer
from operant.types import Action, Point

SIZE = DesktopConfig(width=800, height=600, profile="bare")


def png(width: int, height: int, colour: tuple[int, int, int] = (9, 9, 9)) -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(kept, "png")
    return kept.getvalue()


# Against our own server.


@pytest.fixture(scope="module")
def server() -> Iterator[OSWorldServer]:
    guard = guard_settings("127.0.0.1", 0, None)
    with OSWorldServer(2, guard, machine_config(SIZE), chromium_port=0, vlc_port=0) as server:
        yield server


def address(server: OSWorldServer) -> str:
    return f"http://127.0.0.1:{server.machines.machines[0].ports.server}"


@pytest.fixture
def desktop(server: OSWorldServer) -> Iterator[OsworldDesktop]:
    with connect(address(server), SIZE) as desktop:
        yield desktop


@pytest.mark.x11
def test_a_machine_is_seen_and_used(desktop: OsworldDesktop) -> None:
    everything = frozenset(Capability) - {Capability.PROFILES}
    assert desktop.capabilities == everything
    window = desktop.launch(["mousepad"])
    assert (window.wm_class, window.instance, window.focused) == ("Mousepad", "mousepad", True)
    desktop.perform(Action.type("née <b> \"q\" \\ 'x'\nnext"))
    text = desktop.accessibility().find("text")
    assert text is not None
    assert text.text == "née <b> \"q\" \\ 'x'\nnext"
    assert text.box is not None
    assert desktop.last_step.changed
    desktop.perform(Action.key("ctrl", "a"))
    desktop.perform(Action.key("ctrl", "c"))
    assert desktop.clipboard.get() == "née <b> \"q\" \\ 'x'\nnext"
    desktop.clipboard.set("über")
    assert desktop.clipboard.get() == "über"
    desktop.place_window(window, 100, 80, 400, 300)
    (placed,) = desktop.windows()
    assert (placed.x, placed.y, placed.width, placed.height) == (100, 80, 400, 300)
    desktop.perform(Action.move(Point.from_pixel(33, 44, desktop.size)))
    assert desktop.pointer() == (33, 44)
    assert any(one.name == "mousepad" for one in desktop.processes())


@pytest.mark.x11
def test_commands_and_files_are_those_of_the_machine(desktop: OsworldDesktop) -> None:
    done = desktop.run(
        ["sh", "-c", 'cat; echo "$ONE $(pwd)"; exit 3'], stdin=b"in ", env={"ONE": "a'b"}, cwd="/tmp"
    )
    assert (done.returncode, done.stdout) == (3, b"in a'b /tmp\n")
    with pytest.raises(UnknownApplication):
        desktop.run(["nonesuch"])
    with pytest.raises(UnknownApplication):
        desktop.start("nonesuch")
    with pytest.raises(CommandTimeout):
        desktop.run("sleep 20", timeout_s=0.5)
    desktop.files.write("a/ü x.txt", "text", 0o755)
    (entry,) = desktop.files.list("a")
    assert (entry.name, entry.size, entry.is_dir) == ("ü x.txt", 4, False)
    assert desktop.run(["test", "-x", "/home/user/a/ü x.txt"]).returncode == 0
    info = desktop.files.info("a")
    assert info is not None
    assert info.is_dir
    with pytest.raises(FileNotFoundError):
        desktop.files.list("none")
    with pytest.raises(OSError, match="upload"):
        desktop.files.write("/usr/bin/x", b"")


@pytest.mark.x11
def test_a_provider_leases_of_our_server_and_gives_back(server: OSWorldServer, tmp_path: Path) -> None:
    file = tmp_path / "provider.yaml"
    file.write_text(yaml.safe_dump({"osworld": {"urls": [address(server)]}}))
    with make_provider(["osworld"], file) as provider:
        provider.check(SIZE)
        with pytest.raises(DesktopStartError, match="1024x768 was asked for"):
            provider.start(DesktopConfig(width=1024, height=768))
        both = [provider.start(SIZE), provider.start(SIZE)]
        with pytest.raises(RemoteDesktopError, match="in use"):
            provider.start(SIZE)
        for one in both:
            one.close()
    assert not any(machine.holder for machine in server.machines.machines)


@pytest.mark.x11
@pytest.mark.slow
def test_core_tasks_are_evaluated_on_machines(server: OSWorldServer, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from operant.cli.root import app

    file = tmp_path / "provider.yaml"
    file.write_text(yaml.safe_dump({"osworld": {"urls": [address(server)]}}))
    words = [
        "eval",
        "--agent",
        "oracle",
        "--suite",
        "core",
        "--only",
        "terminal-three-notes",
        "--episodes",
        "1",
    ]
    words += ["--provider", "osworld", "--provider-config", str(file), "--screen", "800x600", "--json"]
    done = CliRunner().invoke(app, [*words, "--result-dir", str(tmp_path / "results")])
    assert done.exit_code == 0, done.output
    (score,) = (tmp_path / "results").rglob("result.txt")
    assert float(score.read_text()) == 1.0


# Against machines of others, written from the facts.


class Guest(BaseHTTPRequestHandler):
    answers: dict[str, Callable[[], tuple[int, bytes]]]

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.rfile.read(length)
        status, body = self.answers.get(self.path, lambda: (404, b"{}"))()
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the names are those of the base
    do_DELETE = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None: ...


def said(status: int, value: Any) -> Callable[[], tuple[int, bytes]]:
    return lambda: (status, value if isinstance(value, bytes) else json.dumps(value).encode())


def ran(output: str = "", code: int = 0) -> Callable[[], tuple[int, bytes]]:
    return said(200, {"status": "success", "output": output, "error": "", "returncode": code})


@contextmanager
def guest(**changed: Callable[[], tuple[int, bytes]]) -> Iterator[str]:
    """A machine without our extension, and without X's programs."""
    answers = {
        "/screen_size": said(200, {"width": 320, "height": 200}),
        "/screenshot": said(200, png(320, 200)),
        "/platform": said(200, b"Linux"),
        "/execute": ran("/home/user\n"),
        "/cursor_position": said(200, [1, 2]),
        **{f"/{name}": answer for name, answer in changed.items()},
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Made", (Guest,), {"answers": answers}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_foreign_machine_says_what_it_lacks() -> None:
    with guest() as url, OsworldDesktop(url) as desktop:
        assert tuple(desktop.size) == (320, 200)
        assert Capability.WINDOWS not in desktop.capabilities
        for lacking in (
            desktop.windows,
            desktop.reset,
            lambda: desktop.start("xterm"),
            lambda: desktop.clipboard,
        ):
            with pytest.raises(NotSupported):
                lacking()
        with pytest.raises(ActionNotExpressible, match="ASCII"):
            desktop.perform(Action.type("née"))
        desktop.perform(Action.type("plain"))
        assert desktop.pointer() == (1, 2)
        with pytest.raises(DesktopStartError, match="320x200"):
            OsworldDesktop(url, SIZE)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"screenshot": said(200, png(321, 200))}, "says that its screen is 320x200, and shows 321x200"),
        ({"screen_size": said(200, {"width": -1, "height": "x"})}, "says that its screen is"),
        ({"screenshot": said(200, b"<html>")}, "no PNG"),
        ({"screenshot": said(200, b"\x89PNG\r\n\x1a\nrubbish")}, "can't be read"),
        ({"screenshot": said(503, {"message": "no display"})}, "no PNG"),
        ({"screen_size": said(200, b"<html>")}, "no JSON"),
        ({"execute": said(200, {"status": "success"})}, "without a return code"),
    ],
)
def test_a_machine_that_lies_is_an_error_by_name(changed: dict[str, Any], error: str) -> None:
    with guest(**changed) as url, pytest.raises(RemoteDesktopError, match=error):
        OsworldDesktop(url)


def test_a_machine_that_hangs_or_is_not_there_ends_in_time() -> None:
    gone = threading.Event()
    with guest(screenshot=lambda: (gone.wait(20), (200, b""))[1]) as url:
        began = time.monotonic()
        with pytest.raises(DesktopTimeout, match="did not answer /screenshot"):
            OsworldDesktop(url, timeout_s=0.5)
        assert time.monotonic() - began < 5
        gone.set()
    with pytest.raises(RemoteDesktopError, match="can't be reached"):
        OsworldDesktop(url, timeout_s=2)


def test_a_tree_that_is_no_tree() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    deep = "<a>" * 300 + "</a>" * 300
    for tree, error in ((bomb, "entities"), (deep, "deeper"), ("<a", "no XML")):
        with (
            guest(accessibility=said(200, {"AT": tree})) as url,
            OsworldDesktop(url) as desktop,
            pytest.raises(RemoteDesktopError, match=error),
        ):
            desktop.accessibility()


def test_a_foreign_machine_is_used_by_one_at_a_time(tmp_path: Path) -> None:
    config = DesktopConfig(width=320, height=200)
    with guest() as url:
        file = tmp_path / "provider.yaml"
        file.write_text(yaml.safe_dump({"osworld": {"urls": [url]}}))
        provider = make_provider(["osworld"], file)
        with provider.start(config), pytest.raises(PoolExhausted):
            provider.start(config)
        provider.start(config).close()
