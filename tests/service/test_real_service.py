"""``operant serve`` as people start it: a process of its own, real desktops, a token, a real browser."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.service.browser import chromium
from tests.service.conftest import wait_for

pytestmark = [pytest.mark.x11, pytest.mark.timeout(240)]

TOKEN = "a-token-of-some-length"
TASK = "core/calculator-type-sum-v1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(root: Path, *more: str, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "operant", "serve", "--port", str(port), "--desktops", "2", *more],
        cwd=root,
        env={**os.environ, "LOG_FORMAT": "json", **environment},
        stderr=open(root / "log.jsonl", "wb"),  # noqa: SIM115 - the process holds it
    )
    return process, f"http://127.0.0.1:{port}"


def is_ready(process: subprocess.Popen[bytes], url: str, headers: dict[str, str]) -> bool:
    assert process.poll() is None, "the service has ended"
    try:
        return httpx.get(f"{url}/ready", headers=headers).status_code == 200
    except httpx.HTTPError:
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(30)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    root = tmp_path_factory.mktemp("served")
    process, url = start(root, "--agent", "oracle", OPERANT_TOKEN=TOKEN)
    headers = {"authorization": f"Bearer {TOKEN}"}
    try:
        wait_for(lambda: is_ready(process, url, headers), 60.0)
        with httpx.Client(base_url=url, headers=headers, timeout=60.0) as client:
            yield client
    finally:
        stop(process)
    assert process.returncode == 0
    assert "Traceback" not in (root / "log.jsonl").read_text()


def test_a_task_is_done_and_checked(service: httpx.Client) -> None:
    said = service.post("/api/v1/agent/complete-task", json={"task_id": TASK, "seed": 1}).json()
    assert (said["success"], said["verified"]) == (True, True), said
    episode = service.get(f"/api/v1/episodes/{said['episode']}").json()
    assert service.get(episode["first_screenshot"]).content.startswith(b"\x89PNG")


def test_a_desktop_is_used_through_the_api(service: httpx.Client) -> None:
    session = service.post("/api/v1/sessions", json={"launch": ["mousepad"]}).json()
    assert [one["application"] for one in service.get(f"/api/v1/sessions/{session['id']}/windows").json()]
    body: dict[str, Any] = {"action": {"kind": "type", "text": "hello"}, "session": session["id"]}
    said = service.post("/api/v1/agent/execute", json=body).json()
    assert said["changed"]
    assert said["settled"]
    assert service.delete(f"/api/v1/sessions/{session['id']}").status_code == 204


@pytest.mark.browser
def test_signing_in_and_driving(service: httpx.Client) -> None:
    """Pages and their sockets are closed until the token was given; then a real desktop is driven by hand."""
    url = str(service.base_url)
    with chromium() as browser, browser.page((390, 844)) as page:
        page.goto(url + "/wall")
        assert page.url.endswith("/login")
        page.locator("#token").fill("wrong-wrong-wrong-wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not the token")
        page.locator("#token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".op-title", has_text="Overview")).to_be_visible()
        page.goto(url + "/control")
        page.get_by_role("button", name="New desktop").click()
        expect(page.locator("operant-desktop[frames]")).to_be_visible()
        name = page.url.partition("session=")[2]
        page.get_by_role("button", name="mousepad").click()
        wait_for(lambda: service.get(f"/api/v1/sessions/{name}/windows").json(), 20.0)
        before = service.get(f"/api/v1/sessions/{name}/frame").content
        page.locator(".od-stage").focus()
        page.keyboard.type("typed by hand")
        wait_for(lambda: service.get(f"/api/v1/sessions/{name}/frame").content != before)
        page.get_by_role("button", name="Hand back").click()
        wait_for(lambda: service.get("/api/v1/sessions").json() == [])


def test_a_taken_port_is_said(service: httpx.Client, tmp_path: Path) -> None:
    port = str(service.base_url.port)
    ended = subprocess.run(
        [sys.executable, "-m", "operant", "serve", "--port", port, "--no-dashboard"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert "can't listen" in ended.stderr
    assert "hint:" in ended.stderr


def test_strangers_are_not_let_in_without_a_token(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "operant", "serve", "--host", "0.0.0.0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert "set a token" in ended.stderr
