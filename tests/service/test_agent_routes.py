"""Asking for an action and doing one, as a client does."""

from __future__ import annotations

import base64
import io
import struct
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests.service.conftest import Serve
from tests.service.policies import Brightest, always

from operant import actions
from operant.agents.base import Agent, Decision
from operant.errors import DesktopDied
from operant.service.inference.models import Model
from operant.service.inference.predictor import AgentPredictor, Predictor
from operant.types import Action, ActionKind, Button, Observation, Point, Size

PREDICT, EXECUTE, MODELS = "/api/v1/agent/predict", "/api/v1/agent/execute", "/api/v1/agent/models"


def picture(x: int = 30, y: int = 20, size: tuple[int, int] = (64, 48), kind: str = "PNG") -> bytes:
    image = Image.new("RGB", size)
    image.putpixel((x, y), (255, 255, 255))
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def test_a_screenshot_in_base64_is_looked_at(serve: Serve) -> None:
    client = serve(predictors=always())
    body = {"instruction": "x", "screenshot": base64.b64encode(picture()).decode(), "formats": ["pyautogui"]}
    said = client.post(PREDICT, json=body).json()
    assert said["action_type"] == "click"
    assert said["coordinates"] == [30, 20]
    assert said["screen"] == [64, 48]
    assert said["formats"] == {"pyautogui": "pyautogui.click(30, 20)"}
    assert said["confidence"] == pytest.approx(np.exp(-0.5))
    assert said["value"] == 0.25
    assert said["inference_time_ms"] >= 0
    data_url = "data:image/png;base64," + body["screenshot"]
    assert client.post(PREDICT, json=body | {"screenshot": data_url}).json()["coordinates"] == [30, 20]


def test_a_screenshot_as_a_file_is_looked_at(serve: Serve) -> None:
    client = serve(predictors=always())
    files = {"screenshot": ("screen.png", picture(5, 6), "image/png")}
    form = {"instruction": "x", "deterministic": "false", "formats": ["json", "anthropic"]}
    said = client.post(PREDICT, data=form, files=files).json()
    assert said["coordinates"] == [5, 6]
    assert set(said["formats"]) == {"json", "anthropic"}


def test_without_a_screenshot_the_default_desktop_is_looked_at(client: TestClient) -> None:
    said = client.post(PREDICT, json={"instruction": "Open the calculator", "use_live_screen": False}).json()
    assert said["screen"] == [1280, 800]
    assert [one["id"] for one in client.get("/api/v1/sessions").json()] == ["default"]


TURNS: dict[str, tuple[Action, ...]] = {
    "click": (Action.click(Point(0.3, 0.7)),),
    "double": (Action.click(Point(0.3, 0.7), clicks=2),),
    "right": (Action.click(Point(0.3, 0.7), button=Button.RIGHT),),
    "drag": (Action.drag(Point(0.1, 0.1), Point(0.5, 0.6)),),
    "scroll": (Action.scroll(Point(0.5, 0.5), dy=3),),
    "type": (Action.type("Grüße 東京 😀\n"),),
    "keys": (Action.key("ctrl", "s"),),
    "wait": (Action.wait(0.01),),
    "look": (Action(ActionKind.SCREENSHOT),),
    "done": (Action.done(),),
    "answer": (Action(ActionKind.ANSWER, text="42"),),
    "two": (Action.click(Point(0.3, 0.7)), Action.type("12")),
    "last": (Action.type("12"), Action.done()),
}


class Scripted(Agent):
    """Answers with the turn that the instruction names."""

    def act(self, observation: Observation) -> Decision:
        turn = TURNS.get(observation.instruction, ())
        return Decision(turn, error="" if turn else "the model only spoke")


@pytest.fixture(scope="module")
def scripted(module_serve: Serve) -> TestClient:
    client = module_serve(predictors=always(Scripted))
    client.post("/api/v1/sessions/default/launch", json={"command": ["mousepad"]})
    return client


