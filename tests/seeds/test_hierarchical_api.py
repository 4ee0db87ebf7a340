"""The requests that the hierarchical agent's document shows, sent by ``requests`` to a real ``operant serve``.

They check what the API answers and on whose word, not how well the agent does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")
pytest.importorskip("torch", reason="the shipped agent answers")

import requests
from tests.service.conftest import wait_for
from tests.service.process import ServeProcess, serving

pytestmark = [pytest.mark.x11, pytest.mark.slow, pytest.mark.timeout(300)]

KINDS = {
    "click", "double_click", "right_click", "type", "key", "scroll", "drag", "move", "wait", "done", "fail",
    "answer", "ask", "key_down", "key_up", "mouse_down", "mouse_up", "hold",
}  # fmt: skip


@contextlib.contextmanager
def x_server() -> Iterator[str]:
    """A screen that is the machine's own as far as the service can tell."""
    reader, writer = os.pipe()
    argv = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with os.fdopen(reader, "rb") as told, subprocess.Popen(argv, pass_fds=(writer,)) as process:
        os.close(writer)
        try:
            yield ":" + told.readline().decode().strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    root = tmp_path_factory.mktemp("served")
    (root / "config").mkdir()
    with x_server() as display, serving(root, "--desktops", "2", "--allow-live", DISPLAY=display) as served:
        yield served


@pytest.fixture(scope="module")
def api(service: ServeProcess) -> str:
    return f"{service.url}/api/v1"


def test_predict_on_the_live_screen(api: str) -> None:
    """000, "Test Inference": predict with use_live_screen."""
    response = requests.post(
        f"{api}/agent/predict",
        json={
            "instruction": "Open the calculator application",
            "use_live_screen": True,
            "deterministic": False,
        },
        timeout=60,
    )
    action = response.json()
    assert response.status_code == 200, action
    print(f"Action: {action['action_type']} at {action['coordinates']}")
    assert action["action_type"] in KINDS
    assert action["screen"] == [1280, 800]


def test_the_live_screen_is_refused_where_it_was_not_allowed(tmp_path: Path) -> None:
    """000, "Test Inference": the same request to a service that may not look at its machine."""
    with serving(tmp_path, "--agent", "noop", "--desktops", "1") as served:
        body = {"instruction": "Open the calculator application", "use_live_screen": True}
        response = requests.post(f"{served.url}/api/v1/agent/predict", json=body, timeout=60)
        assert (response.status_code, response.json()["code"]) == (403, "live_screen_refused")
        assert "--allow-live" in response.json()["hint"]


def test_predict_then_execute_in_a_session(service: ServeProcess, api: str) -> None:
    """000, "Endpoints": predict and execute, on a desktop that is the session's own."""
    session = requests.post(f"{api}/sessions", json={}, timeout=60).json()["id"]
    asked = {"instruction": "Open the calculator application", "session": session, "deterministic": True}
    action = requests.post(f"{api}/agent/predict", json=asked, timeout=60).json()
    assert action["action_type"] in KINDS
    click = {"kind": "click", "point": [0.5, 0.5]}
    todo = (
        click if action["action"] is None or action["action_type"] in ("done", "fail") else action["action"]
    )
    done = requests.post(f"{api}/agent/execute", json={"action": todo, "session": session}, timeout=60)
    assert done.status_code == 200, done.text
    assert done.json()["performed"]
    assert requests.get(service.url + done.json()["frame"], timeout=60).ok
    assert requests.delete(f"{api}/sessions/{session}", timeout=60).status_code == 204


def test_complete_task(api: str) -> None:
    """000, "Example API Usage": complete-task. Nobody but the agent can say whether it worked."""
    response = requests.post(
        f"{api}/agent/complete-task",
        json={
            "instruction": "Open calculator and compute 15 + 27",
            "max_steps": 20,
            "deterministic": False,
        },
        timeout=120,
    )
    result = response.json()
    assert response.status_code == 200, result
    print(f"Success: {result['success']}")
    print(f"Steps: {result['steps_taken']}")
    print(f"Actions: {result['actions']}")
    assert (result["success"], result["verified"]) == (None, False)
    assert isinstance(result["claimed"], bool)
    assert 1 <= result["steps_taken"] == len(result["actions"]) <= 20


