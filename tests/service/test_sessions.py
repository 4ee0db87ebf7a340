"""Desktops on loan: leased, looked at, shared, expired, handed back; and the live screen behind its locks."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests.service.conftest import Serve, wait_for
from tests.service.policies import Waiting, always

from operant.agents.base import Agent, Decision
from operant.desktop.local import LocalDesktop
from operant.errors import AccessibilityError, MissingProgram
from operant.service.inference.predictor import AgentPredictor
from operant.testing import FakeDesktop
from operant.types import Action, Observation

SESSIONS, EXECUTE = "/api/v1/sessions", "/api/v1/agent/execute"
COMPLETE, ATTEMPTS = "/api/v1/agent/complete-task", "/api/v1/agent/attempts"


def test_a_session_from_lease_to_return(client: TestClient) -> None:
    made = client.post(SESSIONS, json={"ttl_s": 60, "launch": ["galculator"]})
    assert made.status_code == 201
    name = made.json()["id"]
    assert made.json()["size"] == [1280, 800]
    windows = client.get(f"{SESSIONS}/{name}/windows").json()
    assert [window["application"] for window in windows] == ["galculator"] or windows
    small = client.get(f"{SESSIONS}/{name}/frame", params={"encoding": "webp", "width": 320})
    assert Image.open(io.BytesIO(small.content)).size == (320, 200)
    assert client.post(EXECUTE, json={"action": {"kind": "wait"}, "session": name}).json()["session"] == name
    assert client.delete(f"{SESSIONS}/{name}").status_code == 204
    gone = client.get(f"{SESSIONS}/{name}")
    assert (gone.status_code, gone.json()["code"]) == (404, "session_expired")


def test_a_session_has_the_name_that_it_is_given(client: TestClient) -> None:
    made = client.post(SESSIONS, json={"name": "letters"})
    assert (made.status_code, made.json()["id"]) == (201, "letters")
    said = client.post(EXECUTE, json={"action": {"kind": "wait"}, "session": "letters"}).json()
    assert said["session"] == "letters"
    again = client.post(SESSIONS, json={"name": "letters"})
    assert (again.status_code, again.json()["code"]) == (409, "session_busy")
    assert client.delete(f"{SESSIONS}/letters").status_code == 204
    assert client.post(SESSIONS, json={"name": "letters"}).status_code == 201
    assert [one["id"] for one in client.get(SESSIONS).json()] == ["letters"]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("default", 403),
        ("live", 403),
        ("task-1", 403),
        ("../x", 422),
        ("", 422),
        ("a b", 422),
        ("x" * 65, 422),
    ],
)
def test_a_name_that_can_not_be_is_refused(client: TestClient, name: str, status: int) -> None:
    for body in ({"name": name}, {"name": name, "dry_run": True}):
        said = client.post(SESSIONS, json=body)
        assert said.status_code == status, said.text
        assert said.json()["hint"]
    assert client.get(SESSIONS).json() == []


def test_a_session_that_nobody_uses_ends(serve: Serve) -> None:
    client = serve(session_ttl_s=0.2)
    name = client.post(SESSIONS, json={}).json()["id"]
    wait_for(lambda: client.get(SESSIONS).json() == [])
    said = client.post(EXECUTE, json={"action": {"kind": "wait"}, "session": name})
    assert (said.status_code, said.json()["code"]) == (404, "session_expired")
    assert said.json()["hint"]
    assert "operant_sessions_expired_total 1.0" in client.get("/metrics").text


def test_a_busy_pool_says_so_soon(client: TestClient) -> None:
    names = [client.post(SESSIONS, json={}).json()["id"] for _ in range(2)]
    said = client.post(SESSIONS, json={})
    assert (said.status_code, said.json()["code"]) == (503, "no_free_desktop")
    assert said.headers["retry-after"]
    dry = client.post(SESSIONS, json={"dry_run": True})
    assert dry.status_code == 503
    client.delete(f"{SESSIONS}/{names[0]}")
    wait_for(lambda: client.post(SESSIONS, json={"dry_run": True}).status_code == 200)
    assert client.post(SESSIONS, json={}).status_code == 201


def test_a_program_that_is_not_there_ends_what_was_leased_for_it(client: TestClient) -> None:
    said = client.post(SESSIONS, json={"launch": ["no-such-program"]})
    assert (said.status_code, said.json()["code"]) == (409, "application_failed")
    assert client.get(SESSIONS).json() == []


def test_old_frames_are_forgotten(client: TestClient) -> None:
    frames = [client.post(EXECUTE, json={"action": {"kind": "wait"}}).json()["frame"] for _ in range(6)]
    assert client.get(frames[-1]).status_code == 200
    assert client.get(frames[0]).status_code == 404


def profiles(client: TestClient) -> dict[str, str]:
    return {one["id"]: one["profile"] for one in client.get(SESSIONS).json()}


def test_a_session_is_full_unless_it_asks_otherwise(client: TestClient) -> None:
    full = client.post(SESSIONS, json={}).json()
    bare = client.post(SESSIONS, json={"profile": "bare"}).json()
    assert (full["profile"], bare["profile"]) == ("full", "bare")
    assert profiles(client) == {full["id"]: "full", bare["id"]: "bare"}
    client.delete(f"{SESSIONS}/{bare['id']}")
    wrong = client.post(SESSIONS, json={"profile": "ful"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_request")
    assert "'bare' or 'full'" in wrong.json()["message"]


def test_a_service_whose_desktops_are_bare(serve: Serve) -> None:
    client = serve(desktop={"profile": "bare", "width": 640, "height": 480})
    made = client.post(SESSIONS, json={}).json()
    assert (made["profile"], made["size"]) == ("bare", [640, 480])
    assert client.post(SESSIONS, json={"profile": "full"}).json()["profile"] == "full"


def test_a_size_alone_leaves_desktops_full(serve: Serve) -> None:
    client = serve(desktop={"width": 640, "height": 480})
    assert client.post(SESSIONS, json={}).json()["profile"] == "full"


@pytest.mark.parametrize(
    ("body", "profile"),
    [
        ({"instruction": "x"}, "full"),
        ({"instruction": "x", "profile": "bare"}, "bare"),
        ({"task_id": "fake/press-button-v1"}, "bare"),
    ],
)
def test_an_attempt_gets_the_desktop_that_it_is_for(serve: Serve, body: Any, profile: str) -> None:
    gate = threading.Event()
    client = serve(predictors=always(Waiting, gate=gate))
    name = client.post(COMPLETE, json={**body, "max_steps": 1, "wait": False}).json()["id"]
    wait_for(lambda: client.get(f"{ATTEMPTS}/{name}").json()["status"] == "running")
    wait_for(lambda: profiles(client) == {f"task-{name}": profile})
    gate.set()
    wait_for(lambda: client.get(f"{ATTEMPTS}/{name}").json()["status"] == "finished")


def test_a_profile_is_for_desktops_of_ones_own(client: TestClient) -> None:
    for more in ({"task_id": "fake/press-button-v1"}, {"instruction": "x", "session": "default"}):
        said = client.post(COMPLETE, json={"profile": "bare", **more})
        assert (said.status_code, said.json()["code"]) == (422, "invalid_request")


def test_a_desktop_that_can_not_be_made_full_goes_back(serve: Serve) -> None:
    class Panelless(FakeDesktop):
        def use_profile(self, profile: str) -> None:
            raise MissingProgram("lxpanel is not installed", hint="apt-get install lxpanel")

    client = serve(desktops=lambda config: Panelless(config), desktop={"profile": "bare"}, count=1)
    for _ in range(3):
        said = client.post(SESSIONS, json={"profile": "full"})
        assert (said.status_code, said.json()["code"]) == (503, "missing_program")
    assert client.post(SESSIONS, json={}).status_code == 201


class Screen(FakeDesktop):
    """Somebody's own screen, which is not really there."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[Action] = []

    def perform(self, action: Action) -> Any:
        self.done.append(action)
        return super().perform(action)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setattr("operant.service.sessions.session.LocalDesktop", Screen)
    return Screen()


