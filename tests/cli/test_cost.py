"""What paid agents cost, as a user of ``operant eval`` meets it: prices, budgets, resumed runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from operant.testing.chat_server import ChatServer

PRICES = "my-model: {input: 10, cached: 1, output: 100}\n"
TURN = (60 * 10 + 40 * 1 + 10 * 100) / 1e6  # what an answer of the server costs


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A model that gives up in its second turn."""

    def answer(request: Any) -> str:
        second = any(one["role"] == "assistant" for one in request["messages"])
        return '{"kind": "fail"}' if second else '{"kind": "wait", "duration": 0.01}'

    with ChatServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


def evaluation(*more: str | Path) -> list[str | Path]:
    return ["eval", "--agent", "chat:my-model", "--suite", "pretend", "--num-workers", "1", "--json", *more]


def test_a_budget_in_dollars_stops_cleanly_and_the_same_command_goes_on(
    fake: Any, server: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    bounded = evaluation("--prices", "prices.yaml", "--max-cost", str(3 * TURN))
    out, err = fake(*bounded, code=130)
    assert "stopped: $" in err
    assert "2 of 4 episodes are done" in err
    used = json.loads(out)["overall"]["usage"]
    assert used["cost"] == pytest.approx(4 * TURN)
    assert (used["input_tokens"], used["cached_tokens"], used["output_tokens"]) == (400, 160, 40)
    out, err = fake(*bounded)
    summary = json.loads(out)
    assert "2 of 4 episodes are there already" in err
    assert summary["outcomes"]["missing"] == 0
    assert summary["overall"]["usage"]["cost"] == pytest.approx(8 * TURN)
    assert len(server.asked) == 8, "no episode was played twice"


def test_a_budget_in_dollars_without_a_price_is_an_error_before_anything_starts(
    fake: Any, server: ChatServer, tmp_path: Path
) -> None:
    _, err = fake(*evaluation("--max-cost", "1"), code=2)
    assert "--max-cost can't be kept: the price of chat:my-model is unknown" in err
    assert "--prices FILE" in err
    assert "--max-tokens" in err
    assert not server.asked
    assert not (tmp_path / "results").exists()


def test_without_a_price_the_cost_is_unknown_and_tokens_bound_the_run(fake: Any, server: ChatServer) -> None:
    out, err = fake(*evaluation("--max-tokens", "200"), code=130)
    assert "220 tokens are used, of 200" in err
    assert json.loads(out)["overall"]["usage"]["cost"] is None
    out, _ = fake("results", "show", "results")
    assert "cost unknown" in out


def test_prices_may_stand_in_the_file_of_settings(fake: Any, server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    (tmp_path / "eval.yaml").write_text("suite: pretend\nprices: prices.yaml\n")
    out, _ = fake(
        "eval",
        "--agent",
        "chat:my-model",
        "--config",
        "eval.yaml",
        "--limit",
        "1",
        "--json",
        "--max-cost",
        "9",
    )
    assert json.loads(out)["overall"]["usage"]["cost"] == pytest.approx(2 * TURN)


def test_a_table_with_a_mistake_is_told_before_anything_starts(
    fake: Any, server: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "prices.yaml").write_text("my-model: {input: 1}\n")
    _, err = fake(*evaluation("--prices", "prices.yaml"), code=2)
    assert "prices.yaml: my-model: cached" in err
    assert not server.asked
