"""Success criteria that clients send: who decides then, and what is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.service.conftest import Serve
from tests.service.policies import Typist, always

from operant.errors import DesktopDied, TaskError
from operant.service.attempts.criteria import (
    HOST_FIELDS,
    MAX_BYTES,
    MAX_CRITERIA,
    criterion_of_client,
    criterion_of_text,
)
from operant.tasks.criteria.parse import CRITERIA
from operant.testing import FakeDesktop

COMPLETE, SESSIONS = "/api/v1/agent/complete-task", "/api/v1/sessions"
HELLO = {"accessible": {"app": "mousepad", "role": "text", "text": "hello"}}
HOST_PICTURE = {"path": "a", "reference_path": "/etc/passwd"}
PIXEL = base64.b64encode(b"not a picture").decode()


def session_with(client: TestClient, program: str, **more: Any) -> str:
    return str(client.post(SESSIONS, json={"launch": [program], **more}).json()["id"])


def test_the_criteria_of_a_request_decide(serve: Serve) -> None:
    client = serve(predictors=always(Typist))
    body = {"instruction": "hello", "success_criteria": HELLO, "max_steps": 5}
    done = client.post(COMPLETE, json={**body, "session": session_with(client, "mousepad")}).json()
    assert (done["success"], done["verified"], done["claimed"]) == (True, True, True), done
    assert (done["judge"], done["outcome"]) == ("criteria", "success")
    empty = client.post(COMPLETE, json=body).json()  # on a desktop without an editor
    assert (empty["success"], empty["verified"], empty["claimed"]) == (False, True, True)
    assert (empty["judge"], empty["outcome"]) == ("criteria", "failure")


def test_criteria_do_not_end_an_episode(serve: Serve) -> None:
    """As in evaluation: they are asked when the agent is done, or has no steps left."""
    client = serve(agent="noop")
    body = {"instruction": "wait", "success_criteria": {"file_not_exists": "a.txt"}, "max_steps": 3}
    said = client.post(COMPLETE, json=body).json()
    assert (said["success"], said["claimed"], said["steps_taken"]) == (True, False, 3)


def test_without_criteria_nothing_is_a_success(serve: Serve) -> None:
    client = serve(agent="done")
    said = client.post(COMPLETE, json={"instruction": "Make tea"}).json()
    assert (said["success"], said["verified"], said["claimed"], said["judge"]) == (None, False, True, "agent")
    given_up = client.post(COMPLETE, json={"instruction": "Make tea", "model": "fail"}).json()
    assert (given_up["success"], given_up["verified"], given_up["claimed"]) == (None, False, False)


def test_the_criteria_of_a_session_decide_about_instructions_without_any(serve: Serve) -> None:
    client = serve(predictors=always(Typist))
    session = session_with(client, "mousepad", success_criteria=HELLO)
    check = f"{SESSIONS}/{session}/check"
    assert client.post(check, json={}).json()["success"] is False
    done = client.post(COMPLETE, json={"instruction": "hello", "session": session}).json()
    assert (done["success"], done["verified"]) == (True, True), done
    assert client.post(check, json={}).json()["success"] is True
    other = client.post(check, json={"success_criteria": {"file_exists": "output.txt"}}).json()
    assert other == {"success": False, "why": "nothing is at output.txt"}
    answered = {"success_criteria": {"answer": "42"}, "answer": "42"}
    assert client.post(check, json=answered).json()["success"] is True


def test_a_session_without_criteria_can_not_be_checked(client: TestClient) -> None:
    said = client.post(f"{SESSIONS}/default/check", json={})
    assert (said.status_code, said.json()["code"]) == (422, "invalid_task")


@pytest.mark.parametrize(
    ("criteria", "message", "hint"),
    [
        ({"window_titel": "x"}, "success_criteria.window_titel", "did you mean 'window_title'?"),
        ({"file_exists": {"pth": "x"}}, "success_criteria.file_exists.pth", "did you mean 'path'?"),
        ({"file_exists": "/etc/passwd"}, "outside the desktop's HOME", "HOME"),
        ({"file_exists": "../../etc/passwd"}, "outside the desktop's HOME", "HOME"),
        ({"file_exists": 5}, "success_criteria.file_exists", "path"),
        ({"any": []}, "no criterion", ""),
        ({}, "no criterion", ""),
        ([], "no criterion", ""),
        ({"not": {"not": {"image_similar": HOST_PICTURE}}}, "service's machine", "reference_base64"),
        ({"image_similar": {"path": "a", "reference_base64": PIXEL}}, "not a picture", "PNG"),
        ([{"file_exists": "a"}] * (MAX_CRITERIA + 1), f"more than {MAX_CRITERIA}", ""),
        ({"file_equals": {"path": "a", "text": "x" * MAX_BYTES}}, "bytes are more", ""),
        ({"nonsense": "x" * 10_000}, "success_criteria.nonsense", "valid:"),
    ],
)  # fmt: skip
def test_bad_criteria_are_refused_before_anything_runs(
    client: TestClient, criteria: Any, message: str, hint: str
) -> None:
    for path, body in (
        (COMPLETE, {"instruction": "x", "success_criteria": criteria}),
        (SESSIONS, {"success_criteria": criteria}),
        (f"{SESSIONS}/default/check", {"success_criteria": criteria}),
    ):
        said = client.post(path, json=body)
        assert (said.status_code, said.json()["code"]) == (422, "invalid_task"), said.text
        assert message in said.json()["message"]
        assert hint in (said.json()["hint"] or "")
        assert len(said.text) < 1500
    assert client.get("/api/v1/agent/attempts").json() == []
    assert client.get(SESSIONS).json() == []


@pytest.mark.parametrize("criteria", ["window_title", 5, True, [5]])
def test_what_is_no_mapping_is_an_invalid_request(client: TestClient, criteria: Any) -> None:
    said = client.post(COMPLETE, json={"instruction": "x", "success_criteria": criteria})
    assert (said.status_code, said.json()["code"]) == (422, "invalid_request")


def test_half_a_character_is_refused(client: TestClient) -> None:
    for criteria in ('{"\\ud800": "x"}', '{"window_title": "\\ud800"}', '{"window_title": NaN}'):
        body = f'{{"instruction": "x", "success_criteria": {criteria}}}'
        said = client.post(COMPLETE, content=body, headers={"content-type": "application/json"})
        assert said.status_code == 422, said.text


def test_a_task_of_a_suite_has_criteria_of_its_own(client: TestClient) -> None:
    body = {"task_id": "fake/press-button-v1", "success_criteria": HELLO}
    said = client.post(COMPLETE, json=body)
    assert (said.status_code, said.json()["code"]) == (422, "invalid_request")
    assert "criteria of its own" in said.json()["message"]


def test_no_criterion_takes_a_file_of_this_machine() -> None:
    """A new criterion that reads a host file must be found by its type, as this one is."""
    assert list(HOST_FIELDS.items()) == [("reference_path", "image_similar")]
    for key, kind in CRITERIA.items():
        for name, field in kind.model_fields.items():
            assert ("Path" in str(field.annotation)) == (name in HOST_FIELDS), (key, name)


def test_a_form_says_where_its_json_is_wrong() -> None:
    assert criterion_of_text("  ") is None
    assert criterion_of_text(json.dumps(HELLO)) == criterion_of_client(HELLO)
    for text, message in (
        ('{"window_title": }', "line 1, column 18"),
        ('"Calculator"', "is not a criterion"),
        ('{"window_titel": "x"}', "window_titel"),
        ("[" * 100_000, "JSON"),
    ):
        with pytest.raises(TaskError, match=message):
            criterion_of_text(text)


def test_a_desktop_that_dies_is_not_the_agents_failure(serve: Serve) -> None:
    """Nobody succeeded and nobody failed: the machine did, twice."""

    class Mortal(FakeDesktop):
        def perform(self, action: Any) -> Any:
            raise DesktopDied("the panel is gone")

    client = serve(desktops=lambda config: Mortal(config), predictors=always(Typist))
    for more in ({}, {"success_criteria": HELLO}):
        said = client.post(COMPLETE, json={"instruction": "hello", **more}).json()
        assert (said["outcome"], said["success"], said["verified"]) == ("infra_error", None, False)
        assert "the panel is gone" in said["why"]
        assert said["claimed"] is False
    assert client.get("/api/v1/monitoring/metrics").json()["episodes"] == {"infra_error": 2}


def test_a_part_that_died_unnoticed_is_not_the_agents_failure(serve: Serve) -> None:
    """The health check at the end finds it, with criteria and without."""

    class Headless(FakeDesktop):
        acted = False

        def perform(self, action: Any) -> Any:
            self.acted = True
            return super().perform(action)

        def check(self) -> None:
            if self.acted:
                raise DesktopDied("the panel is gone")

    client = serve(desktops=lambda config: Headless(config), predictors=always(Typist))
    for more in ({}, {"success_criteria": HELLO}):
        said = client.post(COMPLETE, json={"instruction": "hello", **more}).json()
        assert (said["outcome"], said["success"], said["verified"]) == ("infra_error", None, False), said
