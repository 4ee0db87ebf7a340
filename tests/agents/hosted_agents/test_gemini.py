"""Gemini's adapter against a scripted server, and what it sends against the SDK's own request types."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from google.genai import types

from operant.agents.hosted import make
from operant.agents.hosted.gemini import MOST_REPEATS, PRUNE_EVERY, function_set
from operant.config.hosted import HostedSettings
from operant.errors import ConfigError, ModelServerError
from operant.types import Action, ActionKind, ActionResult, Observation, Point

from .scripted_server import ScriptedServer, agent_of, seen

MODEL = "gemini-3.5-flash"


def reply(*parts: dict[str, Any], finish: str = "STOP") -> dict[str, Any]:
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 20,
        "toolUsePromptTokenCount": 5,
    }
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": finish}], "usageMetadata": usage}


def call(name: str, signature: str = "", **args: Any) -> dict[str, Any]:
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": args}, **signed}


def check(body: dict[str, Any]) -> None:
    """What was sent is a request by the SDK's own types, and every call has its response."""
    for content in body["contents"]:
        if content["role"] == "user":
            types.Content.model_validate(content)
    types.Tool.model_validate(body["tools"][0])
    types.GenerationConfig.model_validate(body["generationConfig"])
    contents = body["contents"]
    for before, after in pairwise(contents):
        called = [part["functionCall"]["name"] for part in before["parts"] if "functionCall" in part]
        told = [part["functionResponse"]["name"] for part in after["parts"] if "functionResponse" in part]
        assert before["role"] != after["role"]
        if before["role"] == "model":
            assert told == called


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gemini-3.5-flash", "gemini"),
        ("gemini-3.8-flash", "gemini"),
        ("gemini-4-pro", "gemini"),
        ("my-tuned-model", "gemini"),
        ("gemini-3-flash-preview", "gemini_browser"),
        ("gemini-2.5-computer-use-preview-10-2025", "gemini_browser"),
    ],
)
def test_the_set_of_functions_goes_by_the_model(model: str, name: str) -> None:
    assert function_set(model) == name


def test_every_call_gets_its_response_and_signatures_go_back_unchanged(server: ScriptedServer) -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": "c2ln", "somethingNew": [1, {"a": None}]}
    calls = [
        call("click", "c2lnMQ==", x=500, y=250, intent="Open"),
        call("type", text="x", press_enter=True),
        call("hotkey", keys=["Control", "A"]),
    ]
    server.then(reply(thought, {"text": "Now."}, *calls)).then(reply({"text": "Well.\nANSWER: 42"}))
    agent = agent_of(server, "gemini", MODEL, prices={"input": 1, "cached": 0.5, "output": 2})
    turn = agent.act(seen())
    assert turn.actions == (Action.click(Point(0.5, 0.25)), Action.type("x\n"), Action.key("ctrl", "a"))
    assert turn.response == "Now."
    usage = turn.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (105, 40, 27)
    results = [ActionResult(turn.actions[0]), ActionResult(turn.actions[1], "the keyboard is gone")]
    results.append(ActionResult(turn.actions[2], "skipped", skipped=True))
    assert agent.act(seen(*results)).actions == (Action(ActionKind.ANSWER, text="42"),)
    first, second = (one["body"] for one in server.asked)
    check(first)
    check(second)
    assert first["tools"] == [{"computerUse": {"environment": "ENVIRONMENT_DESKTOP"}}]
    assert second["contents"][1] == {"role": "model", "parts": [thought, {"text": "Now."}, *calls]}
    told = [part["functionResponse"] for part in second["contents"][2]["parts"]]
    assert told[0]["response"] == {"output": "done"}
    assert told[1]["response"] == {"error": "the keyboard is gone"}
    assert "earlier computer action" in told[2]["response"]["error"]
    assert ["parts" in one for one in told] == [False, False, True]
    assert server.asked[0]["path"] == f"/v1beta/models/{MODEL}:generateContent"
    assert server.asked[0]["headers"]["x-goog-api-key"]


def test_the_older_set_is_for_browsers(server: ScriptedServer) -> None:
    server.then(reply(call("type_text_at", x=100, y=200, text="Hi"))).then(
        reply({"text": "[INFEASIBLE] No."})
    )
    agent = agent_of(server, "gemini", "gemini-2.5-computer-use-preview-10-2025")
    turn = agent.act(seen())
    assert [action.kind for action in turn.actions] == [
        ActionKind.CLICK,
        ActionKind.KEY,
        ActionKind.KEY,
        ActionKind.TYPE,
    ]
    end = agent.act(seen(*(ActionResult(action) for action in turn.actions)))
    assert end.actions == (Action.fail("No."),)
    body = server.asked[1]["body"]
    check(body)
    assert body["tools"][0]["computerUse"] == {
        "environment": "ENVIRONMENT_BROWSER",
        "excludedPredefinedFunctions": ["open_web_browser", "search"],
    }
    (told,) = body["contents"][2]["parts"]
    assert "url" in told["functionResponse"]["response"]


RISKY = {"decision": "require_confirmation", "explanation": "It sends a message."}


