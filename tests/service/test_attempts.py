"""Whole tasks: verified, on the agent's word, watched, taken over, cancelled, and after a machine's failure."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.service.conftest import Serve, wait_for
from tests.service.policies import Brightest, Typist, Waiting, always

from operant.agents.base import Agent
from operant.errors import DesktopDied
from operant.rollout.store import read_episode
from operant.service.inference.models import Model
from operant.service.inference.predictor import AgentPredictor
from operant.testing import FakeDesktop
from operant.types import Action, Observation

COMPLETE, ATTEMPTS = "/api/v1/agent/complete-task", "/api/v1/agent/attempts"
PRESS = "fake/press-button-v1"


def test_the_criteria_decide(serve: Serve) -> None:
    solved = serve(agent="oracle").post(COMPLETE, json={"task_id": PRESS, "seed": 3}).json()
    assert (solved["success"], solved["verified"], solved["judge"]) == (True, True, "criteria")
    assert solved["outcome"] == "success"
    assert solved["steps_taken"] == len(solved["actions"]) == 2


def test_an_agent_that_only_says_done_has_not_succeeded(serve: Serve) -> None:
    said = serve(agent="done").post(COMPLETE, json={"task_id": PRESS}).json()
    assert (said["success"], said["verified"], said["outcome"]) == (False, True, "failure")


@pytest.mark.parametrize(
    ("agent", "claimed", "why"),
    [
        ("done", True, "the agent says that it is done; there are no criteria to verify it"),
        ("fail", False, "the agent says that it can't be done; there are no criteria to verify it"),
        ("noop", False, "the agent ran out of steps; there are no criteria to verify it"),
    ],
)
def test_a_free_instruction_is_unverified(serve: Serve, agent: str, claimed: bool, why: str) -> None:
    client = serve(agent=agent)
    said = client.post(COMPLETE, json={"instruction": "Make tea", "max_steps": 2}).json()
    assert (said["success"], said["claimed"], said["verified"]) == (None, claimed, False)
    assert (said["outcome"], said["judge"], said["why"]) == ("unverified", "agent", why)
    (episode,) = client.get("/api/v1/episodes", params={"outcome": "unverified"}).json()["episodes"]
    assert (episode["id"], episode["outcome"]) == (said["episode"], "unverified")
    told = client.get("/api/v1/monitoring/metrics").json()
    assert (told["episodes"], told["success_rate"], told["verified"]) == ({"unverified": 1}, None, 0)


class Breaks(Agent):
    def act(self, observation: Observation) -> Action:
        raise RuntimeError("no")


def test_an_agent_that_fails_a_free_instruction_is_unverified_too(serve: Serve) -> None:
    said = serve(predictors=always(Breaks)).post(COMPLETE, json={"instruction": "Make tea"}).json()
    assert (said["success"], said["claimed"], said["verified"]) == (None, False, False)
    assert said["outcome"] == "unverified"
    assert "RuntimeError" in said["why"]


def test_an_episode_is_there_when_the_answer_is(serve: Serve) -> None:
    client = serve(agent="oracle")
    said = client.post(COMPLETE, json={"task_id": PRESS}, headers={"x-request-id": "req-7"}).json()
    episode = client.get(f"/api/v1/episodes/{said['episode']}").json()
    assert episode["outcome"] == "success"
    assert [step["description"] for step in episode["steps"]] == [
        action["description"] for action in said["actions"]
    ]
    shot = client.get(episode["steps"][0]["screenshot"])
    assert shot.headers["content-type"] == "image/png"
    header = client.get(f"/api/v1/episodes/{said['episode']}/files/episode.json").json()
    assert header["request_id"] == "req-7"
    assert client.get("/api/v1/episodes", params={"outcome": "success"}).json()["total"] == 1
    assert client.get("/api/v1/episodes", params={"outcome": "failure"}).json()["total"] == 0
    assert client.get(f"/api/v1/episodes/{said['episode']}/files/run.json").status_code == 404


def test_a_screen_without_a_file_is_drawn_when_it_is_asked_for(serve: Serve, tmp_path: Any) -> None:
    client = serve(agent="oracle")
    said = client.post(COMPLETE, json={"task_id": PRESS}).json()
    (path,) = (tmp_path / "data").rglob("observations.bin")
    view = client.get(f"/api/v1/episodes/{said['episode']}").json()
    before = client.get(view["first_screenshot"]).content
    lines = [json.loads(line) for line in (path.parent / "traj.jsonl").read_text().splitlines()]
    header = json.loads((path.parent / "episode.json").read_text())
    del header["first_screenshot"]
    (path.parent / "episode.json").write_text(json.dumps(header))
    (path.parent / "traj.jsonl").write_text(
        "".join(json.dumps(line | {"screenshot_file": None}) + "\n" for line in lines)
    )
    for picture in path.parent.glob("step_*.png"):
        picture.unlink()
    view = client.get(f"/api/v1/episodes/{said['episode']}").json()
    assert view["first_screenshot"].endswith("/step_0.png")
    shot = client.get(view["first_screenshot"])
    assert shot.headers["content-type"] == "image/png"
    assert shot.content == before
    files = f"/api/v1/episodes/{said['episode']}/files"
    assert client.get(f"{files}/step_99.png").status_code == 404
    assert client.get(f"{files}/observations.bin").status_code == 404


class ReadingTypist(Typist):
    observation_type = "screenshot_a11y_tree"


def test_secrets_reach_the_desktop_and_nothing_else(serve: Serve, tmp_path: Any) -> None:
    client = serve(predictors=always(ReadingTypist))
    session = client.post("/api/v1/sessions", json={"launch": ["mousepad"]}).json()["id"]
    body = {"instruction": "enter hunter2 now", "secrets": ["hunter2"], "session": session}
    said = client.post(COMPLETE, json=body)
    assert said.json()["claimed"]
    assert "hunter2" not in said.text
    desktop = client.runtime.sessions.find(session).desktop  # type: ignore[attr-defined]
    assert "hunter2" in desktop.accessibility().find("text").text
    kept = [path for path in (tmp_path / "data").rglob("*") if path.suffix in (".json", ".jsonl")]
    assert kept
    for path in kept:
        assert "hunter2" not in path.read_text()
    (observed,) = (tmp_path / "data").rglob("observations.bin")
    seen = list(read_episode(observed.parent).observations())
    assert "enter ••• now" in str(seen[-1].tree)
    assert "hunter2" not in str([replace(one, screen=None) for one in seen])  # type: ignore[arg-type]
    assert "hunter2" not in client.get(ATTEMPTS).text
    told = client.runtime.sessions.find(session).events_after(0)  # type: ignore[attr-defined]
    assert told
    assert "hunter2" not in str(told)


def test_a_long_task_is_started_polled_and_cancelled(serve: Serve) -> None:
    gate = threading.Event()
    client = serve(predictors=always(Waiting, gate=gate))
    said = client.post(COMPLETE, json={"instruction": "x", "max_steps": 1000, "wait": False})
    assert said.status_code == 202
    name = said.json()["id"]
    wait_for(lambda: client.get(f"{ATTEMPTS}/{name}").json()["status"] == "running")
    told = client.get(f"{ATTEMPTS}/{name}").json()
    assert (told["judge"], told["success"], told["outcome"]) == ("agent", None, None)
    client.delete(f"{ATTEMPTS}/{name}")
    gate.set()
    wait_for(lambda: client.get(f"{ATTEMPTS}/{name}").json()["status"] == "cancelled")
    wait_for(lambda: client.get("/api/v1/sessions").json() == [])


def test_a_model_for_one_task_is_let_go_of_afterwards(serve: Serve) -> None:
    made: list[AgentPredictor] = []

    def make(model: Model) -> AgentPredictor:
        made.append(AgentPredictor(model.name, Brightest))
        return made[-1]

    client = serve(predictors=make)
    client.post(COMPLETE, json={"instruction": "x", "max_steps": 1})
    client.post(COMPLETE, json={"instruction": "x", "max_steps": 1, "model": "noop"})
    first, second = made
    wait_for(lambda: second._agent.closed)  # type: ignore[attr-defined]
    assert not first._agent.closed  # type: ignore[attr-defined]


def test_steps_are_streamed(serve: Serve) -> None:
    client = serve(agent="oracle")
    name = client.post(COMPLETE, json={"task_id": "fake/fill-field-v1", "wait": False}).json()["id"]
    text = client.get(f"{ATTEMPTS}/{name}/events").text
    events = [part.split("\ndata: ") for part in text.strip().split("\n\n") if not part.startswith(":")]
    assert [kind for kind, _ in events] == ["event: step"] * (len(events) - 1) + ["event: end"]
    assert json.loads(events[-1][1])["success"]
    assert len(events) - 1 == json.loads(events[-1][1])["steps_taken"]


def test_a_person_takes_over_and_hands_back(serve: Serve) -> None:
    gate = threading.Event()
    client = serve(predictors=always(Waiting, gate=gate))
    session = client.post("/api/v1/sessions", json={}).json()["id"]
    body = {"instruction": "x", "max_steps": 5, "wait": False, "session": session}
    name = client.post(COMPLETE, json=body).json()["id"]
    wait_for(lambda: client.get(f"{ATTEMPTS}/{name}").json()["status"] == "running")
    act = {"action": {"kind": "wait"}, "session": session}
    busy = client.post("/api/v1/agent/execute", json=act)
    assert (busy.status_code, busy.json()["code"]) == (409, "session_busy")
    again = client.post(COMPLETE, json=body | {"wait": True})
    assert (again.status_code, again.json()["code"]) == (409, "session_busy")
    taken = client.post(f"/api/v1/sessions/{session}/control", json={"taken_over": True}).json()
    assert taken["taken_over"]
    gate.set()
    assert client.post("/api/v1/agent/execute", json=act).status_code == 200
    assert client.get(f"{ATTEMPTS}/{name}").json()["steps_taken"] == 0
    client.post(f"/api/v1/sessions/{session}/control", json={"taken_over": False})
    wait_for(lambda: client.get(f"{ATTEMPTS}/{name}").json()["status"] == "finished")
    assert client.get(f"{ATTEMPTS}/{name}").json()["steps_taken"] == 5


def test_a_desktop_that_fails_is_replaced_and_the_task_done_on_another(serve: Serve) -> None:
    made: list[FakeDesktop] = []

    def desktops(config: Any) -> Any:
        made.append(FakeDesktop(config))
        return made[-1]

    client = serve(desktops=desktops, agent="oracle", count=1)
    original = made[0].perform

    def fail_once(action: Any) -> Any:
        made[0].break_with(DesktopDied("killed"))
        return original(action)

    made[0].perform = fail_once  # type: ignore[method-assign]
    said = client.post(COMPLETE, json={"task_id": PRESS}).json()
    assert said["success"], said
    assert len(made) == 2
    assert client.get("/api/v1/monitoring/metrics").json()["desktops"]["replaced"] == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid_request"),
        ({"task_id": PRESS, "instruction": "x"}, 422, "invalid_request"),
        ({"task_id": "fake/pres-button-v1"}, 404, "unknown_task"),
        ({"task_id": "../../../x"}, 404, "unknown_task"),
        ({"task_id": PRESS, "session": "nope"}, 404, "unknown_session"),
        ({"task_id": PRESS, "model": "nope"}, 404, "unknown_model"),
        ({"instruction": "x", "model": "oracle"}, 403, "forbidden"),
        ({"task_id": PRESS, "max_steps": 0}, 422, "invalid_request"),
        ({"task_id": PRESS, "split": "other"}, 422, "invalid_request"),
    ],
)
def test_a_task_that_can_not_be_is_refused(
    client: TestClient, body: dict[str, Any], status: int, code: str
) -> None:
    said = client.post(COMPLETE, json=body)
    assert (said.status_code, said.json()["code"]) == (status, code)


def test_a_near_name_is_suggested(client: TestClient) -> None:
    said = client.post(COMPLETE, json={"task_id": "fake/pres-button-v1"}).json()
    assert PRESS in said["hint"]


def test_a_dry_run_starts_nothing(client: TestClient) -> None:
    said = client.post(COMPLETE, json={"task_id": PRESS, "dry_run": True}).json()
    assert said["status"] == "dry_run"
    assert said["instruction"]
    assert client.get(ATTEMPTS).json() == []


def test_too_many_tasks_are_refused(serve: Serve) -> None:
    gate = threading.Event()
    client = serve(predictors=always(Waiting, gate=gate), count=1, queued_attempts=1)
    body = {"instruction": "x", "max_steps": 1, "wait": False}
    codes = [client.post(COMPLETE, json=body).status_code for _ in range(5)]
    gate.set()
    assert codes == [202, 202, 202, 429, 429]
    wait_for(lambda: all(one["status"] == "finished" for one in client.get(ATTEMPTS).json()))
