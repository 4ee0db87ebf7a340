"""Health, metrics and logs; and Debian's own Prometheus, with our rules, scraping a real service."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from starlette.testclient import TestClient
from tests.service.conftest import Serve, wait_for

from operant.service.logs import request_id, set_up_logging
from operant.testing import FakeDesktop

DOCKER = Path(__file__).parents[2] / "docker"
RULES = DOCKER / "prometheus" / "rules.yml"
METRIC = re.compile(r"\boperant[_:][a-z0-9_:]+")


def promtool(*args: str, given: bytes | None = None) -> str:
    ended = subprocess.run(["promtool", *args], input=given, capture_output=True, timeout=60, check=False)
    said = (ended.stdout + ended.stderr).decode()
    assert ended.returncode == 0, said
    return said


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").json() == {"ready": True, "model": "random", "desktops": True, "why": None}


def test_a_machine_without_desktops_is_not_ready_and_says_why(serve: Serve) -> None:
    from operant.errors import SandboxUnavailable

    def none(_: Any) -> Any:
        raise SandboxUnavailable("no user namespaces here", hint="operant doctor")

    client = serve(desktops=none, wait=False)
    said = wait_for(lambda: (found := client.get("/ready")).json()["why"] != "starting" and found)
    assert said.status_code == 503
    assert "namespaces" in said.json()["why"]
    refused = client.post("/api/v1/sessions", json={})
    assert (refused.status_code, refused.json()["code"]) == (503, "sandbox_unavailable")
    assert client.get("/health").status_code == 200


def test_a_service_that_starts_is_no_server_error(serve: Serve) -> None:
    go = threading.Event()

    def slow(config: Any) -> Any:
        assert go.wait(60.0)
        return FakeDesktop.factory(config)

    client = serve(desktops=slow, wait=False)
    try:
        said = client.get("/ready")
        assert (said.status_code, said.json()["why"]) == (425, "starting")
    finally:
        go.set()
    assert wait_for(lambda: client.get("/ready").status_code == 200)


def test_the_summary_counts_and_is_reset(serve: Serve) -> None:
    client = serve(agent="oracle")
    client.post("/api/v1/agent/complete-task", json={"task_id": "fake/press-button-v1"})
    said = client.get("/api/v1/monitoring/metrics").json()
    assert said["episodes"] == {"success": 1}
    assert said["success_rate"] == 1.0
    assert said["requests"] >= 1
    assert said["latency_ms"]["p95"] > 0
    assert client.post("/api/v1/monitoring/reset-metrics").json()["episodes"] == {}
    text = client.get("/metrics").text
    line = 'operant_episodes_total{difficulty="EASY",outcome="success",task="fake/press-button-v1"} 1.0'
    assert line in text


def test_routes_and_not_paths_are_labels(client: TestClient) -> None:
    for number in range(5):
        client.get(f"/api/v1/sessions/nobody{number}")
    text = client.get("/metrics").text
    assert 'route="/api/v1/sessions/{name}",status="404"} 5.0' in text
    assert "nobody3" not in text


def test_the_exposition_and_the_rules_are_right(client: TestClient, tmp_path: Path) -> None:
    client.get("/api/v1/sessions")
    promtool("check", "metrics", given=client.get("/metrics").content)
    assert "SUCCESS" in promtool("check", "rules", str(RULES))
    promtool("test", "rules", str(RULES.with_name("rules_test.yml")))
    config = yaml.safe_load((DOCKER / "prometheus" / "prometheus.yml").read_text())
    config["rule_files"] = [str(RULES)]
    (tmp_path / "token").write_text("x")
    config["scrape_configs"][0]["authorization"]["credentials_file"] = str(tmp_path / "token")
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    promtool("check", "config", str(tmp_path / "prometheus.yml"))


def test_every_name_in_rules_and_panels_exists(client: TestClient) -> None:
    """A panel that asks for a metric nobody exposes would stay empty for ever."""
    exposed = set(re.findall(r"^# TYPE (\S+)", client.get("/metrics").text, re.M))
    exposed |= {f"{name}_{part}" for name in exposed for part in ("bucket", "sum", "count")}
    rules = yaml.safe_load(RULES.read_text())
    exposed |= {rule["record"] for group in rules["groups"] for rule in group["rules"] if "record" in rule}
    dashboard = json.loads((DOCKER / "grafana" / "dashboards" / "operant.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    assert len(asked) > 30
    names = {name for expression in asked for name in METRIC.findall(expression)}
    assert names - exposed == set()


def test_prometheus_scrapes_it(serve: Serve, listening: Callable[[TestClient], str], tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    client = serve(token=token, headers={"authorization": f"Bearer {token}"})
    address = listening(client)
    config = yaml.safe_load((DOCKER / "prometheus" / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(RULES)]
    job = config["scrape_configs"][0]
    (tmp_path / "token").write_text(token)
    job["authorization"]["credentials_file"] = str(tmp_path / "token")
    job["static_configs"][0]["targets"] = [address]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    prometheus = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def ask(query: str) -> list[dict[str, Any]]:
        try:
            said = httpx.get(f"http://127.0.0.1:{port}/api/v1/query", params={"query": query})
        except httpx.HTTPError:
            return []
        return said.json()["data"]["result"] if said.status_code == 200 else []  # type: ignore[no-any-return]

    try:
        wait_for(lambda: [one for one in ask('up{job="operant"}') if one["value"][1] == "1"], 60.0)
        ready = wait_for(lambda: ask('operant_desktops{state="ready"}'), 30.0)
        assert ready[0]["value"][1] == "2"
        wait_for(lambda: ask("operant:http_requests:rate5m"), 60.0)
        rules = httpx.get(f"http://127.0.0.1:{port}/api/v1/rules").json()["data"]["groups"]
        assert {rule["health"] for group in rules for rule in group["rules"]} <= {"ok", "unknown"}
    finally:
        prometheus.terminate()
        prometheus.wait(20)


def test_log_lines_are_json_with_the_request_in_them(capfd: pytest.CaptureFixture[str]) -> None:
    from loguru import logger

    try:
        set_up_logging("json")
        mark = request_id.set("req-1")
        logger.bind(session="s").info("hello {}", "there")
        request_id.reset(mark)
    finally:
        logger.remove()
        logger.add(sys.stderr)
    line = json.loads(capfd.readouterr().err.strip().splitlines()[-1])
    assert (line["message"], line["request_id"], line["session"]) == ("hello there", "req-1", "s")
    assert line["level"] == "INFO"
    assert time.strptime(line["time"][:10], "%Y-%m-%d")


def test_compose_starts_nothing_with_a_password_that_nobody_chose() -> None:
    """``${NAME:?why}`` makes Compose refuse an unset or empty variable."""
    services = yaml.safe_load((DOCKER / "docker-compose.yml").read_text())["services"]
    said = {
        name: value
        for service in services.values()
        for name, value in service.get("environment", {}).items()
        if re.search("PASSWORD|TOKEN|SECRET|KEY", name)
    }
    assert set(said) == {"OPERANT_TOKEN", "GF_SECURITY_ADMIN_PASSWORD"}
    for name, value in said.items():
        assert re.fullmatch(r"\$\{[A-Z_]+:\?[^}]{10,}\}", value), f"{name} has a default: {value}"
    variables = set(re.findall(r"\$\{([A-Z_]+):\?", " ".join(said.values())))
    assert variables == {"OPERANT_TOKEN", "GRAFANA_ADMIN_PASSWORD"}
    example = (DOCKER.parent / ".env.example").read_text()
    documented = (DOCKER.parent / "docs" / "service.md").read_text()
    for variable in variables:
        assert variable in example
        assert variable in documented
