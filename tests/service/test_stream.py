"""A desktop live over a WebSocket: pictures of what changed, input, and viewers that misbehave."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from operant.service.sessions.changes import changed_box
from operant.service.stream.pictures import HEADER, Camera

STREAM = "/api/v1/sessions/default/stream"
Watch = Callable[..., Any]


@pytest.fixture
def watch(client: TestClient, listening: Callable[[TestClient], str]) -> Watch:
    """Connects to a stream of a real server."""
    address = listening(client)
    return lambda path=STREAM: connect(f"ws://{address}{path}", max_size=None)


def receive(socket: Any) -> Any:
    """A JSON message, or a picture as (number, box, image)."""
    message = socket.recv(timeout=10)
    if isinstance(message, str):
        return json.loads(message)
    number, *box = HEADER.unpack_from(message)
    return number, tuple(box), Image.open(io.BytesIO(message[HEADER.size :]))


def tell(socket: Any, **message: Any) -> None:
    socket.send(json.dumps(message))


def until(socket: Any, wanted: Any) -> Any:
    for _ in range(200):
        found = receive(socket)
        if wanted(found):
            return found
    raise AssertionError("it never came")


def is_picture(found: Any) -> bool:
    return isinstance(found, tuple)


def of_type(kind: str) -> Any:
    return lambda found: isinstance(found, dict) and found["type"] == kind


def test_the_screen_is_shown_and_then_only_what_changes(client: TestClient, watch: Watch) -> None:
    client.post("/api/v1/sessions/default/launch", json={"command": ["galculator"]})
    with watch() as socket:
        hello = receive(socket)
        assert (hello["type"], hello["width"], hello["height"]) == ("hello", 1280, 800)
        number, box, image = until(socket, is_picture)
        assert (number, box, image.size) == (1, (0, 0, 1280, 800), (1280, 800))
        tell(socket, type="ack", frame=1)
        tell(socket, type="action", id=7, action={"kind": "type", "text": "42"})
        found: dict[str, Any] = {}
        while not found.keys() >= {"action", "done", "picture"}:
            one = receive(socket)
            found["picture" if is_picture(one) else one["type"]] = one
        assert (found["action"]["by"], found["action"]["description"]) == ("person", 'type "42"')
        assert (found["done"]["id"], found["done"]["changed"]) == (7, True)
        number, box, image = found["picture"]
        assert box[2] * box[3] < 1280 * 800 / 2
        assert image.size == box[2:]


def test_a_small_picture_in_another_encoding(client: TestClient, watch: Watch) -> None:
    with watch(f"{STREAM}?encoding=webp&width=320&fps=5") as socket:
        _, box, image = until(socket, is_picture)
        assert (image.format, image.size, box) == ("WEBP", (320, 200), (0, 0, 1280, 800))


@pytest.mark.parametrize(
    "garbage",
    ["{", "[]", "5", '{"type": "fly"}', '{"type": "action"}', '{"type": "action", "action": {"kind": "x"}}'],
)
def test_garbage_is_answered_and_does_no_harm(client: TestClient, watch: Watch, garbage: str) -> None:
    with watch() as socket:
        socket.send(garbage)
        error = until(socket, of_type("error"))
        assert error["code"] == "invalid_action"
        tell(socket, type="action", action={"kind": "wait"})
        until(socket, of_type("done"))


def test_who_only_sends_garbage_is_let_go(client: TestClient, watch: Watch) -> None:
    with watch() as socket, pytest.raises(ConnectionClosed):  # noqa: PT012
        for _ in range(30):
            socket.send(b"\x00\xff")
        until(socket, lambda found: False)
    assert client.get("/health").status_code == 200


def test_an_unknown_session_is_said(client: TestClient, watch: Watch) -> None:
    with watch("/api/v1/sessions/nope/stream") as socket:
        assert receive(socket)["code"] == "unknown_session"
        with pytest.raises(ConnectionClosed) as closed:
            receive(socket)
        assert closed.value.rcvd.code == 4404  # type: ignore[union-attr]


def test_a_session_that_ends_ends_the_stream(client: TestClient, watch: Watch) -> None:
    with watch() as socket:
        until(socket, is_picture)
        client.delete("/api/v1/sessions/default")
        until(socket, of_type("closed"))
        with pytest.raises(ConnectionClosed):
            until(socket, lambda found: False)


def test_a_session_that_ends_while_it_is_looked_at_is_no_failure(
    client: TestClient, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watch() as socket:
        until(socket, is_picture)
        session = client.runtime.sessions.find("default")  # type: ignore[attr-defined]

        def end_and_look() -> Any:
            session.close()
            return session.desktop

        monkeypatch.setattr(session, "look", end_and_look)
        until(socket, of_type("closed"))
        with pytest.raises(ConnectionClosed) as closed:
            receive(socket)
        assert closed.value.rcvd.code == 1001  # type: ignore[union-attr]


def test_a_viewer_that_falls_behind_is_waited_for(client: TestClient, watch: Watch) -> None:
    client.post("/api/v1/sessions/default/launch", json={"command": ["galculator"]})
    with watch() as socket:
        until(socket, is_picture)
        tell(socket, type="ack", frame=1)
        for digit in "123456789":
            tell(socket, type="action", id=digit, action={"kind": "type", "text": digit})
        seen: list[int] = []
        while True:
            found = receive(socket)
            if is_picture(found):
                seen.append(found[0])
            elif found["type"] == "done" and found["id"] == "9":
                break
        assert len(seen) <= 3  # the rest is merged into what comes after the acknowledgement
        tell(socket, type="ack", frame=seen[-1] if seen else 1)


def test_control_is_taken_and_told(client: TestClient, watch: Watch) -> None:
    with watch() as socket:
        tell(socket, type="take_over", on=True)
        assert until(socket, of_type("control"))["taken_over"] is True
        assert client.get("/api/v1/sessions/default").json()["taken_over"] is True


def test_the_box_of_a_change_is_exact() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        before = random.integers(0, 255, (60, 80, 4), np.uint8)
        after = before.copy()
        x, y, w, h = (int(random.integers(1, 30)) for _ in range(4))
        after[y : y + h, x : x + w, :3] ^= 0xFF
        after[:, :, 3] ^= 0x55  # means nothing
        assert changed_box(before[:, :, 2::-1], after[:, :, 2::-1]) == (x, y, w, h)
        assert changed_box(before[:, :, :3].copy(), after[:, :, :3].copy()) == (x, y, w, h)
        assert changed_box(before[:, :, 2::-1], before.copy()[:, :, 2::-1]) is None


def test_parts_add_up_to_the_screen() -> None:
    """What a viewer has put together is what there is."""
    random = np.random.default_rng(1)
    camera, canvas = Camera("png", 90, None), Image.new("RGB", (96, 64))
    screen = random.integers(0, 255, (64, 96, 3), np.uint8)
    for _ in range(20):
        picture = camera.shoot(screen)
        assert picture is not None
        canvas.paste(Image.open(io.BytesIO(picture.data)), picture.box[:2])
        assert np.array_equal(np.asarray(canvas), screen)
        assert camera.shoot(screen.copy()) is None
        screen = screen.copy()
        x, y = (int(random.integers(0, 40)) for _ in range(2))
        screen[y : y + 9, x : x + 13] = random.integers(0, 255, 3)
