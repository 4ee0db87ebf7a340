"""The door: tokens, hosts, origins, sizes and rates; and that no failure shows its insides."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tests.service.conftest import Serve
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from operant.config.service import ServiceConfig
from operant.errors import ConfigError
from operant.service.allowance import Allowances
from operant.service.app import create_app
from operant.service.dashboard import mount
from operant.service.desktops.app import create_desktop_app, guard_settings
from operant.service.desktops.host import DesktopHost
from operant.service.guard import Guard

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
    }
    config = ServiceConfig.load(environ=said, flags={"desktops": 3, "agent": None})
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
        assert ("the token is wrong" if headers else "wants a token") in said.text
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
    client = serve(requests_per_s=0.01, request_burst=5)
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


STRANGE = [
    "/healthx",
    "/health/",
    "//health",
    "/health/../api/v1/sessions",
    "/health%2f..%2fapi",
    "/health;x",
    "/loginx",
    "/login/",
    "/_nicegui",
    "/_nicegui/9.9/x.js",
    "/_nicegui_ws/socket.io/",
    "/_nicegui-nothing",
    "/static",
    "/static/",
    "/static/../api/v1/sessions",
    "/static//style.css",
    "/static/x/y",
    "/static/%2e%2e/x",
    "/manifest.webmanifest/x",
]


def entrance(**settings: Any) -> TestClient:
    """The dashboard's files and its login page behind the guard. Of whole dashboards a process can have one."""
    config = ServiceConfig(token=TOKEN, **settings)
    app = FastAPI()
    app.mount("/static", StaticFiles(directory=mount.STATIC))
    mount.add_entrance(app, config)
    app.add_middleware(Guard, config=config)
    return TestClient(app)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_only_the_exact_open_paths_need_no_token_and_every_refusal_counts(
    serve: Serve, listening: Callable[[TestClient], str], method: str
) -> None:
    """Over a real socket, because clients of tests tidy paths up before they send them."""
    burst = 10 * len(STRANGE) - 5
    client = serve(token=TOKEN, requests_per_s=0.01, request_burst=burst, wait=False)
    address = listening(client)

    def ask(path: str) -> int:
        with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as line:
            line.request(method, path, headers={"authorization": "Bearer wrong"})
            return line.getresponse().status

    for path in STRANGE:
        assert ask(path) == 401, path
    assert {ask(path) for path in STRANGE} == {429}  # ten each, and nothing is left


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/health"), ("DELETE", "/login"), ("OPTIONS", "/static/icon.svg")]
)
def test_an_open_path_is_open_for_what_it_is_for_only(method: str, path: str) -> None:
    assert entrance().request(method, path).status_code == 401


def test_a_websocket_at_an_open_path_needs_the_token() -> None:
    client = entrance()
    for path in ("/health", "/login", "/static/icon.svg", "/_nicegui_ws/socket.io/"):
        with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(path):
            pass
        assert (refused.value.code, refused.value.reason) == (1008, "unauthorized")


@pytest.mark.parametrize("path", ["/api/v1/sessions", "/healthx", "/_nicegui/x"])
def test_once_slowed_a_right_guess_looks_like_a_wrong_one(serve: Serve, path: str) -> None:
    """Otherwise a client could go on guessing at full speed: too many requests would mean "not this one"."""
    client = serve(token=TOKEN, requests_per_s=0.01, request_burst=15, wait=False)
    wrong = {"authorization": "Bearer wrong"}
    assert [client.get(path, headers=wrong).status_code for _ in range(3)] == [401, 401, 429]
    assert client.get(path, headers=BEARER).status_code == 429
    assert client.get("/health").status_code == 200  # who watches the service is not a suspect


def test_signing_in_can_not_be_guessed_either() -> None:
    client = entrance(requests_per_s=0.01, request_burst=25)
    codes = [client.post("/login", data={"token": f"guess-{n}"}).status_code for n in range(4)]
    assert codes == [401, 401, 401, 429]
    assert client.post("/login", data={"token": TOKEN}).status_code == 429


def test_every_refusal_counts(serve: Serve) -> None:
    evil = {"host": "rebound.example"}
    client = serve(requests_per_s=0.01, request_burst=3, wait=False)
    codes = [client.get("/health", headers=evil).status_code for _ in range(3)]
    assert codes == [403] * 3
    assert client.get("/api/v1/sessions").status_code == 429


def test_files_of_the_dashboard_cost_nothing() -> None:
    """A page is dozens of them."""
    client = entrance(requests_per_s=0.01, request_burst=5)
    for _ in range(10):
        assert client.get("/static/icon.svg").status_code == 200
        assert client.head("/static/icon.svg").status_code == 200
        assert client.get("/_nicegui/nothing", headers=BEARER).status_code == 404
    assert client.get("/nothing", headers=BEARER).status_code == 404


def test_guessing_is_slow_on_a_desktop_server_too() -> None:
    """Its clients call tens of thousands of times a second; its guessers do not."""
    settings = guard_settings("127.0.0.1", 0, TOKEN)
    client = TestClient(create_desktop_app(cast(DesktopHost, None), settings))
    wrong = {"authorization": "Bearer wrong"}
    paths = ["/healthx", "/v1/about", "/v1/desktops/a/glance"]
    began = time.monotonic()
    codes = [client.get(path, headers=wrong).status_code for path in paths * 100]
    looked_at = codes.count(401)
    assert set(codes) <= {401, 429}
    assert 30 <= looked_at <= 42 + 40 * (time.monotonic() - began)  # forty at once, then forty a second
    assert client.get("/health").json() == {"status": "ok"}
