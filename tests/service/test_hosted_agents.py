"""Agents behind vendors' APIs in the service: asked, at work on tasks, and what they cost. The other end is local."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient
from tests.service.browser import Browser, chromium, served
from tests.service.conftest import Serve

from operant.config.service import ServiceConfig
from operant.errors import ModelServerError
from operant.service.runtime import Runtime
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.chat_server import ChatReply, ChatServer
from operant.testing.vendors import AnthropicMessages, OpenAIResponses, ScriptedMind, VendorServer
from operant.testing.vendors.protocol import VendorProtocol
from operant.types import Action

KEY = "sk-test-key-0123456789"
PREDICT, EXECUTE = "/api/v1/agent/predict", "/api/v1/agent/execute"
COMPLETE, MODELS = "/api/v1/agent/complete-task", "/api/v1/agent/models"
SETTINGS = """\
vendor: chat
model: any
dialect: json
base_url: {url}
prices: {{input: 1, cached: 0.5, output: 2}}
"""
#: two turns of 100 tokens in (40 of them cached) and 10 out
TWO_TURNS = {
    "input_tokens": 200,
    "cached_tokens": 80,
    "output_tokens": 20,
    "requests": 2,
    "cost": pytest.approx(0.0002),
}


def says(request: Mapping[str, Any]) -> str:
    """Types first, then says that it is done."""
    begun = any(message["role"] == "assistant" for message in request["messages"])
    return '{"kind": "done"}' if begun else '{"kind": "type", "text": "12"}'


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The file of an agent whose server is here."""
    with ChatServer(says) as server:
        path = tmp_path_factory.mktemp("agent") / "chat.yaml"
        path.write_text(SETTINGS.format(url=server.url))
        yield str(path)


def test_an_agent_of_a_file_answers_and_counts(serve: Serve, chat: str) -> None:
    client = serve(agent=chat)
    given = client.post(PREDICT, json={"instruction": "Enter 12"}).json()
    assert (given["action_type"], given["text"], given["model"]) == ("type", "12", chat)
    assert (given["usage"]["input_tokens"], given["usage"]["requests"]) == (100, 1)
    assert client.post(EXECUTE, json=given).json()["performed"]
    said = client.post(COMPLETE, json={"instruction": "Enter 12"}).json()
    assert (said["outcome"], said["claimed"], said["usage"]) == ("unverified", True, TWO_TURNS)
    assert [step["usage"]["output_tokens"] for step in said["actions"]] == [10, 10]
    (row,) = client.get("/api/v1/episodes").json()["episodes"]
    assert row["usage"] == TWO_TURNS
    assert client.get(f"/api/v1/episodes/{said['episode']}").json()["usage"] == TWO_TURNS
    told = client.get("/api/v1/monitoring/metrics").json()["usage"]
    assert (told["input_tokens"], told["output_tokens"]) == (300, 30)
    counted = client.get("/metrics").text
    assert f'operant_agent_tokens_total{{kind="output",model="{chat}"}} 30.0' in counted
    assert "operant_agent_cost_dollars_total" in counted


def test_agents_that_do_not_count_say_so(serve: Serve) -> None:
    client = serve(agent="done")
    said = client.post(COMPLETE, json={"instruction": "x"}).json()
    assert (said["usage"], client.get("/api/v1/monitoring/metrics").json()["usage"]) == (None, None)


def test_further_agents_can_be_chosen_and_no_others(serve: Serve, chat: str) -> None:
    client = serve(agents=(chat,))
    assert chat in [one["name"] for one in client.get(MODELS).json()["models"]]
    said = client.post(COMPLETE, json={"instruction": "Enter 12", "model": chat}).json()
    assert (said["model"], said["usage"]) == (chat, TWO_TURNS)
    for name in ("chat:other", "anthropic:claude-opus-5-5", "other.yaml"):
        refused = client.post(COMPLETE, json={"instruction": "x", "model": name})
        assert (refused.status_code, refused.json()["code"]) == (404, "unknown_model")


