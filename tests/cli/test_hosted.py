"""Hosted agents under ``operant eval``: rate limits, overload and slow answers are the machine's, never the agent's."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from operant.testing.chat_server import ChatReply, ChatServer

NOW = {"retry-after": "0"}
DONE = '{"kind": "done"}'


@pytest.fixture
def evaluated(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The summary of an evaluation with a model that answers so."""

    def run(answer: Callable[[Mapping[str, Any]], str | ChatReply], *more: str) -> dict[str, Any]:
        with ChatServer(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            out, _ = fake("eval", "--agent", "chat:any", "--suite", "pretend", "--json", *more)
        return json.loads(out)  # type: ignore[no-any-return]

    return run


def test_rate_limits_are_waited_for_and_cost_the_agent_nothing(
    evaluated: Callable[..., dict[str, Any]],
) -> None:
    refused = iter(range(100))
    limit = ChatReply("slow down", status=429, headers=NOW)
    told = evaluated(lambda request: limit if next(refused) % 2 == 0 else DONE, "--num-workers", "1")
    assert told["ends"] == {"done": 4}
    assert told["overall"]["infra_errors"] == 0
    assert told["invalid_steps"] == 0
    assert told["overall"]["usage"]["requests"] == 8


def test_an_overload_that_does_not_pass_is_an_infra_error_and_the_others_go_on(
    evaluated: Callable[..., dict[str, Any]],
) -> None:
    def answer(request: Mapping[str, Any]) -> str | ChatReply:
        overloaded = "Compute" in request["messages"][1]["content"][0]["text"]
        return ChatReply("overloaded", status=503, headers=NOW) if overloaded else DONE

    told = evaluated(answer)
    assert told["outcomes"]["infra_error"] == told["by_task"]["fake/compute-v1"]["infra_errors"] == 1
    assert told["outcomes"]["failure"] == 3
    (broken,) = (one for one in told["failures"] if one["outcome"] == "infra_error")
    assert "HTTP 503: overloaded" in broken["why"]


def test_one_slow_request_holds_no_other_worker(evaluated: Callable[..., dict[str, Any]]) -> None:
    others = threading.Semaphore(0)
    first = threading.Lock()

    def answer(request: Mapping[str, Any]) -> str:
        """The first request is answered when three other episodes have been."""
        if first.acquire(blocking=False):
            for _ in range(3):
                assert others.acquire(timeout=50), "the others waited for the slow one"
        else:
            others.release()
        return DONE

    assert evaluated(answer, "--num-workers", "2")["ends"] == {"done": 4}


def test_every_end_has_its_own_reason(evaluated: Callable[..., dict[str, Any]]) -> None:
    replies = iter(
        [
            ChatReply('{"kind": "answer", "text": "42"}'),
            ChatReply('{"kind": "fail", "text": "no way"}'),
            ChatReply("", finish="content_filter"),
            ChatReply('{"kind": "cli', finish="length"),
            ChatReply("This model's maximum context length is 8192 tokens.", status=400),
        ]
    )
    told = evaluated(lambda request: next(replies), "--num-workers", "1", "--limit", "1", "--episodes", "5")
    assert told["ends"] == {"answer": 1, "fail": 1, "refusal": 1, "token_limit": 2}
    assert told["overall"]["infra_errors"] == 0
