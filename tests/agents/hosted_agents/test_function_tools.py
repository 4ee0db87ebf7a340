"""Function tools over Chat Completions and over Responses: what is sent is checked against the SDK's own types."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from operant.errors import ConfigError
from operant.types import Action, ActionKind, ActionResult, Point

from .scripted_server import SCREEN, ScriptedServer, agent_of, seen

CHAT: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsNonStreaming)
RESPONSES: TypeAdapter[Any] = TypeAdapter(ResponseCreateParamsNonStreaming)


def tool_call(identity: str, name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def completion(*calls: dict[str, Any], content: str | None = None, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls) or None, **more}
    return {"choices": [{"message": message, "finish_reason": "tool_calls" if calls else "stop"}]}


def test_chat_answers_every_call_with_text_and_shows_the_screen_afterwards(server: ScriptedServer) -> None:
    calls = [
        tool_call("a", "click", {"x": 500, "y": 500}),
        tool_call("b", "key", {"keys": ["CTRL", "A"]}),
        tool_call("c", "screenshot", {"region": [0, 0, 500, 500]}),
    ]
    server.then(completion(*calls, content="Now.", reasoning_content="hm"))
    server.then(completion(tool_call("d", "answer", {"text": "42"})))
    agent = agent_of(server, "chat", "m", dialect="function_tools")
    turn = agent.act(seen())
    click, key, look = turn.actions
    assert (click, key) == (Action.click(Point(0.5, 0.5)), Action.key("ctrl", "a"))
    assert turn.response == "Now."
    zoomed = np.zeros((400, 640, 3), np.uint8)
    end = agent.act(
        seen(ActionResult(click), ActionResult(key, "no keyboard"), ActionResult(look, screen=zoomed))
    )
    assert end.actions == (Action(ActionKind.ANSWER, text="42"),)
    for asked in server.asked:
        CHAT.validate_python(asked["body"])
    tools = server.asked[0]["body"]["tools"]
    assert {"click", "answer", "infeasible"} <= {tool["function"]["name"] for tool in tools}
    system, _, back, *told, screen = server.asked[1]["body"]["messages"]
    assert "0 to 1000" in system["content"]
    assert (back["tool_calls"], back["content"], back["reasoning_content"]) == (calls, "Now.", "hm")
    assert [(one["role"], one["tool_call_id"]) for one in told] == [
        ("tool", "a"),
        ("tool", "b"),
        ("tool", "c"),
    ]
    assert [one["content"] for one in told] == [
        "OK",
        "Error: no keyboard",
        "Error: Not executed: an earlier computer action in this turn failed.",
    ]
    assert screen["role"] == "user"
    assert [part["type"] for part in screen["content"]] == ["text", "image_url", "image_url"]


def test_calls_that_can_not_be_read_are_told_and_go_back_readable(server: ScriptedServer) -> None:
    broken = tool_call("", "click", '{"x": 1, "y":')
    server.then(completion(broken, tool_call("b", "fly", {})))
    server.then(completion(content="It can't be done. [INFEASIBLE]"))
    agent = agent_of(server, "chat", "m", dialect="function_tools")
    turn = agent.act(seen())
    assert turn.actions == ()
    assert "JSON" in turn.error
    assert agent.act(seen(error=turn.error)).actions == (Action.fail("It can't be done."),)
    body = server.asked[1]["body"]
    CHAT.validate_python(body)
    back = body["messages"][2]
    assert [json.loads(one["function"]["arguments"]) for one in back["tool_calls"]] == [{}, {}]
    asked = [one["id"] for one in back["tool_calls"]]
    assert all(asked)
    assert [one["tool_call_id"] for one in body["messages"] if one["role"] == "tool"] == asked


def test_a_model_that_counts_pixels_sees_the_size_of_its_picture(server: ScriptedServer) -> None:
    server.then(completion(tool_call("a", "click", {"x": 640, "y": 400})))
    agent = agent_of(server, "chat", "m", dialect="function_tools", coordinates="pixels")
    (click,) = agent.act(seen()).actions
    assert click.point == Point.from_pixel(640, 400, SCREEN)
    assert "1280 wide and 800 high" in server.asked[0]["body"]["messages"][0]["content"]
    with pytest.raises(ConfigError, match="does not count"):
        agent_of(server, "chat", "m", dialect="qwen3_vl", coordinates="pixels")


def test_the_length_of_a_reply_has_two_names(server: ScriptedServer) -> None:
    why = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server.then({"error": {"message": why}}, 400).then(completion(tool_call("a", "wait", {})))
    agent_of(server, "chat", "m", dialect="function_tools", max_retries=0).act(seen())
    assert ["max_completion_tokens" in one["body"] for one in server.asked] == [False, True]


def response(*items: dict[str, Any]) -> dict[str, Any]:
    return {"id": "r1", "object": "response", "status": "completed", "output": list(items), "usage": {}}


def function_call(identity: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": name, "arguments": json.dumps(arguments)}


def test_responses_with_functions_need_no_picture(server: ScriptedServer) -> None:
    calls = [function_call("a", "click", x=640, y=400), function_call("b", "fly")]
    server.then(response(*calls)).then(response(function_call("c", "done")))
    agent = agent_of(server, "openai", "gpt-6-astra", observation="a11y_tree")
    turn = agent.act(seen())
    assert turn.actions == (Action.click(Point.from_pixel(640, 400, SCREEN)),)
    assert agent.act(seen(ActionResult(turn.actions[0]))).actions == (Action.done(),)
    first, second = (one["body"] for one in server.asked)
    RESPONSES.validate_python(first | {"model": "m"})
    RESPONSES.validate_python(second | {"model": "m"})
    assert all(tool["type"] == "function" and tool["strict"] is False for tool in first["tools"])
    assert "image" not in str(first) + str(second)
    assert "You are given the widgets" in first["instructions"]
    assert [one["call_id"] for one in second["input"]] == ["a", "b"]
    assert "unknown function" in second["input"][1]["output"][0]["text"]


def test_responses_with_functions_show_the_screen_after_the_last_call(server: ScriptedServer) -> None:
    calls = [function_call("a", "wait"), function_call("b", "wait")]
    server.then(response(*calls)).then(response(function_call("c", "done")))
    agent = agent_of(server, "openai", "gpt-6-astra", dialect="function_tools")
    turn = agent.act(seen())
    agent.act(seen(*(ActionResult(action) for action in turn.actions)))
    outputs = [one["output"] for one in server.asked[1]["body"]["input"]]
    assert [[part["type"] for part in one] for one in outputs] == [
        ["input_text"],
        ["input_text", "input_image"],
    ]


def test_the_computer_tool_needs_pictures(server: ScriptedServer) -> None:
    with pytest.raises(ConfigError, match="needs pictures"):
        agent_of(server, "openai", "gpt-6-astra", dialect="openai", observation="a11y_tree")
