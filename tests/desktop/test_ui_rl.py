"""UI-RL's protocol: our server against a client written from the facts, our client against servers written from the
facts, both against each other, and everything that may go wrong between them."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
import pytest
from PIL import Image

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Capability
from operant.desktop.ui_rl import UiRlDesktop, UiRlFleet, speaks_ui_rl
from operant.envs.task_environment import TaskEnvironment
from operant.errors import (
    AccessibilityError,
    ActionNotExpressible,
    ConfigError,
    DesktopClosed,
    InvalidAction,
    NotSupported,
    OperantError,
    RemoteDesktopError,
    Unauthorized,
    UnknownTask,
    VerifierError,
)
from operant.pictures.png import png_bytes
from operant.service.desktops.ui_rl_sessions import session_types
from operant.tasks.loaders import load_templates
from operant.tasks.ui_rl import SessionTemplate, is_done, session_task
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, ActionKind, Button, Outcome, Point

from .remote_servers import DesktopServer
from .ui_rl_servers import TYPE, Answer, PlainServer, UiRlTestServer

TOKEN = "correct-horse-battery"
PRESS = FAKE_TEMPLATES[0]
HTML = (200, "text/html", b"<!doctype html><html><body>Welcome to nginx</body></html>")


@pytest.fixture(scope="module")
def server() -> Iterator[UiRlTestServer]:
    with UiRlTestServer(2) as server:
        yield server


def target_of(seed: int) -> tuple[str, Point]:
    """The button that a session of that seed wants, and where it is."""
    desktop = FakeDesktop(DesktopConfig(width=1280, height=800))
    task = PRESS.instance(seed)
    task.begin(desktop)  # type: ignore[arg-type]
    node = desktop.accessibility(app="panel").find("push button", task.parameters["target"])
    assert node is not None
    assert node.box is not None
    x, y, width, height = node.box
    return task.instruction, Point.from_pixel(x + width // 2, y + height // 2, desktop.size)


# Our server, and a client of the first generation.


def picture(answer: httpx.Response) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/png"
    return np.array(Image.open(io.BytesIO(answer.content)))


def test_a_client_of_the_first_generation(server: UiRlTestServer) -> None:
    with httpx.Client(base_url=server.url) as http:
        assert http.get("/").status_code == 200
        made = http.post("/session", params={"type": TYPE, "n": 1, "seed": 5})
        made.raise_for_status()
        (id,) = made.json()["session_ids"]
        assert isinstance(id, int)
        before = picture(http.get(f"/session/{id}/screenshot"))
        assert before.shape == (800, 1280, 3)
        assert http.get(f"/session/{id}/progress").json()["progress"] == 0.0
        _, point = target_of(5)
        at = dict(zip("xy", (int(point.x * 1280), int(point.y * 800)), strict=True))
        after = picture(
            http.get(f"/session/{id}/act", params={"action_type": "left_click", **at, "delay": 0.05})
        )
        assert not np.array_equal(before, after)
        progress = http.get(f"/session/{id}/progress").json()
        assert progress["progress"] == 1.0
        assert progress["done"] is True
        assert progress["criteria"][0]["holds"] is True
        assert http.get(f"/session/{id}").json()["action_count"] == 1
        assert str(id) in http.get("/status").json()
        assert http.delete(f"/session/{id}").json() == {"deleted": id}
        assert http.get(f"/session/{id}/screenshot").status_code == 404
        assert http.get("/status").json() == {}
    assert server.leased == 0


def test_several_sessions_at_once_have_desktops_of_their_own(server: UiRlTestServer) -> None:
    with httpx.Client(base_url=server.url) as http:
        one, other = http.post("/session", params={"type": TYPE, "n": 2, "seed": 5}).json()["session_ids"]
        _, point = target_of(5)
        at = {"x": int(point.x * 1280), "y": int(point.y * 800)}
        http.get(f"/session/{one}/act", params={"action_type": "left_click", **at}).raise_for_status()
        assert http.get(f"/session/{one}/progress").json()["done"] is True
        assert http.get(f"/proxy/{one}/progress").json()["done"] is True  # as behind UI-RL's proxy
        assert http.get(f"/session/{other}/progress").json()["done"] is False
        assert http.get(f"/proxy/{other}/").status_code == 200
        full = http.post("/session", params={"type": TYPE})
        assert full.status_code == 503
        assert full.json()["code"] == "no_free_desktop"
        for id in (one, other):
            http.delete(f"/session/{id}").raise_for_status()


def test_a_client_of_the_second_generation() -> None:
    with UiRlTestServer() as server, httpx.Client(base_url=server.url) as http:
        assert server.leased == 0  # begins with the first call
        before = picture(http.get("/act", params={"action_type": "screenshot"}))
        assert http.get("/progress").json()["done"] is False
        for given in (
            {"action_type": "mouse_move", "x": 5, "y": 5},
            {"action_type": "type", "text": "a"},
            {"action_type": "keys", "keys": "ctrl+a"},
            {"action_type": "scroll", "direction": "down", "x": 10, "y": 10},
            {"action_type": "double_click", "x": 3, "y": 3},
        ):
            picture(http.get("/act", params=given))
        assert server.leased == 1
        again = http.post("/reset")
        again.raise_for_status()
        assert picture(http.get("/act", params={"action_type": "screenshot"})).shape == before.shape


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/session/7/screenshot", 404, "there is no session 7"),
        ("/session/7/act?action_type=screenshot", 404, "there is no session 7"),
        ("/session/7/progress", 404, "there is no session 7"),
        ("/proxy/7/progress", 404, "there is no session 7"),
        ("/session/x/progress", 422, "whole number"),
        ("/session/{id}/act", 422, "action_type"),
        ("/session/{id}/act?action_type=left_klick&x=1&y=1", 422, "did you mean 'left_click'"),
        ("/session/{id}/act?action_type=left_click&x=1", 422, "left_click needs y"),
        ("/session/{id}/act?action_type=left_click&x=one&y=1", 422, "x"),
        ("/session/{id}/act?action_type=left_click&x=1280&y=1", 422, "off the 1280x800 screen"),
        ("/session/{id}/act?action_type=keys&keys=ctrl%2Bnonesuch", 422, "unknown key"),
        ("/session/{id}/act?action_type=scroll&direction=left", 422, "unknown direction"),
        ("/session/{id}/act?action_type=type&text=a&delay=-1", 422, "delay"),
        ("/session/{id}/act?action_type=type&text=a&delay=1e9", 422, "delay"),
        ("/session/{id}/act?action_type=type&text=a&delay=nan", 422, "delay"),
    ],
)
def test_bad_requests_say_what_is_wrong(server: UiRlTestServer, path: str, status: int, said: str) -> None:
    with httpx.Client(base_url=server.url) as http:
        (id,) = http.post("/session", params={"type": TYPE}).json()["session_ids"]
        answer = http.get(path.format(id=id))
        http.delete(f"/session/{id}").raise_for_status()
    assert answer.status_code == status
    problem = answer.json()
    assert said in f"{problem['message']} {problem['hint']}"


def test_bad_sessions_say_what_is_wrong(server: UiRlTestServer) -> None:
    with httpx.Client(base_url=server.url) as http:
        unknown = http.post("/session", params={"type": "press_buton"})
        assert unknown.status_code == 404
        assert unknown.json()["hint"] == "did you mean 'press_button'?"
        assert http.post("/session", params={"n": 0}).status_code == 422
        assert http.post("/session", params={"n": 1000}).status_code == 422
        assert http.post("/session", params={"seed": -1}).status_code == 422
        assert http.delete("/session/7").status_code == 404
        assert http.get("/types").json()[TYPE] == "fake/press-button-v1"
    assert server.leased == 0


def test_tasks_of_a_file_are_session_types_and_come_first(tmp_path: Path) -> None:
    file = tmp_path / "office.json"
    wanted = {"file_exists": "report.txt"}
    entry = {"instruction": "Make it.", "difficulty": "EASY", "success_criteria": wanted}
    file.write_text(json.dumps([{"id": 1, **entry}, {"id": "press_button", **entry}]))
    types = session_types([*load_templates(file), *FAKE_TEMPLATES])
    assert types["1"].id == types["office/1-v1"].id == "office/1-v1"
    assert types["press_button"].id == "office/press-button-v1"
    assert types["fake/press-button-v1"].id == "fake/press-button-v1"


def test_a_default_type_that_is_not_there_is_refused_before_desktops_start() -> None:
    with pytest.raises(UnknownTask, match="simple_data_entry"):
        UiRlTestServer(default_type="simple_data_entry")


def test_a_session_that_nobody_uses_ends_and_its_desktop_goes_back() -> None:
    with UiRlTestServer(idle_s=0.3) as server, httpx.Client(base_url=server.url) as http:
        (id,) = http.post("/session").json()["session_ids"]
        for _ in range(4):  # used: it lasts
            time.sleep(0.15)
            http.get(f"/session/{id}/screenshot").raise_for_status()
        deadline = time.monotonic() + 10
        while server.leased:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        gone = http.get(f"/session/{id}/screenshot")
        assert gone.status_code == 404
        assert gone.json()["code"] == "session_expired"
        http.get("/progress").raise_for_status()  # the second generation's own session
        time.sleep(0.3)
        while server.leased:
            time.sleep(0.05)
        assert http.get("/progress").status_code == 404  # heard of once
        http.get("/act", params={"action_type": "screenshot"}).raise_for_status()


def test_a_task_that_can_not_be_set_up_leaks_no_desktop() -> None:
    class Broken:
        id = "fake/broken-v1"

        def instance(self, seed: int, split: str = "train"):  # type: ignore[no-untyped-def]
            task = PRESS.instance(seed)
            from dataclasses import replace

            from operant.tasks.setup import Launch

            return replace(task, setup=(Launch(command=["nonesuch"]),))

    with UiRlTestServer(2) as server, httpx.Client(base_url=server.url) as http:
        server.sessions.types["broken"] = Broken()
        answer = http.post("/session", params={"type": "broken", "n": 2})
        assert answer.status_code in (409, 503)
        assert server.leased == 0


def test_tokens_and_foreign_pages() -> None:
    with UiRlTestServer(token=TOKEN) as server:
        assert httpx.get(f"{server.url}/act", params={"action_type": "screenshot"}).status_code == 401
        with pytest.raises(Unauthorized, match="token"):
            UiRlDesktop(server.url)
        with UiRlDesktop(server.url, TYPE, token=TOKEN) as desktop:
            assert desktop.frame().shape == (800, 1280, 3)
    with UiRlTestServer() as server:
        act = f"{server.url}/act?action_type=screenshot"
        assert httpx.get(act, headers={"host": "example.org"}).status_code == 403
        assert httpx.get(act, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert httpx.get(act, headers={"sec-fetch-site": "none"}).status_code == 200


# Our client against our server.


def test_a_session_behind_the_protocol_of_desktops(server: UiRlTestServer) -> None:
    _, point = target_of(9)
    with UiRlDesktop(server.url, TYPE) as desktop:
        assert server.leased == 0  # begins when it is needed
        assert desktop.capabilities == {Capability.RESET}
        desktop.begin(seed=9)
        assert desktop.instruction == target_of(9)[0]
        assert tuple(desktop.size) == (1280, 800)
        before = desktop.frame()
        after = desktop.perform(Action.click(point))
        assert desktop.last_step.changed
        assert not np.array_equal(before, after)
        assert desktop.pointer() == point.to_pixel(desktop.size)
        assert desktop.progress()["done"] is True
        desktop.perform(Action.click())  # where the pointer is
        desktop.perform(Action.scroll(point, dy=-5.0))
        desktop.perform(Action.wait(0.01))
        assert desktop.windows() == []
        desktop.check()
        desktop.reset()
        assert desktop.progress()["done"] is False
    assert server.leased == 0
    with pytest.raises(DesktopClosed):
        desktop.frame()


@pytest.mark.parametrize(
    "action",
    [
        Action.click(Point(0.5, 0.5), button=Button.MIDDLE),
        Action.click(Point(0.5, 0.5), modifiers=("ctrl",)),
        Action.click(),
        Action.drag(Point(0.1, 0.1), Point(0.5, 0.5)),
        Action.scroll(dx=2.0),
        Action(ActionKind.MOUSE_DOWN),
        Action(ActionKind.CALL, function="Agent.open_app"),
        Action.done(),
    ],
    ids=lambda action: action.kind.value,
)
def test_what_the_protocol_has_no_words_for(server: UiRlTestServer, action: Action) -> None:
    with UiRlDesktop(server.url, TYPE) as desktop:
        with pytest.raises(ActionNotExpressible):
            desktop.perform(action)
        assert desktop.frame().shape == (800, 1280, 3)


def test_what_such_desktops_do_not_have(server: UiRlTestServer) -> None:
    with UiRlDesktop(server.url, TYPE) as desktop:
        with pytest.raises(AccessibilityError, match="widgets"):
            desktop.accessibility()
        with pytest.raises(NotSupported, match="commands"):
            desktop.run("true")
        with pytest.raises(NotSupported, match="files"):
            _ = desktop.files
        with pytest.raises(NotSupported, match="programs"):
            PRESS.instance(1).begin(desktop)  # type: ignore[arg-type]


def test_a_task_of_a_server_is_played_in_the_usual_environment(server: UiRlTestServer) -> None:
    template = SessionTemplate(TYPE, "Press the button.")
    with UiRlDesktop(server.url, TYPE) as desktop:
        environment = TaskEnvironment(desktop, end_on_success=True, with_windows=False)  # type: ignore[arg-type]
        seen = environment.begin(template.instance(4))
        assert seen.instruction == "Press the button."
        lost = environment.step(Action.click(Point(0.5, 0.5), button=Button.MIDDLE))
        assert "can't express" in lost.info["invalid"]
        ended = environment.step(Action.click(target_of(4)[1]))
        assert ended.outcome is Outcome.SUCCESS
        environment.begin(template.instance(4))
        assert environment.step(Action.done()).outcome is Outcome.FAILURE


def test_unknown_session_types_are_named_early(server: UiRlTestServer) -> None:
    with pytest.raises(UnknownTask, match="press_buton") as raised:
        UiRlFleet([server.url], "press_buton").check()
    assert raised.value.hint == "did you mean 'press_button'?"
    with UiRlDesktop(server.url, "press_buton") as desktop, pytest.raises(UnknownTask, match="press_buton"):
        desktop.frame()


def test_a_pool_of_sessions_over_two_servers_one_of_which_goes_down() -> None:
    first, second = UiRlTestServer(1), UiRlTestServer(2)
    try:
        fleet = UiRlFleet([first.url, second.url], TYPE)
        fleet.check()
        with DesktopPool(2, factory=fleet.lease) as pool:
            pool.wait_ready()
            first.stop()
            for _ in range(4):
                with pool.lease() as desktop:
                    assert desktop.frame().shape == (800, 1280, 3)
        assert second.leased == 0
        fleet.check()  # one is enough
        second.stop()
        with pytest.raises(RemoteDesktopError, match="can't be reached"):
            fleet.check()
    finally:
        first.stop()
        second.stop()


def test_a_server_that_dies_in_an_episode_is_a_typed_error() -> None:
    server = UiRlTestServer()
    desktop = UiRlDesktop(server.url, TYPE)
    desktop.frame()
    server.stop()
    with pytest.raises(RemoteDesktopError, match="can't be reached"):
        desktop.perform(Action.key("a"))
    desktop.close()
    again = UiRlTestServer(port=server.port)  # started anew: the old session is not somebody else's
    try:
        one = UiRlDesktop(again.url, TYPE)
        one.frame()
        other = UiRlDesktop(again.url, TYPE)
        other._home, other._last = "/session/1", one.frame()
        with pytest.raises(DesktopClosed, match="session"):
            other.frame()
        one.close()
        assert again.leased == 0
    finally:
        again.stop()


def test_nothing_that_acts_is_sent_twice() -> None:
    """The line breaks after the request: whether the click happened is not known."""
    heard: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            with line:
                request = line.recv(65536)
                heard.append(request)
                if b" /act" not in request and b" / " in request:
                    line.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")

    threading.Thread(target=serve, daemon=True).start()
    desktop = UiRlDesktop(f"http://127.0.0.1:{listening.getsockname()[1]}")
    desktop._home, desktop._last = "", np.zeros((8, 8, 3), np.uint8)
    with pytest.raises(RemoteDesktopError):
        desktop.perform(Action.click(Point(0.5, 0.5)))
    assert sum(b"left_click" in request for request in heard) == 1
    listening.close()


# Our client against servers written from the facts.

BLUE = png_bytes(np.full((40, 60, 3), (0, 0, 255), np.uint8))
RED = png_bytes(np.full((40, 60, 3), (255, 0, 0), np.uint8))
ABSENT = (404, "application/json", b'{"detail":"Not Found"}')


def first_generation(method: str, path: str) -> Answer:
    """As UI-RL's first servers: unknown parameters are ignored, types are an enumeration."""
    parts = urlsplit(path)
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if parts.path == "/":
        return 200, "text/plain", b"UI Verifiers Server"
    if (method, parts.path) == ("POST", "/session"):
        if given.get("type") != "simple_data_entry":
            return 422, "application/json", b'{"detail":[{"loc":["query","type"],"msg":"enum"}]}'
        return 200, "application/json", b'{"session_ids":[1]}'
    if (method, parts.path) == ("DELETE", "/session/1"):
        return 200, "application/json", b'{"deleted":1}'
    if parts.path == "/session/1":
        return 200, "application/json", b'{"id":1,"start_time":"2025-10-01T00:00:00","display":10}'
    if parts.path == "/session/1/screenshot":
        return 200, "image/png", BLUE
    if parts.path == "/session/1/act":
        known = ("screenshot", "mouse_move", "left_click", "right_click", "double_click", "triple_click")
        if given.get("action_type") not in known:
            return 422, "application/json", b'{"detail":[{"loc":["query","action_type"],"msg":"enum"}]}'
        return 200, "image/png", RED
    if parts.path == "/session/1/progress":
        return 200, "application/json", b'{"num_correct_submissions":1,"num_incorrect_submissions":0}'
    return ABSENT


