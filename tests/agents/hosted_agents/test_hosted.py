"""Agents behind APIs, against scripted servers: what they send, what they make of replies, how they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from operant.agents.hosted import make
from operant.agents.hosted.anthropic import MOST_PICTURES, tool_versions
from operant.agents.registry import make_agent
from operant.config.hosted import HostedSettings
from operant.errors import ConfigError, ModelServerError, OperantError
from operant.types import Action, ActionKind, ActionResult, Observation, Point, Size

from .scripted_server import KEY, SCREEN, ScriptedServer, agent_of, seen


def message(*blocks: dict[str, Any], stop: str = "tool_use") -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 90,
        "cache_creation_input_tokens": 5,
        "output_tokens": 7,
    }
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": usage,
    }


def use(identity: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "toolset_name": "computer", "input": given}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


# Anthropic.


def test_a_batch_is_one_turn_and_every_call_gets_its_result(server: ScriptedServer) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s1", "unknown": [1]}
    calls = [
        use("a", "left_click", coordinate=[640, 400]),
        use("b", "type", text="x"),
        use("c", "key", text="Return", repeat=2),
    ]
    server.then(message(thinking, text("Now."), *calls)).then(message(text("It is done."), stop="end_turn"))
    agent = agent_of(server, "anthropic")
    turn = agent.act(seen())
    assert turn.actions == (
        Action.click(Point.from_pixel(640, 400, SCREEN)),
        Action.type("x"),
        Action.key("enter"),
        Action.key("enter"),
    )
    assert turn.response == "Now."
    assert turn.usage is not None
    assert (turn.usage.input_tokens, turn.usage.cached_tokens, turn.usage.output_tokens) == (105, 90, 7)
    assert (turn.usage.requests, turn.usage.cost) == (1, None)
    first, second, *rest = turn.actions
    results = [ActionResult(first), ActionResult(second, "the keyboard is gone")]
    last = agent.act(seen(*results, *(ActionResult(one, "skipped", skipped=True) for one in rest)))
    assert last.actions == (Action(ActionKind.ANSWER, text="It is done."),)
    asked = server.asked[1]["body"]
    assert asked["messages"][1] == {"role": "assistant", "content": [thinking, text("Now."), *calls]}
    told = asked["messages"][2]["content"]
    assert [one["tool_use_id"] for one in told] == ["a", "b", "c"]
    assert all(one["toolset_name"] == "computer" for one in told)
    assert told[0]["content"] == [text("OK")]
    assert (told[1]["is_error"], told[1]["content"]) == (True, [text("the keyboard is gone")])
    assert told[2]["content"][0] == text("Not executed: an earlier computer action in this turn failed.")
    assert told[2]["content"][1]["type"] == "image"
    assert "cache_control" in told[2]
    assert "anthropic-beta" not in {name.lower() for name in server.asked[0]["headers"]}


def test_an_older_model_gets_the_tool_and_the_header_that_it_takes(server: ScriptedServer) -> None:
    refused = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "tools.0: computer_20251124 is not supported"},
    }
    server.then(refused, 400).then(message(use("a", "screenshot")))
    agent = agent_of(server, "anthropic", "claude-opus-4-6")
    assert agent.act(seen()).actions == (Action(ActionKind.SCREENSHOT),)
    tools = [one["body"]["tools"][0] for one in server.asked]
    assert [tool["type"] for tool in tools] == ["computer_20251124", "computer_20250124"]
    assert tools[1]["display_width_px"] == 1280
    assert server.asked[1]["headers"]["anthropic-beta"] == "computer-use-2025-01-24"


@pytest.mark.parametrize(
    ("model", "version"),
    [
        ("claude-opus-5-5", "computer_toolset_20260801"),
        ("claude-sonnet-5", "computer_toolset_20260801"),
        ("claude-opus-4-8", "computer_toolset_20260801"),
        ("claude-opus-4-7", "computer_20251124"),
        ("claude-sonnet-4-6", "computer_20251124"),
        ("claude-sonnet-4-5-20250929", "computer_20250124"),
        ("claude-haiku-4-5", "computer_20250124"),
    ],
)
def test_the_tool_goes_by_the_model(model: str, version: str) -> None:
    assert tool_versions(model)[0] == version


def test_looks_are_answered(server: ScriptedServer) -> None:
    calls = [use("a", "cursor_position"), use("b", "zoom", region=[0, 0, 640, 400]), use("c", "screenshot")]
    server.then(message(*calls)).then(message(text("[INFEASIBLE] No such program."), stop="end_turn"))
    agent = agent_of(server, "anthropic")
    turn = agent.act(seen())
    assert {action.kind for action in turn.actions} == {ActionKind.SCREENSHOT}
    shot = np.zeros((400, 640, 3), np.uint8)
    results = [ActionResult(action, screen=shot, pointer=Point(0.5, 0.5)) for action in turn.actions]
    end = agent.act(seen(*results))
    assert end.actions == (Action.fail("No such program."),)
    told = server.asked[1]["body"]["messages"][2]["content"]
    assert told[0]["content"] == [text("X=640, Y=400")]
    assert [one["content"][0]["type"] for one in told[1:]] == ["image", "image"]


@pytest.mark.parametrize(("stop", "end"), [("refusal", "refusal"), ("max_tokens", "token_limit")])
def test_refusals_and_token_limits_are_ends_of_their_own(server: ScriptedServer, stop: str, end: str) -> None:
    server.then(message(text("I"), stop=stop))
    turn = agent_of(server, "anthropic").act(seen())
    assert (turn.actions, turn.end) == ((), end)


def test_what_can_not_be_read_is_an_invalid_step_and_is_told_to_the_model(server: ScriptedServer) -> None:
    server.then(message(use("a", "fly"))).then(message(stop="end_turn")).then(
        message(use("b", "wait", duration=1))
    )
    agent = agent_of(server, "anthropic")
    turn = agent.act(seen())
    assert turn.actions == ()
    assert "fly" in turn.error
    assert agent.act(seen(error=turn.error)).error  # an empty reply
    assert agent.act(seen(error="empty")).actions == (Action.wait(1.0),)
    told = server.asked[1]["body"]["messages"][-1]["content"][0]
    assert told["is_error"]
    assert "fly" in told["content"][0]["text"]
    roles = [one["role"] for one in server.asked[2]["body"]["messages"]]
    assert roles == ["user", "assistant", "user"]


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-opus-5-5", "claude-sonnet-4-5"])
def test_a_long_episode_stays_below_the_limits_of_pictures_and_bytes(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setattr("operant.agents.hosted.anthropic.MOST_BYTES", most_bytes := 500_000)
    agent = agent_of(server, "anthropic", model)
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (48, 64, 3), np.uint8)  # nothing compresses it
    results: tuple[ActionResult, ...] = ()
    for number in range(150):
        server.then(message(use(str(number), "wait", duration=1)))
        look = Observation(noise, "Do it.", number, 150, Point(0.5, 0.5), results=results)
        turn = agent.act(look)
        results = tuple(ActionResult(action) for action in turn.actions)
        body = server.asked.pop()["body"]
        pictures = [
            part
            for one in body["messages"]
            for block in one["content"]
            for part in (block, *(block.get("content") or ()))
            if isinstance(part, dict) and part["type"] == "image"
        ]
        assert 1 <= len(pictures) <= MOST_PICTURES
        assert sum(len(part["source"]["data"]) for part in pictures) <= most_bytes
        if model == "claude-opus-5-5" and "thinking" not in body:
            assert (
                len(pictures) == number + 1
            )  # nothing is removed unless it has to be, and then the request says so
        if model != "claude-opus-5-5":
            assert len(pictures) < 3 + 25
    assert ("thinking" in body) == (model == "claude-opus-5-5")


# OpenAI.


def response(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 9}
    return {
        "id": "r1",
        "object": "response",
        "status": "completed",
        "output": list(items),
        "usage": usage,
        **more,
    }


def said(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}


CHECK = {"id": "s1", "code": "malicious_instructions", "message": "look out"}


def computer_call(**more: Any) -> dict[str, Any]:
    actions = [
        {"type": "click", "x": 1, "y": 2, "button": "left"},
        {"type": "keypress", "keys": ["CTRL", "A"]},
    ]
    return {
        "type": "computer_call",
        "id": "i",
        "call_id": "c1",
        "actions": actions,
        "status": "completed",
        **more,
    }


def test_openai_continues_the_conversation_of_the_server(server: ScriptedServer) -> None:
    server.then(response(computer_call(pending_safety_checks=[CHECK]))).then(response(said("ANSWER: 42")))
    agent = agent_of(server, "openai", "gpt-6-astra", prices={"input": 1, "cached": 0.5, "output": 2})
    turn = agent.act(seen())
    assert turn.actions[1] == Action.key("ctrl", "a")
    assert turn.usage is not None
    assert turn.usage.cost == pytest.approx((60 * 1 + 40 * 0.5 + 9 * 2) / 1e6)
    end = agent.act(seen(*(ActionResult(action) for action in turn.actions)))
    assert end.actions == (Action(ActionKind.ANSWER, text="42"),)
    body = server.asked[1]["body"]
    assert body["previous_response_id"] == "r1"
    (output,) = body["input"]
    assert output["call_id"] == "c1"
    assert output["acknowledged_safety_checks"] == [CHECK]
    assert output["output"]["image_url"].startswith("data:image/png;base64,")


def test_a_safety_check_is_left_to_the_loop_and_recorded(server: ScriptedServer) -> None:
    server.then(response(computer_call(pending_safety_checks=[CHECK])))
    turn = agent_of(server, "openai", "gpt-6-astra").act(seen())
    assert turn.checks == ("look out",)
    assert turn.record["safety_checks"] == ["look out"]


# Chat.


def completion(content: Any, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish}]}


def test_chat_answers_in_plain_text_and_keeps_the_last_pictures(server: ScriptedServer) -> None:
    agent = agent_of(server, "chat", "some-vlm", history=2, dialect="ui_tars")
    for _ in range(4):
        server.then(completion("<think>click? type?</think>Thought: x\nAction: click(start_box='(500,500)')"))
        turn = agent.act(seen())
        (action,) = turn.actions
        assert action.kind is ActionKind.CLICK
        assert action.point is not None
        assert abs(action.point.x - 0.5) < 0.002
    users = [one for one in server.asked[-1]["body"]["messages"] if one["role"] == "user"]
    assert ["image_url" in str(one) for one in users] == [False, False, True, True]
    assert "Task: Do it." in str(users[0])


@pytest.mark.parametrize(
    ("content", "finish", "end", "invalid"),
    [
        ("<think>I could click(start_box='(1,1)')", "stop", "", True),
        ("", "stop", "", True),
        (["a", "picture"], "stop", "", True),
        ("blah", "stop", "", True),
        ("<think>so long", "length", "token_limit", False),
    ],
)
def test_garbage_of_a_chat_model_is_an_invalid_step(
    server: ScriptedServer, content: Any, finish: str, end: str, invalid: bool
) -> None:
    server.then(completion(content, finish))
    turn = agent_of(server, "chat", "some-vlm").act(seen())
    assert (turn.actions, turn.end) == ((), end)
    assert bool(turn.error) >= invalid


# Failures.


def test_rate_limits_are_waited_for_as_long_as_the_server_says(server: ScriptedServer) -> None:
    busy = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    server.then(busy, 429, retry_after="0").then(busy, 529, retry_after_ms="1")
    server.then(message(use("a", "wait", duration=1)))
    turn = agent_of(server, "anthropic").act(seen())
    assert turn.actions
    assert turn.usage is not None
    assert turn.usage.requests == 3


@pytest.mark.parametrize("vendor", ["anthropic", "openai", "gemini", "chat"])
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"error": {"message": f"oops {KEY}"}}),
        (429, {"error": {"message": "later"}}),
        (401, {"error": {"message": f"bad key {KEY}"}}),
        (200, b"<!doctype html><html>hello</html>"),
        (200, b"\xff\xfe\x00"),
        (200, b"[1, 2]"),
    ],
)
def test_a_server_that_fails_is_no_failure_of_the_agent_and_the_key_is_never_told(
    server: ScriptedServer, vendor: str, status: int, body: Any
) -> None:
    server.then(body, status)
    with pytest.raises(ModelServerError) as caught:
        agent_of(server, vendor, max_retries=0).act(seen())
    assert KEY not in str(caught.value)
    assert vendor in str(caught.value)


def test_a_server_that_is_not_there(server: ScriptedServer) -> None:
    settings = HostedSettings.build(vendor="chat", model="m", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(ModelServerError, match="no connection"):
        make(settings).act(seen())


@pytest.mark.parametrize("vendor", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize(
    ("status", "body", "hint"),
    [
        (401, {"error": {"message": "invalid x-api-key"}}, "key"),
        (404, {"error": {"message": "no such model"}}, "model"),
        (200, b"<html>welcome</html>", "web page"),
    ],
)
def test_the_preflight_finds_what_is_wrong_before_a_desktop_starts(
    server: ScriptedServer, vendor: str, status: int, body: Any, hint: str
) -> None:
    server.then(body, status).then(body, status)
    with pytest.raises(ModelServerError) as caught:
        agent_of(server, vendor).preflight()
    assert hint in (caught.value.hint or "")


def test_the_preflight_passes_where_all_is_well(server: ScriptedServer) -> None:
    server.then({"id": "claude-opus-4-8", "type": "model"}).then({"data": []}).then({"error": "no"}, 404)
    agent_of(server, "anthropic").preflight()
    agent_of(server, "chat").preflight()
    agent_of(server, "chat").preflight()
    assert server.asked[0]["path"] == "/v1/models/claude-opus-4-8"


# Names, files and keys.


def test_a_missing_key_and_keys_in_files_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(f"vendor: anthropic\nmodel: m\napi_key: {KEY}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        make_agent(str(file))
    assert KEY not in str(caught.value)
    file.write_text("vendor: anthropic\nmodel: claude-opus-5\nmax_tokens: 100\n", encoding="utf-8")
    agent = make_agent(str(file))
    assert "claude-opus-5" in agent.fingerprint
    assert KEY not in agent.fingerprint
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigError, match="needs a key") as missing:
        make_agent("anthropic:claude-opus-5")
    assert "ANTHROPIC_API_KEY" in (missing.value.hint or "")


def test_the_usual_variables_name_server_and_key(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.then(completion('{"kind": "done"}'))
    assert make_agent("chat:m").act(seen()).actions == (Action.done(),)
    assert server.asked[0]["path"] == "/v1/chat/completions"
    assert f"Bearer {KEY}" in server.asked[0]["headers"].values()


@pytest.mark.parametrize("name", ["anthropic", "openai:", "missing.yaml"])
def test_names_that_name_nothing(name: str) -> None:
    with pytest.raises(OperantError):
        make_agent(name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"vendor": "anthropic", "model": "claude-opus-5", "temperature": 0.5},
        {"vendor": "anthropic", "model": "claude-opus-5", "dialect": "computer_1999"},
        {"vendor": "openai", "model": "gpt-6-astra", "temperature": 0.5},
        {"vendor": "chat", "model": "m", "dialect": "klingon"},
        {"vendor": "chat", "model": "m", "base_url": "ftp://x"},
        {"vendor": "chat", "model": "m", "base_url": f"http://me:{KEY}@x/v1"},
    ],
)
def test_settings_that_can_not_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        make(HostedSettings.build(**wrong))


def test_a_large_screen_is_shown_smaller_and_clicks_are_mapped_back(server: ScriptedServer) -> None:
    size = Size(3840, 2160)
    server.then(message(use("a", "left_click", coordinate=[0, 0])))
    turn = agent_of(server, "anthropic").act(seen(size=size))
    assert turn.actions[0].screen is not None
    assert max(turn.actions[0].screen) <= 2000
    assert turn.actions[0].point is not None
    assert turn.actions[0].point.to_pixel(size)[0] <= 1
