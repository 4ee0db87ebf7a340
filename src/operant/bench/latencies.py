"""What real desktops take, episode by episode: the tasks' oracles play, with reset and set-up, one after the other."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from operant.agents.oracle import OracleAgent
from operant.bench.recorded_latencies import Latencies
from operant.desktop.pool import DesktopPool
from operant.envs.task_environment import TaskEnvironment
from operant.envs.task_source import TaskSource
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter

__all__ = ["record_latencies"]


def record_latencies(
    progress: Callable[[str], None], episodes: int, *, suite: str = "core", seed: int = 0
) -> Latencies:
    """Of so many episodes of a suite's easy training tasks, as a run's actors would play them."""
    source, random = TaskSource.of(suite, "train", "EASY"), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory(prefix="operant-latencies-") as name, DesktopPool(1) as pool:
        for number in range(episodes):
            task = source.draw(random)
            progress(f"episode {number + 1} of {episodes}: {task.id}")
            writer = EpisodeWriter(Path(name) / str(number), {"agent": "oracle"})
            with pool.lease() as desktop:
                run_episode(OracleAgent(), TaskEnvironment(desktop), task, writer)
        return Latencies.of(Path(name))
