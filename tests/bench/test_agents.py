"""The oracle behind every API: each dialect solves tasks in the oracle's own steps, on fake and on real desktops."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from operant.bench import agents
from operant.bench.agents import choose_dialects, choose_tasks, play_dialect, rehearse
from operant.desktop.pool import DesktopPool
from operant.errors import ConfigError
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.vendors import VendorServer
from operant.testing.vendors.lineup import LINEUP
from operant.types import Difficulty


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with VendorServer() as running:
        yield running


@pytest.fixture(scope="module")
def fake(server: VendorServer) -> Iterator[Any]:
    tasks = [replace(template.instance(0), max_steps=60) for template in FAKE_TEMPLATES]
    with DesktopPool(2, factory=FakeDesktop.factory) as pool:
        oracle = rehearse(pool, tasks, 2)

        def play(name: str, **more: Any) -> dict[str, Any]:
            return play_dialect(
                LINEUP[name], server, pool, tasks, oracle, **{"workers": 2, "faults": False, **more}
            )

        yield play


@pytest.mark.parametrize("name", LINEUP)
def test_every_dialect_solves_what_the_oracle_solves_in_its_steps(fake: Any, name: str) -> None:
    told = fake(name)
    assert (told["success"], told["failed"]) == (1.0, {})
    assert [one for one in told["declined"] if "max_completion_tokens" not in one] == []
    assert told["unexplained"] == {}
    assert told["differences"] or told["steps"] == told["oracle_steps"]
    assert told["turns"] <= told["steps"]
    assert told["client_overhead_ms"]["turns"] > 0
    assert told["bytes_per_turn"] > 100


@pytest.mark.parametrize("name", ["anthropic_toolset", "openai", "chat_json"])
def test_servers_that_fail_now_and_then_cost_no_success(
    fake: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "FAULT_SHARE", 0.5)
    monkeypatch.setattr(agents, "KINDS", ("rate_limit", "overloaded", "server_error", "garbage", "cut"))
    monkeypatch.setattr("operant.agents.hosted.requests.FIRST_PAUSE_S", 0.01)
    told = fake(name, faults=True)
    assert sum(told["faults"].values()) >= 3
    assert (told["success"], told["unexplained"], told["replayed"]) == (1.0, {}, 0)


def test_a_server_that_hangs_costs_a_try_and_not_the_episode(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "FAULT_SHARE", 0.15)
    monkeypatch.setattr(agents, "KINDS", ("stall",))
    monkeypatch.setattr(agents, "TIMEOUT_S", 3.0)
    told = fake("openai", faults=True)
    assert told["faults"]["stall"] == told["replayed"] > 0
    assert told["success"] == 1.0


def test_a_measurement_that_was_cut_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=60)
    monkeypatch.setattr(agents, "choose_tasks", lambda *_: [task])
    monkeypatch.setattr(agents, "DesktopPool", partial(DesktopPool, factory=FakeDesktop.factory))
    out = tmp_path / "agents.json"

    def measure(*dialects: str, **more: Any) -> dict[str, Any]:
        return agents.measure_agents(
            lambda text: None, dialects=dialects, workers=1, faults=False, out=out, **more
        )

    first = measure("openai", resume=True)  # there is nothing yet
    both = measure("openai", "chat_json", resume=True)
    assert json.loads(out.read_text()) == both
    assert both["dialects"]["openai"] == first["dialects"]["openai"]
    assert list(both["dialects"]) == ["openai", "chat_json"]
    assert both["success"] == 1.0
    with pytest.raises(ConfigError, match="another seed"):
        measure("openai", resume=True, seed=1)
    out.write_text("[]")
    with pytest.raises(ConfigError, match="holds no measurement"):
        measure("openai", resume=True)


@pytest.mark.x11
def test_real_desktops(server: VendorServer) -> None:
    """One task, through every dialect, on two desktops."""
    tasks = choose_tasks(1)[:1]
    with DesktopPool(2) as pool:
        oracle = rehearse(pool, tasks, 1)
        for name in LINEUP:
            tally, _ = agents._play(LINEUP[name], server, pool, tasks, oracle, workers=1, faults=False)
            (played,) = tally.ends
            assert played.result.success, f"{name}: {played.result.why}"
            assert played.result.steps == oracle[tasks[0].id].result.steps or tally.differences, name
            assert [one for one in tally.problems if "max_completion_tokens" not in one] == []


def test_the_choice_of_tasks_and_dialects() -> None:
    tasks = choose_tasks(10)
    assert [sum(task.difficulty is one for task in tasks) for one in Difficulty] == [10, 10, 10]
    assert {task.id.partition("/")[0] for task in tasks} == {"core", "launch"}
    assert len({task.id for task in tasks}) == 30
    named = ["core/files-rename-v1", "launch/new-folder-v1"]
    assert [task.id for task in choose_tasks(10, ids=named)] == named
    with pytest.raises(ConfigError, match="no task core/files-dream-v1"):
        choose_tasks(10, ids=["core/files-dream-v1"])
    assert [one.name for one in choose_dialects(["openai"])] == ["openai"]
    with pytest.raises(ConfigError, match="klingon"):
        choose_dialects(["klingon"])
