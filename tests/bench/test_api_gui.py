"""The comparison of oracles: what is counted, on a few real tasks."""

from __future__ import annotations

import pytest

from operant.bench.agents import choose_tasks
from operant.bench.api_gui import GOALS, measure_api_gui

pytestmark = pytest.mark.x11


def test_a_few_tasks_are_played_in_each_mode() -> None:
    found = measure_api_gui(lambda _: None, suite="core", only="files-re")
    assert set(GOALS) <= set(found)
    assert (found["success_gui"], found["success_api"], found["success_both"]) == (1.0, 1.0, 1.0)
    assert "core/files-report-size-v1" in found["not_by_calls"]
    steps = found["steps"]["core/files-rename-v1"]
    assert steps["api"] == steps["both"] < steps["gui"]
    about = found["applications"]["pcmanfm"]
    assert 0 < about["helped"] <= about["by_calls"] < about["tasks"]
    assert found["tool_invocation_rate"] == 1.0


def test_hosted_agents_by_calls_alone_get_tasks_that_calls_can_do() -> None:
    tasks = choose_tasks(5, "core", actions="api")
    assert len(tasks) == 15
    assert all(task.api_oracle is not None for task in tasks)