def second_generation(method: str, path: str) -> Answer:
    """As UI-RL's later servers: one session, begun with the server."""
    parts = urlsplit(path)
    if method != "GET":
        return ABSENT
    if parts.path == "/":
        return 200, "text/plain", b"ui-rl Session Server\n"
    if parts.path == "/act":
        return 200, "image/png", BLUE if "screenshot" in parts.query else RED
    if parts.path == "/progress":
        return 200, "application/json", b'{"submitted_row_indices":[0],"num_incorrect_submissions":0}'
    return ABSENT


def test_a_server_of_the_first_generation() -> None:
    with PlainServer(first_generation) as server:
        fleet = UiRlFleet([server.url])
        fleet.check()
        with fleet.lease() as desktop:
            assert tuple(desktop.size) == (60, 40)
            assert desktop.perform(Action.click(Point(0.5, 0.5)))[0, 0].tolist() == [255, 0, 0]
            with pytest.raises(InvalidAction):  # it knows the pointer's actions only
                desktop.perform(Action.type("a"))
            assert is_done(desktop.progress())  # type: ignore[attr-defined]
        assert ("GET", "/session/1/act?action_type=left_click&x=30&y=20") in server.asked
        assert server.asked[-1] == ("DELETE", "/session/1")
        with UiRlDesktop(server.url, "other") as desktop, pytest.raises(UnknownTask, match="other"):
            desktop.frame()