@pytest.mark.parametrize("name", TURNS)
def test_execute_takes_what_predict_gave(scripted: TestClient, name: str) -> None:
    given = scripted.post(PREDICT, json={"instruction": name, "formats": list(actions.FORMATS)}).json()
    last = TURNS[name][-1]
    wholly = [given, {"action": given}, given | {"session": "default"}, {"action": given["actions"]}]
    for body in wholly:
        said = scripted.post(EXECUTE, json=body).json()
        assert said["actions"] == given["actions"], body
        assert said["ends"] == (last.kind.value if last.kind.terminal else None)
        assert said["performed"] is not TURNS[name][0].kind.terminal
    for body in ({"action": given["action"]}, given["action"], given["action"] | {"session": "default"}):
        assert scripted.post(EXECUTE, json=body | {"dry_run": True}).json()["actions"] == [given["action"]]


@pytest.mark.parametrize("name", TURNS)
def test_execute_takes_every_format_that_predict_gave(scripted: TestClient, name: str) -> None:
    """Also for a screenshot of another size than the session's screen."""
    shot = base64.b64encode(picture(size=(640, 400))).decode()
    body = {"instruction": name, "screenshot": shot, "formats": list(actions.FORMATS)}
    given = scripted.post(PREDICT, json=body).json()
    written = {key: one for key, one in given["formats"].items() if one is not None}
    assert set(written) == set(actions.FORMATS) if name == "click" else "json" in written
    for key, one in written.items():
        body = {"action": one, "format": key, "screen": given["screen"], "dry_run": True}
        (done,) = scripted.post(EXECUTE, json=body).json()["actions"]
        done.pop("screen", None)  # which some formats note
        for field in ("point", "path"):
            if field in done:  # whole pixels, or thousandths
                np.testing.assert_allclose(done.pop(field), given["action"][field], atol=0.005)
        rest = {field: one for field, one in given["action"].items() if field not in ("point", "path")}
        assert done == rest, key


def test_an_answer_without_an_action_says_why(scripted: TestClient) -> None:
    given = scripted.post(PREDICT, json={"instruction": "speak"}).json()
    assert (given["action"], given["actions"], given["error"]) == (None, [], "the model only spoke")
    for body in (given, {"action": given}):
        said = scripted.post(EXECUTE, json=body)
        assert (said.status_code, said.json()["code"]) == (422, "invalid_request")
        assert "the model only spoke" in said.json()["message"]


@pytest.mark.parametrize("name", sorted(actions.FORMATS))
def test_every_format_that_is_offered_can_be_executed(scripted: TestClient, name: str) -> None:
    payload = actions.render(name, Action.click(Point(0.5, 0.5)), Size(1280, 800))
    said = scripted.post(EXECUTE, json={"action": payload, "format": name}).json()
    assert said["performed"]
    assert said["actions"][0]["kind"] == "click"


def test_what_an_action_changed_is_told(client: TestClient) -> None:
    client.post("/api/v1/sessions/default/launch", json={"command": ["galculator"]})
    said = client.post(EXECUTE, json={"action": {"kind": "type", "text": "12"}}).json()
    assert said["changed"]
    assert 0 < said["changed_share"] < 0.5
    region = said["changed_region"]
    assert 0 < region["width"] < 1280
    frame = client.get(said["frame"])
    assert frame.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(frame.content)).size == (1280, 800)


def test_a_dry_run_does_nothing(client: TestClient) -> None:
    client.post("/api/v1/sessions/default/launch", json={"command": ["galculator"]})
    before = client.get("/api/v1/sessions/default/frame").content
    said = client.post(EXECUTE, json={"action": {"kind": "type", "text": "12"}, "dry_run": True}).json()
    assert not said["performed"]
    assert said["description"] == 'type "12"'
    assert client.get("/api/v1/sessions/default/frame").content == before


def test_a_secret_is_typed_and_told_nobody(client: TestClient) -> None:
    client.post("/api/v1/sessions/default/launch", json={"command": ["mousepad"]})
    body = {"action": {"kind": "type", "text": "hunter2"}, "secret": True}
    said = client.post(EXECUTE, json=body)
    assert said.json()["changed"]
    assert "hunter2" not in said.text
    assert "•••" in said.text
    session = client.runtime.sessions.find("default")  # type: ignore[attr-defined]
    assert "hunter2" not in repr(session.events_after(0))
    assert "hunter2" not in client.get("/metrics").text


