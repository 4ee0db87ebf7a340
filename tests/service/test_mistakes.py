"""What a client is told about a wrong request: every field, the nearest names, in our words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.service.conftest import Serve

PREDICT, EXECUTE = "/api/v1/agent/predict", "/api/v1/agent/execute"
COMPLETE, SESSIONS = "/api/v1/agent/complete-task", "/api/v1/sessions"
#: of pydantic and its parsers
FOREIGN = re.compile(
    r"Input should|Field required|Extra inputs|validation error|String should|Value error|valid dict"
)

NEAR = "did you mean {!r}?".format


@pytest.fixture(scope="module")
def client(module_serve: Serve) -> TestClient:
    return module_serve(dashboard=False)


@pytest.mark.parametrize(
    ("path", "body", "message", "hint"),
    [
        (PREDICT, {}, "instruction is missing", None),
        (PREDICT, {"instructon": "x"}, "instructon is not a field", NEAR("instruction")),
        (PREDICT, {"instruction": 5}, "instruction must be text (got 5)", None),
        (PREDICT, {"instruction": ""}, "instruction must not be empty", None),
        (PREDICT, {"instruction": "x", "step": -1}, "step must be at least 0 (got -1)", None),
        (PREDICT, {"instruction": "x", "step": 1.5}, "step must be a whole number (got 1.5)", None),
        (PREDICT, {"instruction": "x", "step": "y"}, "step must be a whole number (got 'y')", None),
        (PREDICT, {"instruction": "x", "deterministic": "often"}, "deterministic must be true or false (got 'often')", None),
        (PREDICT, {"instruction": "x", "formats": "json"}, "formats must be a list (got 'json')", None),
        (PREDICT, {"instruction": "x", "formats": ["pyautogiu"]},
         "formats.0 has no such choice (got 'pyautogiu')", NEAR("pyautogui")),
        (PREDICT, {"instruction": "x" * 5000}, f"instruction may have at most 4000 characters (got '{'x' * 36}...)", None),
        (PREDICT, [], "the body must be a JSON object", None),
        (EXECUTE, {"acton": {"kind": "wait"}}, "acton is not a field", NEAR("action")),
        (EXECUTE, {"action": 5}, "action must be an object, a list or text (got 5)", None),
        (EXECUTE, {"action": {}, "screen": [1]}, "screen must have at least 2 entries", None),
        (EXECUTE, {"action": {}, "format": "jsno"}, "format has no such choice (got 'jsno')", NEAR("json")),
        (COMPLETE, {}, "give an instruction or a task_id, and not both", None),
        (COMPLETE, {"instruction": "x", "profile": "ful"}, "profile must be 'bare' or 'full' (got 'ful')", NEAR("full")),
        (COMPLETE, {"instruction": "x", "secrets": [5]}, "secrets.0 must be text", None),
        (COMPLETE, {"instruction": "x", "success_criteria": 5}, "success_criteria must be an object or a list (got 5)", None),
        (SESSIONS, {"ttl_s": 0.5, "lanch": ["x"]},
         "ttl_s must be at least 1 (got 0.5); lanch is not a field", f"lanch: {NEAR('launch')}"),
        (SESSIONS, {"ttl_s": "soon"}, "ttl_s must be a number (got 'soon')", None),
        (SESSIONS, {"launch": []}, "launch must not be empty", None),
        ("/api/v1/agent/models", {"name": None}, "name must be text (got null)", None),
    ],
)  # fmt: skip
def test_a_wrong_field_is_told_in_our_words(
    client: TestClient, path: str, body: Any, message: str, hint: str | None
) -> None:
    said = client.post(path, json=body)
    told = said.json()
    assert (said.status_code, told["code"], told["message"]) == (422, "invalid_request", message)
    assert told["hint"] == (hint or "the fields and their types are described at /docs")
    assert not FOREIGN.search(said.text)


def test_every_wrong_field_is_named(client: TestClient) -> None:
    body = {"task_id": 7, "max_steps": 0, "split": "heldut", "sessoin": "a", "zzz": 1, "pace_s": 11}
    said = client.post(COMPLETE, json=body).json()
    assert {one["field"] for one in said["fields"]} == set(body)
    assert all(name in said["message"] for name in body)
    assert "split: did you mean 'heldout'?" in said["hint"]
    assert "sessoin: did you mean 'session'?" in said["hint"]
    assert "zzz: fields: instruction, success_criteria, task_id" in said["hint"]


def test_a_form_is_told_the_same(client: TestClient) -> None:
    said = client.post(PREDICT, data={"instruktion": "x", "step": "many"}, files={"screenshot": b""}).json()
    assert {one["field"]: one["message"] for one in said["fields"]} == {
        "step": "must be a whole number (got 'many')",
        "instruktion": "is not a field",
    }


@pytest.mark.parametrize("path", [PREDICT, EXECUTE])
def test_a_body_that_is_no_json_says_where(client: TestClient, path: str) -> None:
    said = client.post(path, content=b'{"instruction": ', headers={"content-type": "application/json"})
    assert said.json()["message"].startswith("the body is not JSON: ")
    assert not FOREIGN.search(said.text)


def test_addresses_are_told_the_same(client: TestClient) -> None:
    said = client.get("/api/v1/sessions/default/frame", params={"width": "wide", "encoding": "jpg"}).json()
    told = {one["field"]: one["message"] for one in said["fields"]}
    assert told["width"] == "must be a whole number (got 'wide')"
    assert told["encoding"].startswith("must be '")
    assert told["encoding"].endswith(" (got 'jpg')")
    assert said["hint"] == "encoding: did you mean 'jpeg'?"


def test_a_wrong_token_is_told_from_none(serve: Serve) -> None:
    token = "a-token-of-some-length"
    client = serve(token=token)
    none = client.get("/api/v1/sessions")
    wrong = client.get("/api/v1/sessions", headers={"authorization": "Bearer another-token-entirely"})
    right = client.get("/api/v1/sessions", headers={"authorization": f"Bearer {token}"})
    assert [one.status_code for one in (none, wrong, right)] == [401, 401, 200]
    assert none.json()["message"] == "this service wants a token"
    assert wrong.json()["message"] == "the token is wrong"