def test_a_server_of_the_second_generation() -> None:
    with PlainServer(second_generation) as server:
        UiRlFleet([server.url]).check()
        with UiRlDesktop(server.url, delay_s=0.5) as desktop:
            assert desktop.frame()[0, 0].tolist() == [0, 0, 255]
            desktop.perform(Action.type("a b&c"))
            desktop.perform(Action.key("ctrl", "c"))
            desktop.perform(Action.scroll(dy=7.0))
            assert is_done(desktop.progress())
            desktop.reset()
            with pytest.raises(NotSupported, match="can't begin again") as raised:
                desktop.frame()
            assert "restart" in (raised.value.hint or "")
        acts = [parse_qs(urlsplit(path).query) for _, path in server.asked if path.startswith("/act")]
        assert [act["action_type"][0] for act in acts] == ["screenshot"] * 2 + ["type", "keys"] + [
            "scroll"
        ] * 3
        assert acts[2] == {"action_type": ["type"], "text": ["a b&c"], "delay": ["0.5"]}
        assert acts[3]["keys"] == ["ctrl+c"]


def test_the_two_protocols_are_told_apart(server: UiRlTestServer) -> None:
    assert speaks_ui_rl(server.url)
    with PlainServer(second_generation) as theirs:
        assert speaks_ui_rl(theirs.url)
    with DesktopServer() as ours:
        assert not speaks_ui_rl(ours.url)
    with PlainServer(lambda method, path: HTML) as page, pytest.raises(RemoteDesktopError, match="HTML"):
        speaks_ui_rl(page.url)