@pytest.fixture
def vendor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorProtocol]:
    """A vendor's API here, under the vendor's own variables."""
    kind: type[VendorProtocol] = request.param
    protocol = kind(ScriptedMind([Action.type("7"), Action.type("12")]), key=KEY)
    with VendorServer() as server:
        name = protocol.vendor.upper()
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
        monkeypatch.setenv(f"{name}_BASE_URL", server.open(protocol).base_url)
        yield protocol


@pytest.mark.parametrize(
    ("vendor", "agent"),
    [(AnthropicMessages, "anthropic:claude-opus-5-5"), (OpenAIResponses, "openai:gpt-5.4")],
    indirect=["vendor"],
)
def test_an_agent_of_a_vendor_answers_and_works(serve: Serve, vendor: VendorProtocol, agent: str) -> None:
    client: TestClient = serve(agent=agent)
    client.post("/api/v1/sessions/default/launch", json={"command": ["mousepad"]})
    given = client.post(PREDICT, json={"instruction": "Enter 7"}).json()
    assert (given["model"], given["text"]) == (agent, "7"), given
    assert client.post(EXECUTE, json=given).json()["changed"]
    said = client.post(COMPLETE, json={"instruction": "Enter 12", "session": "default"}).json()
    assert (said["claimed"], said["outcome"]) == (True, "unverified"), said
    assert said["usage"]["input_tokens"] > 0
    desktop = client.runtime.sessions.find("default").desktop  # type: ignore[attr-defined]
    assert desktop.accessibility().find("text").text == "712"


@pytest.mark.parametrize("vendor", [AnthropicMessages], indirect=True)
def test_a_wrong_key_is_refused_before_anything_starts(
    vendor: VendorProtocol, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-another-key-0123456789")
    for settings in ({"agent": "anthropic:claude-opus-5-5"}, {"agents": ("anthropic:claude-opus-5-5",)}):
        runtime = Runtime(ServiceConfig(data_dir=tmp_path, **{"agent": "done", **settings}))
        with pytest.raises(ModelServerError, match="401") as raised:
            runtime.check()
        assert "key is wrong" in str(raised.value.hint)


def test_a_server_that_fails_is_named_to_the_client(serve: Serve, tmp_path: Path) -> None:
    with ChatServer(lambda request: ChatReply("no such key", status=401)) as server:
        path = tmp_path / "chat.yaml"
        path.write_text(SETTINGS.format(url=server.url))
        client = serve(agent=str(path))
        said = client.post(PREDICT, json={"instruction": "x"})
        assert (said.status_code, said.json()["code"]) == (503, "agent_failed")
        assert "the key is wrong" in said.json()["hint"]
        played = client.post(COMPLETE, json={"instruction": "x"}).json()
        assert (played["outcome"], played["success"]) == ("infra_error", None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.mark.browser
@pytest.mark.timeout(180)
def test_the_dashboard_shows_tokens_and_cost(browser: Browser, chat: str, tmp_path: Path) -> None:
    parts = {"desktops": FakeDesktop.factory, "templates": FAKE_TEMPLATES}
    with served(tmp_path, settings={"agent": chat}, **parts) as service, browser.page((1280, 900)) as page:
        _let_it_work(page, service.url)
        page.goto(f"{service.url}/")
        expect(page.get_by_text("2 steps · 220 tokens, $0.0002")).to_be_visible()
        expect(page.locator(".op-card", has_text=re.compile("^Tokens220$"))).to_be_visible()
        expect(page.locator(".op-card", has_text=re.compile(r"^Cost\$0\.0002$"))).to_be_visible()
        page.goto(f"{service.url}/episodes")
        page.get_by_text("220 tokens, $0.0002").click()
        expect(page.get_by_text("220 tokens, $0.0002")).to_be_visible()


def _let_it_work(page: Page, url: str) -> None:
    page.goto(f"{url}/control")
    page.get_by_role("button", name="New desktop").click()
    expect(page.locator("operant-desktop[frames]")).to_be_visible()
    page.get_by_label("Instruction").fill("Enter 12")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("status")).to_contain_text("unverified, claimed")
    expect(page.get_by_role("status")).to_contain_text("2 steps, 220 tokens, $0.0002")