def test_complete_task_with_criteria(api: str) -> None:
    """000, "Custom Tasks" and "Example API Usage": criteria of a task file decide about an instruction."""
    body: dict[str, Any] = {
        "instruction": "Open the calculator application",
        "success_criteria": {"window_title": "Calculator"},
        "max_steps": 6,
        "deterministic": False,
    }
    result = requests.post(f"{api}/agent/complete-task", json=body, timeout=120).json()
    assert (result["verified"], result["judge"]) == (True, "criteria"), result
    assert result["success"] is (result["outcome"] == "success")
    none = {**body, "success_criteria": {"file_exists": "output.txt"}, "max_steps": 1}
    result = requests.post(f"{api}/agent/complete-task", json=none, timeout=120).json()
    assert (result["success"], result["verified"], result["why"]) == (False, True, "nothing is at output.txt")
    wrong = {**body, "success_criteria": {"file_exist": "output.txt"}}
    refused = requests.post(f"{api}/agent/complete-task", json=wrong, timeout=60)
    assert refused.status_code == 422
    assert "file_exists" in refused.json()["hint"]


def test_criteria_see_what_was_done(api: str) -> None:
    """000, "Custom Tasks": window_title and file_exists hold once the program is open and the file is there."""
    body = {"success_criteria": {"window_title": "Calculator", "file_exists": "output.txt"}}
    session = requests.post(f"{api}/sessions", json=body, timeout=60).json()["id"]
    check = f"{api}/sessions/{session}/check"
    assert requests.post(check, json={}, timeout=60).json()["success"] is False
    for command in (["mate-calc"], ["xterm", "-e", "touch output.txt; sleep 60"]):
        opened = requests.post(f"{api}/sessions/{session}/launch", json={"command": command}, timeout=60)
        assert opened.status_code == 200, opened.text
    assert wait_for(lambda: requests.post(check, json={}, timeout=60).json()["success"])
    requests.delete(f"{api}/sessions/{session}", timeout=60)


def test_model_info(api: str) -> None:
    """000, "Endpoints": model-info."""
    info = requests.get(f"{api}/agent/model-info", timeout=60).json()
    assert info["agent"].startswith("hierarchical")
    assert info["parameters"] > 0


def test_metrics_and_their_reset(api: str) -> None:
    """000, "Endpoints": monitoring/metrics and monitoring/reset-metrics."""
    requests.post(f"{api}/agent/predict", json={"instruction": "Open the calculator"}, timeout=60)
    before = requests.get(f"{api}/monitoring/metrics", timeout=60).json()
    assert before["requests"] >= 1
    assert before["predictions"] >= 1
    assert requests.post(f"{api}/monitoring/reset-metrics", timeout=60).ok
    after = requests.get(f"{api}/monitoring/metrics", timeout=60).json()
    assert after["predictions"] == 0


def test_training_is_started_watched_and_stopped(api: str) -> None:
    """000, "Endpoints": training/start, training/status and training/stop, with real training."""
    body = {"total_timesteps": 100_000, "difficulty": "EASY", "curriculum": True, "num_envs": 1}
    started = requests.post(f"{api}/training/start", json=body, timeout=60)
    assert started.status_code == 201, started.text
    status = requests.get(f"{api}/training/status", timeout=60).json()
    assert (status["running"], status["run"]["state"]) == (True, "running")
    assert requests.post(f"{api}/training/stop", timeout=60).ok
    requests.post(f"{api}/training/stop", timeout=60)  # asked again, it ends at once
    ended = wait_for(lambda: not requests.get(f"{api}/training/status", timeout=60).json()["running"], 120.0)
    assert ended