# Servers that are none.


def test_a_server_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(RemoteDesktopError, match="can't be reached") as raised:
        UiRlDesktop(f"http://127.0.0.1:{port}")
    assert "operant desktop serve --protocol ui-rl" in (raised.value.hint or "")
    with pytest.raises(ConfigError, match="no address"):
        UiRlDesktop("vm1:8000")


def _bomb() -> bytes:
    """A small PNG that says it is huge."""
    data = bytearray(png_bytes(np.zeros((4, 4, 3), np.uint8)))
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    return bytes(data)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (HTML, "an HTML page"),
        ((404, *HTML[1:]), "an HTML page"),
        ((500, "text/plain", b"Internal Server Error"), "500"),
    ],
)
def test_a_server_of_something_else(answer: Answer, said: str) -> None:
    with PlainServer(lambda method, path: answer) as server:
        with pytest.raises(RemoteDesktopError, match=said):
            UiRlDesktop(server.url)
        with pytest.raises(RemoteDesktopError, match=said):
            UiRlFleet([server.url]).check()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>sorry</html>", "no PNG"),
        (b"\x89PNG but not really", "can't be read"),
        (BLUE[:60], "can't be read"),
        (_bomb(), "60000x60000|can't be read"),
    ],
)
def test_pictures_that_are_none(body: bytes, said: str) -> None:
    def answer(method: str, path: str) -> Answer:
        return (200, "image/png", body) if "screenshot" in path else first_generation(method, path)

    with PlainServer(answer) as server:
        with UiRlDesktop(server.url) as desktop, pytest.raises(RemoteDesktopError, match=said):
            desktop.frame()
        assert server.asked[-1] == ("DELETE", "/session/1")  # nothing is left behind


