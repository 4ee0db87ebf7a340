"""What the measurement of experience says, on a few episodes of the fake desktop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.rollout.demonstrating import demonstrate
from typer.testing import CliRunner

from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.bench.experience import measure_experience
from operant.cli.bench import app
from operant.errors import ResultsError
from operant.rollout.demonstrations import DaggerAgent


def test_experience_is_measured_from_the_command_line(tmp_path: Path) -> None:
    for seed in range(2):
        demonstrate(tmp_path, DaggerAgent(HierarchicalLabeler()), seed)
    said = CliRunner().invoke(app, ["experience", "--demos", str(tmp_path), "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert (found["episodes"], found["steps"], found["lessons"]) == (2, 6, 6)
    assert 0 < found["bytes_per_step"] <= 60_000
    assert sum(found["bytes_per_step_by_file"].values()) <= found["bytes_per_step"]
    assert all(found[name] > 0 for name in ("cold_load_s", "warm_load_s", "npz_load_s", "frame_ms"))


def test_nothing_to_measure_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no demonstrations"):
        measure_experience(lambda text: None, [tmp_path])
