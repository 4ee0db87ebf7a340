"""The door: tokens, hosts, origins, sizes and rates; and that no failure shows its insides."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tests.service.conftest import Serve
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from operant.config.service import ServiceConfig
from operant.errors import ConfigError
from operant.service.allowance import Allowances
from operant.service.app import create_app

TOKEN = "correct-horse-battery"
BEARER = {"authorization": f"Bearer {TOKEN}"}
PAGES = ["/api/v1/agent/models", "/api/v1/sessions", "/metrics", "/docs", "/openapi.json", "/ready"]


def test_only_this_machine_is_listened_to_without_a_token() -> None:
    assert ServiceConfig().host == "127.0.0.1"
    for host in ("0.0.0.0", "::", "192.0.2.7", "example.org"):
        with pytest.raises(ValidationError, match="set a token"):
            ServiceConfig(host=host)
        assert ServiceConfig(host=host, token=TOKEN).token is not None
    with pytest.raises(ConfigError, match="at least 16"):
        ServiceConfig.build(token="short")
    assert TOKEN not in repr(ServiceConfig(token=TOKEN))


def test_the_environment_sets_everything() -> None:
    said = {
        "OPERANT_PORT": "9000",
        "OPERANT_TOKEN": TOKEN,
        "TRAINING_ENABLED": "false",
        "LOG_FORMAT": "json",
        "OPERANT_CORS_ORIGINS": "http://a.example, http://b.example",
        "OPERANT_TRAINING_COMMAND": "python train.py --fast",
        "OPERANT_UNRELATED": "1",
    }
    config = ServiceConfig.from_environment(said, desktops=3, agent=None)
    assert (config.port, config.training_enabled, config.log_format) == (9000, False, "json")
    assert config.cors_origins == ("http://a.example", "http://b.example")
    assert config.training_command == ("python", "train.py", "--fast")
    assert (config.desktops, config.agent) == (3, "hierarchical")
    assert "agent" not in config.model_fields_set  # so another one may stand in for it


@pytest.mark.parametrize("path", PAGES)
def test_with_a_token_nobody_gets_in_without_it(serve: Serve, path: str) -> None:
    client = serve(token=TOKEN)
    for headers in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": TOKEN},
        {"authorization": "Bearer"},
    ):
        said = client.get(path, headers=headers)
        assert (said.status_code, said.json()["code"]) == (401, "unauthorized")
        assert said.headers["www-authenticate"] == "Bearer"
    assert client.get(path, headers=BEARER).status_code == 200
    client.cookies.set("operant_token", TOKEN)
    assert client.get(path).status_code == 200


def test_health_needs_no_token(serve: Serve) -> None:
    assert serve(token=TOKEN).get("/health").json()["status"] == "ok"


def test_a_websocket_needs_the_token_too(serve: Serve, listening: Callable[[TestClient], str]) -> None:
    address = f"ws://{listening(serve(token=TOKEN))}/api/v1/sessions/default/stream"
    with pytest.raises(InvalidStatus) as refused, connect(address):
        pass
    assert refused.value.response.status_code == 403
    with connect(address, additional_headers=BEARER) as socket:
        assert json.loads(socket.recv(timeout=30))["type"] == "hello"


def test_a_page_of_somebody_else_can_not_act(client: TestClient) -> None:
    body = {"action": {"kind": "wait"}}
    path = "/api/v1/agent/execute"
    said = client.post(path, json=body, headers={"origin": "http://evil.example"})
    assert (said.status_code, said.json()["code"]) == (403, "forbidden")
    assert client.post(path, json=body, headers={"origin": "http://testserver"}).status_code == 200
    stream = "/api/v1/sessions/default/stream"
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(stream, headers={"origin": "http://evil.example"}),
    ):
        pass


def test_another_name_for_this_machine_is_refused(client: TestClient) -> None:
    """Otherwise a page could have its own name point here."""
    said = client.get("/health", headers={"host": "rebound.example"})
    assert (said.status_code, said.json()["code"]) == (403, "forbidden")
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000"):
        assert client.get("/health", headers={"host": host}).status_code == 200


def test_an_open_port_without_a_token_answers_nobody() -> None:
    """As when somebody runs uvicorn with --host 0.0.0.0 by hand."""
    client = TestClient(create_app(ServiceConfig(dashboard=False)), base_url="http://10.1.2.3:8000")
    said = client.get("/health")
    assert (said.status_code, said.json()["code"]) == (403, "forbidden")


def test_no_other_origin_may_read(client: TestClient, serve: Serve) -> None:
    asked = {"origin": "http://a.example", "access-control-request-method": "POST"}
    assert "access-control-allow-origin" not in client.get("/health", headers=asked).headers
    opened = serve(cors_origins=("http://a.example",))
    said = opened.options("/api/v1/agent/predict", headers=asked)
    assert said.headers["access-control-allow-origin"] == "http://a.example"


def test_a_body_that_is_too_large_is_refused(serve: Serve) -> None:
    client = serve(max_body_bytes=2000)
    big = {"instruction": "x" * 3000}
    said = client.post("/api/v1/agent/predict", json=big)
    assert (said.status_code, said.json()["code"]) == (413, "too_large")

    def without_length():  # type: ignore[no-untyped-def]
        for _ in range(10):
            yield b"x" * 500

    said = client.post("/api/v1/agent/predict", content=without_length())
    assert (said.status_code, said.json()["code"]) == (413, "too_large")


def test_too_many_requests_are_refused(serve: Serve) -> None:
    client = serve(requests_per_s=1, request_burst=5)
    codes = [client.get("/api/v1/sessions").status_code for _ in range(8)]
    assert codes == [200] * 5 + [429] * 3
    assert client.get("/health").status_code == 200


def test_an_allowance_fills_up_again() -> None:
    now = [0.0]
    allowances = Allowances(2.0, 3, clock=lambda: now[0])
    assert [allowances.spend("a") for _ in range(4)] == [True, True, True, False]
    assert allowances.spend("b")
    now[0] = 0.5
    assert [allowances.spend("a") for _ in range(2)] == [True, False]


def test_a_failure_of_ours_shows_no_insides(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve()

    def broken() -> None:
        raise RuntimeError("the secret path /root/x")

    monkeypatch.setattr(client.runtime.sessions, "list", broken)  # type: ignore[attr-defined]
    said = TestClient(client.app, raise_server_exceptions=False).get("/api/v1/sessions")
    assert (said.status_code, said.json()["code"]) == (500, "internal")
    assert "secret" not in said.text
    assert "Traceback" not in said.text


def test_a_request_keeps_its_id(client: TestClient) -> None:
    assert client.get("/health", headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    strange = client.get("/health", headers={"x-request-id": "a b\tc"}).headers["x-request-id"]
    assert len(strange) == 16


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/episodes/..%2f..%2fetc/files/passwd",
        "/api/v1/episodes/%2e%2e/files/episode.json",
        "/api/v1/episodes/0/files/..%2F..%2Fsecret",
        "/api/v1/training/runs/..%2f..",
        "/api/v1/training/runs/....",
        "/api/v1/tasks/core/..%2f..%2fx",
        "/static/..%2f..%2fmount.py",
        "/nowhere",
    ],
)
def test_no_name_leads_out(client: TestClient, path: str) -> None:
    said = client.get(path)
    assert said.status_code in (404, 422)
    assert said.json()["code"]
