"""Measurements with programs outside: an MCP client, and a chat model behind a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.bench.chat_episodes import measure_chat_server
from operant.errors import NoResults
from operant.testing.chat_server import ChatServer

pytestmark = pytest.mark.x11


def test_an_mcp_client_is_timed() -> None:
    pytest.importorskip("mcp", reason="the MCP server is an extra")
    from operant.bench.mcp_latency import measure_mcp

    said: list[str] = []
    found = measure_mcp(said.append, runs=1, clicks=2)
    assert (found["runs"], found["clicks"]) == (1, 2)
    assert 0 < found["click_p50_ms"] / 1000 < 60
    assert found["first_screenshot_p50_s"] > 0
    assert said == ["run 1 of 1"]


def test_a_model_that_answers_with_anything_is_counted(tmp_path: Path) -> None:
    with ChatServer(lambda request: "I would rather talk about the weather.") as server:
        found = measure_chat_server(server.url, "any", episodes=2, minutes=3.0, result_dir=tmp_path)
        assert server.asked, "the model was asked"
    assert found["overall"]["n"] == 2
    assert found["overall"]["success"] == 0
    assert found["invalid_steps"] > 0


def test_a_server_that_is_not_there_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NoResults):
        measure_chat_server("http://127.0.0.1:9/v1", "any", episodes=1, minutes=1.0, result_dir=tmp_path)
    assert "no connection" in capfd.readouterr().err