@pytest.mark.parametrize("body", [b"", b"[1]", b'{"session_ids": []}', b'{"session_ids": [[1]]}', b'"x"'])
def test_sessions_that_are_none(body: bytes) -> None:
    def answer(method: str, path: str) -> Answer:
        created = method == "POST"
        return (200, "application/json", body) if created else first_generation(method, path)

    with PlainServer(answer) as server, UiRlDesktop(server.url) as desktop, pytest.raises(RemoteDesktopError):
        desktop.frame()


@pytest.mark.parametrize(
    ("progress", "done"),
    [
        ({"done": True}, True),
        ({"done": False, "progress": 1.0}, False),
        ({"progress": 1}, True),
        ({"progress": 0.5}, False),
        ({"num_correct_submissions": 0, "num_incorrect_submissions": 0}, False),
        ({"num_correct_submissions": 2}, True),
        ({"submitted_row_indices": [3], "num_incorrect_submissions": 1}, False),
        ({"submitted_row_indices": []}, False),
    ],
)
def test_what_progress_means(progress: dict[str, object], done: bool) -> None:
    assert is_done(progress) is done


def test_progress_of_an_unknown_form_is_no_verdict() -> None:
    with pytest.raises(VerifierError, match="stars") as raised:
        is_done({"stars": 5})
    assert "judge=" in (raised.value.hint or "")

    def answer(method: str, path: str) -> Answer:
        if path.endswith("/progress"):
            return 200, "application/json", json.dumps({"stars": 5}).encode()
        return first_generation(method, path)

    with PlainServer(answer) as server, UiRlDesktop(server.url) as desktop:
        environment = TaskEnvironment(desktop, with_windows=False)  # type: ignore[arg-type]
        environment.begin(session_task("simple_data_entry", "Go."))
        assert environment.step(Action.done()).outcome is Outcome.VERIFIER_ERROR
        environment.begin(session_task("simple_data_entry", "Go.", judge=lambda said: said["stars"] == 5))
        assert environment.step(Action.done()).outcome is Outcome.SUCCESS
        environment.begin(session_task("simple_data_entry", "Go.", judge=lambda said: said["moons"] == 5))
        assert environment.step(Action.done()).outcome is Outcome.VERIFIER_ERROR


def test_a_task_without_words_is_refused() -> None:
    with pytest.raises(ConfigError):
        session_task("simple_data_entry", " ")
    with pytest.raises(OperantError, match="no sessions"):
        session_task("simple_data_entry", "Go.").begin(FakeDesktop())  # type: ignore[arg-type]


# The command line.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--protocol", "uirl"], "'operant', 'ui-rl'"),
        (["--suite", "core"], "only sessions of --protocol ui-rl have tasks"),
        (["--protocol", "ui-rl", "--suite", "kore"], "did you mean 'core'?"),
        (["--protocol", "ui-rl", "--suite", "missing.json"], "missing.json"),
        (
            ["--protocol", "ui-rl", "--session-type", "simple_data_entri"],
            "did you mean 'simple_data_entry'?",
        ),
        (["--protocol", "ui-rl", "--host", "0.0.0.0"], "set a token"),
    ],
)
def test_serving_refuses_what_can_not_be_before_it_starts(options: list[str], said: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPERANT_TOKEN"}
    ended = subprocess.run(
        [sys.executable, "-m", "operant", "desktop", "serve", "--port", "0", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**environment, "NO_COLOR": "1", "COLUMNS": "200"},
    )
    assert ended.returncode == 2, ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
