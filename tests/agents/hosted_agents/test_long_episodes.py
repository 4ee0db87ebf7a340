"""Episodes of 150 turns against strict servers: they refuse what is too much, too large, changed or unanswered."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from operant.agents.base import TaskView
from operant.agents.hosted import make
from operant.testing.vendors import ScriptedMind, VendorServer
from operant.testing.vendors.lineup import KEY, LINEUP, PlayedDialect
from operant.testing.vendors.protocol import ApiRequest
from operant.types import Action, ActionResult, Observation, Point, Size

SCREEN = Size(1280, 800)
TURNS = 150


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with VendorServer() as running:
        yield running


def play_long(server: VendorServer, played: PlayedDialect, noisy: bool, most_bytes: int = 0) -> list[Any]:
    """The bodies of all requests; every one was taken by the server."""
    protocol = played.serve(ScriptedMind([Action.wait(1.0)] * TURNS))
    if most_bytes:
        protocol.most_bytes = most_bytes  # type: ignore[misc]
    bodies: list[Any] = []
    answer = protocol.answer

    def kept(request: ApiRequest) -> dict[str, Any]:
        bodies.append(request.body)
        return answer(request)

    protocol.answer = kept  # type: ignore[method-assign]
    conversation = server.open(protocol)
    agent = make(played.hosted_settings(conversation.base_url, max_retries=0), key=KEY)
    agent.begin(TaskView("Wait.", 2 * TURNS, SCREEN))
    rng = np.random.default_rng(0)
    screen = np.zeros((SCREEN.height, SCREEN.width, 3), np.uint8)
    results: tuple[ActionResult, ...] = ()
    for number in range(TURNS):
        if noisy:
            screen = rng.integers(0, 256, (48, 64, 3), np.uint8)  # nothing compresses it
        turn = agent.act(Observation(screen, "Wait.", number, 2 * TURNS, Point(0.5, 0.5), results=results))
        assert turn.actions, turn.error
        results = tuple(ActionResult(action, screen=screen) for action in turn.actions)
    agent.close()
    server.shut(conversation)
    # The newer name for the length of a reply is found out by asking.
    assert [one.message for one in conversation.problems if "max_completion_tokens" not in one.message] == []
    return bodies


@pytest.mark.parametrize("name", ["openai", "gemini", "gemini_browser", "chat_function_tools", "chat_json"])
def test_a_long_episode_stays_within_the_limits(server: VendorServer, name: str) -> None:
    bodies = play_long(server, LINEUP[name], noisy=False)
    counts = [str(body).count("image/png") for body in bodies]
    assert 1 <= max(counts) <= 3 + 10
    assert min(counts[5:]) >= 1


def anthropic(model: str) -> PlayedDialect:
    found = LINEUP["anthropic_toolset"]
    return PlayedDialect(found.name, found.vendor, model, found.protocol)


@pytest.mark.parametrize(
    "model", ["claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"]
)
def test_anthropics_pictures_are_removed_in_batches_and_thinking_stays(
    server: VendorServer, model: str
) -> None:
    bodies = play_long(server, anthropic(model), noisy=False)
    counts = [str(body["messages"]).count("'type': 'image'") for body in bodies]
    removals = [before for before, after in itertools.pairwise(counts) if after < before]
    if model == "claude-opus-5-5":  # thinking is signed over what comes before it: only where it has to be
        assert max(counts) == 90
        assert len(removals) == 1
    else:
        assert max(counts) < 3 + 25
        assert 4 <= len(removals) <= 7
    last = bodies[-1]
    thoughts = [block for one in last["messages"] for block in one["content"] if block["type"] == "thinking"]
    assert len(thoughts) == len(bodies) - 1
    marked = [one for one in last["messages"] if "cache_control" in str(one)]
    assert [one["role"] for one in marked] == ["user"] * 3
    assert marked[-1] == last["messages"][-1]
    assert "cache_control" in str(last["system"])


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-4-6"])
def test_a_request_of_anthropics_never_grows_beyond_its_bytes(
    server: VendorServer, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scale model: pictures, the client's limit and the server's are a fortieth of real ones."""
    monkeypatch.setattr("operant.agents.hosted.anthropic.MOST_BYTES", 300_000)
    play_long(server, anthropic(model), noisy=True, most_bytes=800_000)


def test_a_request_of_geminis_never_grows_beyond_its_bytes(
    server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operant.agents.hosted.gemini.MOST_BYTES", 100_000)
    play_long(server, LINEUP["gemini"], noisy=True, most_bytes=200_000)


def test_a_model_that_refuses_the_tool_by_name_gets_the_next_older_one(server: VendorServer) -> None:
    """claude-sonnet-5 on a cloud that knows no toolset yet."""
    found = anthropic("claude-sonnet-5")
    protocol = found.serve(ScriptedMind([Action.wait(1.0)]))
    asked: list[str] = []
    answer = protocol.answer

    def older(request: ApiRequest) -> dict[str, Any]:
        asked.append(request.body["tools"][0]["type"])
        if asked[-1] == "computer_toolset_20260801":
            from operant.testing.vendors.problem import invalid

            raise invalid(
                "tools.0: Input tag 'computer_toolset_20260801' does not match any of the expected tags"
            )
        return answer(request)

    protocol.answer = older  # type: ignore[method-assign]
    conversation = server.open(protocol)
    agent = make(found.hosted_settings(conversation.base_url, max_retries=0), key=KEY)
    agent.begin(TaskView("Wait.", 10, SCREEN))
    screen = np.zeros((SCREEN.height, SCREEN.width, 3), np.uint8)
    turn = agent.act(Observation(screen, "Wait.", 0, 10, Point(0.5, 0.5)))
    assert turn.actions == (Action.wait(1.0),)
    assert asked == ["computer_toolset_20260801", "computer_20251124"]
    agent.close()