def test_safety_decisions_are_told_and_acknowledged_where_the_loop_goes_on(server: ScriptedServer) -> None:
    calls = [call("click", x=1, y=2, safety_decision=RISKY), call("press_key", key="Enter")]
    server.then(reply(*calls)).then(reply({"text": "Done."}))
    agent = agent_of(server, "gemini", MODEL)
    turn = agent.act(seen())
    assert len(turn.actions) == 2
    assert turn.checks == ("It sends a message.",)
    agent.act(seen(*(ActionResult(action) for action in turn.actions)))
    told = [part["functionResponse"]["response"] for part in server.asked[1]["body"]["contents"][2]["parts"]]
    assert [one.get("safety_acknowledgement") for one in told] == ["true", None]


@pytest.mark.parametrize(
    ("said", "end"),
    [
        (reply({"text": "I"}, finish="MAX_TOKENS"), "token_limit"),
        (reply({"text": "I"}, finish="SAFETY"), "refusal"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refusal"),
    ],
)
def test_ends_of_their_own(server: ScriptedServer, said: dict[str, Any], end: str) -> None:
    server.then(said)
    turn = agent_of(server, "gemini", MODEL).act(seen())
    assert (turn.actions, turn.end) == ((), end)


def test_a_garbled_call_is_asked_for_again_and_then_told(server: ScriptedServer) -> None:
    garbled = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}], "usageMetadata": {}}
    server.then(garbled).then(reply(call("wait")))
    agent = agent_of(server, "gemini", MODEL, max_retries=0)
    turn = agent.act(seen())
    assert turn.actions == (Action.wait(1.0),)
    assert turn.usage is not None
    assert turn.usage.requests == 2
    for _ in range(MOST_REPEATS + 1):
        server.then(garbled)
    turn = agent.act(seen(ActionResult(Action.wait(1.0))))
    assert turn.actions == ()
    assert turn.error
    server.then(reply(call("fly", x=1))).then(reply(call("wait")))
    assert "fly" in agent.act(seen(error=turn.error)).error
    agent.act(seen(error="unknown function"))
    check(server.asked[-1]["body"])
    (told,) = server.asked[-1]["body"]["contents"][-1]["parts"]
    assert "fly" in told["functionResponse"]["name"]
    assert "error" in told["functionResponse"]["response"]


def test_a_long_episode_keeps_the_last_pictures_and_removes_them_in_batches(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operant.agents.hosted.gemini.MOST_BYTES", most := 130_000)
    agent = agent_of(server, "gemini", MODEL, history=2)
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)  # nothing compresses it
    results: tuple[ActionResult, ...] = ()
    kept = []
    for number in range(150):
        server.then(reply(call("take_screenshot" if number % 5 else "wait")))
        look = Observation(noise, "Do it.", number, 150, Point(0.5, 0.5), results=results)
        turn = agent.act(look)
        results = tuple(ActionResult(action, screen=noise) for action in turn.actions)
        body = server.asked.pop()["body"]
        text = str(body)
        kept.append(text.count("inlineData"))
        assert text.count("inlineData") * 12_000 < most
        assert "image/png" in str(body["contents"][-1])
        assert body["contents"][0]["parts"][0] == {"text": "Do it."}
    check(body)
    assert max(kept) <= 2 + PRUNE_EVERY
    assert sum(a > b for a, b in pairwise(kept)) <= 150 / 5


def test_rate_limits_name_their_pause_in_the_error(server: ScriptedServer) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"}
    busy = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [info]}}
    server.then(busy, 429).then({"error": {"code": 503, "message": "overloaded"}}, 503, retry_after="0")
    server.then(reply(call("wait")))
    started = time.monotonic()
    turn = agent_of(server, "gemini", MODEL).act(seen())
    assert turn.usage is not None
    assert turn.usage.requests == 3
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("status", "message"),
    [(413, "too large"), (400, "Request payload size exceeds the limit: 20971520 bytes.")],
)
def test_a_request_that_is_too_large_is_sent_again_with_fewer_pictures(
    server: ScriptedServer, status: int, message: str
) -> None:
    agent = agent_of(server, "gemini", MODEL, max_retries=0)
    server.then(reply(call("wait")))
    agent.act(seen())
    server.then({"error": {"code": status, "message": message}}, status).then(reply(call("wait")))
    agent.act(seen(ActionResult(Action.wait(1.0))))
    assert [str(one["body"]).count("inlineData") for one in server.asked] == [1, 2, 1]


def test_an_endless_reply_ends(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operant.agents.hosted.requests.MOST_BYTES", 1000)
    server.then(reply({"text": "x" * 2000}))
    with pytest.raises(ModelServerError, match="longer than"):
        agent_of(server, "gemini", MODEL, max_retries=0).act(seen())


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "gemini-2.5-computer-use-preview-10-2025", "effort": "low"},
        {"model": MODEL, "effort": "max"},
        {"model": MODEL, "dialect": "json"},
    ],
)
def test_settings_that_can_not_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        make(HostedSettings.build(vendor="gemini", **wrong))


def test_settings_are_sent(server: ScriptedServer) -> None:
    server.then(reply(call("wait")))
    agent_of(server, "gemini", MODEL, effort="low", temperature=0.5, max_tokens=99).act(seen())
    assert server.asked[0]["body"]["generationConfig"] == {
        "maxOutputTokens": 99,
        "temperature": 0.5,
        "thinkingConfig": {"thinkingLevel": "LOW"},
    }