def test_the_live_screen_needs_permission_and_a_yes(serve: Serve, screen: Screen) -> None:
    assert LocalDesktop is not None
    client = serve(allow_live=True, open_live=lambda: screen)
    act = {"action": {"kind": "key", "keys": ["enter"]}, "session": "live"}
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(client.post(EXECUTE, json=act)))
    thread.start()
    (waiting,) = wait_for(lambda: client.get("/api/v1/approvals").json())
    assert waiting["description"] == "press enter"
    assert screen.done == []
    client.post(f"/api/v1/approvals/{waiting['id']}", json={"approve": True})
    thread.join()
    assert answers[0].status_code == 200
    assert len(screen.done) == 1
    assert client.post("/api/v1/approvals/nope", json={"approve": True}).status_code == 404


def test_a_no_is_a_no_and_silence_too(serve: Serve, screen: Screen) -> None:
    client = serve(allow_live=True, open_live=lambda: screen, approval_timeout_s=0.1)
    act = {"action": {"kind": "key", "keys": ["enter"]}, "session": "live"}
    said = client.post(EXECUTE, json=act)
    assert (said.status_code, said.json()["code"]) == (403, "not_approved")
    assert screen.done == []


def test_auto_approve_does_not_ask(serve: Serve, screen: Screen) -> None:
    client = serve(allow_live=True, auto_approve=True, open_live=lambda: screen, agent="noop")
    live = {"session": "live"}
    assert client.post(EXECUTE, json={"action": {"kind": "wait"}, **live}).status_code == 200
    asked = {"instruction": "x", "use_live_screen": True}
    assert client.post("/api/v1/agent/predict", json=asked).json()["screen"] == [1280, 800]
    done = client.post(
        "/api/v1/agent/complete-task", json={"instruction": "x", "max_steps": 2, **live}
    ).json()
    assert done["steps_taken"] == 2
    refused = client.post(f"{SESSIONS}/live/launch", json={"command": ["xterm"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "live_screen_refused")
    task = client.post("/api/v1/agent/complete-task", json={"task_id": "fake/press-button-v1", **live})
    assert task.status_code == 403
    command = {"success_criteria": {"command_output": {"command": ["id"], "contains": "uid"}}}
    for path, body in (
        ("/api/v1/agent/complete-task", {"instruction": "x", **live, **command}),
        (f"{SESSIONS}/live/check", command),
    ):
        assert client.post(path, json=body).status_code == 403


class Careful(Agent):
    """Its vendor wants a person to confirm the first turn."""

    def act(self, observation: Observation) -> Action | Decision:
        if observation.step:
            return Action.done()
        return Decision((Action.key("enter"),), checks=("It sends mail.",))


@pytest.mark.parametrize("approve", [True, False])
def test_safety_checks_on_the_live_screen_wait_for_a_person_although_actions_do_not(
    serve: Serve, screen: Screen, approve: bool
) -> None:
    predictor = AgentPredictor("careful", Careful)
    client = serve(
        allow_live=True, auto_approve=True, open_live=lambda: screen, predictors=lambda model: predictor
    )
    asked = {"instruction": "x", "max_steps": 5, "session": "live"}
    answers: list[Any] = []
    thread = threading.Thread(
        target=lambda: answers.append(client.post("/api/v1/agent/complete-task", json=asked).json())
    )
    thread.start()
    (waiting,) = wait_for(lambda: client.get("/api/v1/approvals").json())
    assert waiting["description"] == "safety check: It sends mail."
    assert screen.done == []
    client.post(f"/api/v1/approvals/{waiting['id']}", json={"approve": approve})
    thread.join()
    assert screen.done == ([Action.key("enter")] if approve else [])
    assert ("declined: safety check: It sends mail." in str(answers[0])) is not approve


def test_safety_checks_in_a_sandbox_wait_for_no_one(serve: Serve) -> None:
    predictor = AgentPredictor("careful", Careful)
    client = serve(predictors=lambda model: predictor)
    done = client.post("/api/v1/agent/complete-task", json={"instruction": "x", "max_steps": 5}).json()
    assert done["steps_taken"] == 2


class Reader(Agent):
    """Reads widgets, and says whether there were any."""

    observation_type = "screenshot_a11y_tree"

    def act(self, observation: Observation) -> Action:
        return Action.fail("none" if observation.tree is None else "some")


def test_a_live_screen_without_widgets_is_seen_as_a_picture(
    serve: Serve, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AccessibilityError("no accessibility bus")

    monkeypatch.setattr(screen, "accessibility", refuse)
    client = serve(allow_live=True, auto_approve=True, open_live=lambda: screen, predictors=always(Reader))
    asked = {"instruction": "x", "use_live_screen": True}
    assert client.post("/api/v1/agent/predict", json=asked).json()["text"] == "none"
    body = {"instruction": "x", "session": "live"}
    done = client.post("/api/v1/agent/complete-task", json=body).json()
    assert done["actions"][0]["action"]["text"] == "none", done
    body = {"instruction": "x"}
    done = client.post("/api/v1/agent/complete-task", json=body).json()
    assert done["actions"][0]["action"]["text"] == "some", done