def claiming(width: int, height: int) -> bytes:
    """A small file that says it is a huge picture."""
    whole = picture()
    head = b"IHDR" + struct.pack(">II", width, height) + whole[24:29]
    return whole[:12] + head + struct.pack(">I", zlib.crc32(head)) + whole[33:]


def bad_pictures() -> list[tuple[str, int, str]]:
    whole = picture()
    huge = io.BytesIO()
    Image.new("1", (6000, 6000)).save(huge, "PNG")
    return [
        ("not base64!", 422, "bad_picture"),
        (base64.b64encode(b"no picture").decode(), 422, "bad_picture"),
        (base64.b64encode(whole[: len(whole) // 2]).decode(), 422, "bad_picture"),
        (base64.b64encode(picture(0, 0, (2, 2))).decode(), 422, "bad_picture"),
        (base64.b64encode(huge.getvalue()).decode(), 413, "too_large"),
        (base64.b64encode(claiming(60_000, 60_000)).decode(), 413, "too_large"),
        ("", 422, "bad_picture"),
    ]


@pytest.mark.parametrize(("screenshot", "status", "code"), bad_pictures())
def test_a_broken_picture_is_refused(client: TestClient, screenshot: str, status: int, code: str) -> None:
    said = client.post(PREDICT, json={"instruction": "x", "screenshot": screenshot})
    assert (said.status_code, said.json()["code"]) == (status, code)
    assert said.json()["message"]
    assert client.post(PREDICT, json={"instruction": "x"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        (PREDICT, {"instruction": 5}, 422, "invalid_request"),
        (PREDICT, {}, 422, "invalid_request"),
        (PREDICT, {"instruction": "x", "strange": 1}, 422, "invalid_request"),
        (PREDICT, {"instruction": "x", "session": "nope"}, 404, "unknown_session"),
        (PREDICT, {"instruction": "x", "use_live_screen": True}, 403, "live_screen_refused"),
        (PREDICT, {"instruction": "x", "formats": ["latin"]}, 422, "invalid_request"),
        (EXECUTE, {"action": {"kind": "fly"}}, 422, "invalid_action"),
        (EXECUTE, {"action": {"kind": "click", "point": [5, 5]}}, 422, "invalid_action"),
        (EXECUTE, {"action": "import os", "format": "pyautogui"}, 422, "invalid_action"),
        (EXECUTE, {"kind": "click", "point": [0.5, 0.5], "sesion": "x"}, 422, "invalid_action"),
        (EXECUTE, {"action_type": None, "action": None, "error": "it spoke"}, 422, "invalid_request"),
        (EXECUTE, {"action": {"kind": "key", "keys": ["nokey"]}}, 422, "invalid_action"),
        (EXECUTE, {"action": {"kind": "wait"}, "session": "live"}, 403, "live_screen_refused"),
        (MODELS, {"name": "nobody"}, 404, "unknown_model"),
        (MODELS, {"name": "../../etc/passwd"}, 404, "unknown_model"),
    ],
)
def test_what_can_not_be_done_is_said(
    client: TestClient, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    said = client.post(path, json=body)
    assert (said.status_code, said.json()["code"]) == (status, code)
    assert said.json()["message"]
    assert said.json()["request_id"] == said.headers["x-request-id"]


def test_a_body_that_is_no_json_is_refused(client: TestClient) -> None:
    for path in (PREDICT, EXECUTE):
        said = client.post(path, content=b"{", headers={"content-type": "application/json"})
        assert (said.status_code, said.json()["code"]) == (422, "invalid_request")


def test_questions_that_come_together_are_answered_together(serve: Serve) -> None:
    agents: list[Brightest] = []

    def make(model: Model) -> Predictor:
        def agent() -> Brightest:
            agents.append(Brightest(delay_s=0.02))
            return agents[-1]

        return AgentPredictor(model.name, agent)

    client = serve(predictors=make, batch_size=8, batch_wait_ms=20)
    screenshots = [base64.b64encode(picture(x, 3)).decode() for x in range(24)]

    def ask(x: int) -> list[int]:
        body = {"instruction": "x", "screenshot": screenshots[x]}
        return client.post(PREDICT, json=body).json()["coordinates"]  # type: ignore[no-any-return]

    with ThreadPoolExecutor(24) as threads:
        assert list(threads.map(ask, range(24))) == [[x, 3] for x in range(24)]
    assert sum(agents[0].batches) == 24
    assert max(agents[0].batches) > 1
    assert max(agents[0].batches) <= 8


def test_one_question_that_breaks_the_model_spoils_no_other(serve: Serve) -> None:
    client = serve(predictors=always(delay_s=0.01), batch_wait_ms=30)
    words = ["fine", "poison", "good", "well"]

    def ask(word: str) -> int:
        return client.post(PREDICT, json={"instruction": word}).status_code

    client.post(PREDICT, json={"instruction": "warm"})
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, words)) == [200, 503, 200, 200]


def test_a_full_queue_says_so(serve: Serve) -> None:
    client = serve(predictors=always(delay_s=0.3), batch_size=1, queued_questions=2, batch_wait_ms=0)
    body = {"instruction": "x", "screenshot": base64.b64encode(picture()).decode()}
    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(lambda _: client.post(PREDICT, json=body).status_code, range(8)))
    assert set(codes) == {200, 429}


def test_models_are_switched_while_others_ask(serve: Serve) -> None:
    client = serve(predictors=always(delay_s=0.002))
    body = {"instruction": "x", "screenshot": base64.b64encode(picture()).decode()}
    stop, answers = threading.Event(), []

    def keep_asking() -> None:
        while not stop.is_set():
            answers.append(client.post(PREDICT, json=body))

    with ThreadPoolExecutor(3) as threads:
        for _ in range(3):
            threads.submit(keep_asking)
        for name in ("noop", "done", "random", "noop") * 3:
            said = client.post(MODELS, json={"name": name})
            assert said.json()["current"] == name
        stop.set()
    assert {one.status_code for one in answers} == {200}
    assert len({one.json()["model"] for one in answers}) > 1
    assert client.get("/api/v1/agent/model-info").json()["name"] == "noop"


def test_the_oracle_needs_a_task(serve: Serve) -> None:
    client = serve(agent="oracle")
    said = client.post(PREDICT, json={"instruction": "x"})
    assert (said.status_code, said.json()["code"]) == (403, "forbidden")
    assert "complete-task" in said.json()["hint"]


def test_a_checkpoint_is_listed_and_one_that_is_none_is_refused(serve: Serve, tmp_path: Any) -> None:
    folder = tmp_path / "checkpoints" / "run1"
    folder.mkdir(parents=True)
    (folder / "final_model.pt").write_bytes(b"this is no checkpoint")
    (tmp_path / "outside.pt").write_bytes(b"x")
    (folder / "link.pt").symlink_to(tmp_path / "outside.pt")
    client = serve(checkpoint_agent="tests.service.test_agent_routes:never_made")
    listed = [one["name"] for one in client.get(MODELS).json()["models"] if one["kind"] == "checkpoint"]
    assert listed == ["run1/final_model.pt"]
    said = client.post(MODELS, json={"name": "run1/final_model.pt"})
    assert said.status_code in (404, 422)
    assert client.get(MODELS).json()["current"] == "random"


def test_a_desktop_that_dies_ends_its_session_and_nothing_else(client: TestClient) -> None:
    runtime = client.runtime  # type: ignore[attr-defined]
    client.post(EXECUTE, json={"action": {"kind": "wait"}})
    runtime.sessions.find("default").desktop.break_with(DesktopDied("gone"))
    said = client.post(EXECUTE, json={"action": {"kind": "wait"}})
    assert (said.status_code, said.json()["code"]) == (503, "desktop_failed")
    assert client.post(EXECUTE, json={"action": {"kind": "wait"}}).status_code == 200
