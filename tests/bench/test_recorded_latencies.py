"""Latencies: recorded from episodes, kept, and drawn as whole episodes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from operant.agents.fixed import NoopAgent
from operant.bench.recorded_latencies import EpisodeLatency, Latencies
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ResultsError
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.fake_desktop import Delays


def test_what_desktops_took_is_found_in_their_episodes(tmp_path: Path) -> None:
    desktop = FakeDesktop(delays=Delays(reset_s=0.02, launch_s=0.02, step_s=0.01))
    environment = TaskEnvironment(desktop)  # type: ignore[arg-type]
    task = FAKE_TEMPLATES[0].instance(0)
    for number in range(2):
        writer = EpisodeWriter(tmp_path / "results" / str(number), {"agent": "noop"})
        run_episode(NoopAgent(), environment, task, writer)
    found = Latencies.of(tmp_path / "results")
    assert len(found.episodes) == 2
    assert found.mean_steps == task.max_steps
    assert all(one.begin >= 0.02 for one in found.episodes)
    path = tmp_path / "latencies.json"
    path.write_text(json.dumps(found.plain({"commit": "x"})))
    back = Latencies.load(path)
    assert back.mean_s == pytest.approx(found.mean_s, abs=0.01)
    assert back.draw(random.Random(0)) in back.episodes


def test_files_without_latencies_are_told(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no episode below"):
        Latencies.of(tmp_path)
    with pytest.raises(ResultsError, match="holds no latencies"):
        Latencies.load(tmp_path / "none.json")
    (tmp_path / "empty.json").write_text('{"episodes": []}')
    with pytest.raises(ResultsError, match="holds no latencies"):
        Latencies.load(tmp_path / "empty.json")
    assert EpisodeLatency(1.0, (0.5, 0.5)).total == 2.0
