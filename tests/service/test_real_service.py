"""``operant serve`` as people start it: a process of its own, real desktops, a token, a real browser."""

from __future__ import annotations

import signal
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
from tests.service.process import serving

pytestmark = [pytest.mark.x11, pytest.mark.timeout(240)]

TOKEN = "a-token-of-some-length"
TASK = "core/calculator-type-sum-v1"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    root = tmp_path_factory.mktemp("served")
    headers = {"authorization": f"Bearer {TOKEN}"}
    flags = ("--desktops", "2", "--agent", "oracle")
    with (
        serving(root, *flags, headers=headers, OPERANT_TOKEN=TOKEN) as served,
        httpx.Client(base_url=served.url, headers=headers, timeout=60.0) as client,
    ):
        yield client


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


def calculator_is_open(service: httpx.Client, session: str) -> bool:
    asked = {"success_criteria": {"window_title": "Calculator"}}
    return bool(service.post(f"/api/v1/sessions/{session}/check", json=asked).json()["success"])


def test_a_session_has_a_menu_and_a_bare_one_has_not(service: httpx.Client) -> None:
    """The run dialog opens a program on a full desktop; on a bare one nothing happens."""
    for profile, opens in (("full", True), ("bare", False)):
        name = service.post("/api/v1/sessions", json={"profile": profile}).json()["id"]
        for action in (
            {"kind": "key", "keys": ["alt", "f2"]},
            {"kind": "type", "text": "galculator"},
            {"kind": "key", "keys": ["enter"]},
        ):
            body = {"action": action, "session": name}
            assert service.post("/api/v1/agent/execute", json=body).status_code == 200
        if opens:
            wait_for(lambda name=name: calculator_is_open(service, name))
        else:
            assert not calculator_is_open(service, name)
        service.delete(f"/api/v1/sessions/{name}")


def test_a_panel_that_keeps_crashing_is_not_the_agents_failure(service: httpx.Client) -> None:
    name = service.post("/api/v1/sessions", json={}).json()["id"]
    killer = "while true; do pkill -KILL lxpanel; sleep 0.1; done"
    service.post(f"/api/v1/sessions/{name}/launch", json={"command": ["xterm", "-e", killer]})
    body = {
        "instruction": "Open the calculator",
        "success_criteria": {"window_title": "Calculator"},
        "model": "noop",
        "max_steps": 20,
        "pace_s": 0.2,
        "session": name,
    }
    said = service.post("/api/v1/agent/complete-task", json=body).json()
    assert (said["outcome"], said["success"], said["verified"]) == ("infra_error", None, False), said
    assert "lxpanel" in said["why"]
    assert service.get(f"/api/v1/sessions/{name}").json()["code"] == "session_expired"


@pytest.mark.browser
def test_signing_in_driving_and_signing_out(service: httpx.Client) -> None:
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
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        page.goto(url + "/wall")
        assert page.url.endswith("/login")


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


@pytest.mark.x11
def test_ctrl_c_ends_it_with_130_as_every_verb(tmp_path: Path) -> None:
    with serving(tmp_path, "--agent", "noop", "--desktops", "1", ended_by=signal.SIGINT) as served:
        pass
    assert served.process.returncode == 130
